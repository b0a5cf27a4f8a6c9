"""A test that claims nothing proves nothing."""

import ast
from collections.abc import Iterator

from tests.architecture.source import dotted, modules, tree

# Calls that claim something: pytest's own, and those of the kit that fail by themselves.
CLAIMS = {"pytest.raises", "pytest.warns", "pytest.fail", "jsonschema.validate"}
CLAIMING_METHODS = {"ok", "ended", "says", "shows", "until"}
CLAIMING_PREFIXES = ("assert_", "_assert_", "expect_", "_expect_")


def _tests(module: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            yield node


def _claims_something(test: ast.AST) -> bool:
    for node in ast.walk(test):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            last = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
            if dotted(node.func) in CLAIMS or last in CLAIMING_METHODS or last.startswith(CLAIMING_PREFIXES):
                return True
    return False


def test_every_test_claims_something() -> None:
    empty = [
        f"{file}:{test.lineno} {test.name}"
        for file in modules("tests")
        for test in _tests(tree(file))
        if not _claims_something(test)
    ]
    assert not empty, "\n".join(empty)


def test_a_test_without_a_claim_is_seen() -> None:
    (test,) = _tests(ast.parse("def test_nothing():\n    repo.lock('list')\n"))
    assert not _claims_something(test)
