"""The project's own files, as the architecture tests read them."""

import ast
import functools
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def modules(*folders: str) -> list[str]:
    """Every Python file below these folders, from the top of the project."""
    return sorted(
        str(path.relative_to(ROOT))
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if "__pycache__" not in path.parts
    )


@functools.cache
def tree(name: str) -> ast.Module:
    """The syntax tree of one file."""
    return ast.parse((ROOT / name).read_bytes(), name)


def project_files() -> list[str]:
    """Every file that git tracks or would: what a commit of everything holds."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=True,
    )
    names = sorted(set(listed.stdout.decode().split("\0")) - {""})
    return [name for name in names if (ROOT / name).is_file()]


def dotted(node: ast.AST) -> str:
    """``a.b.c`` for a chain of names, else an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        left = dotted(node.value)
        return f"{left}.{node.attr}" if left else ""
    return ""


def names_used(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Each outside thing that a module names, by its full dotted name whatever it was imported as, with its line.

    ``import os`` and ``os.environ`` give ``os.environ``; so does ``from os import environ``.
    """
    aliases: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
                if alias.asname:
                    aliases[alias.asname] = alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                aliases[alias.asname or alias.name] = full
                yield full, node.lineno
    for node in ast.walk(module):
        if isinstance(node, (ast.Attribute, ast.Name)):
            name = dotted(node)
            first, _, rest = name.partition(".")
            if name:
                full = aliases.get(first, first)
                yield f"{full}.{rest}" if rest else full, node.lineno
