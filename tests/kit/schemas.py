"""The JSON Schemas of the package, and whether an answer is as they say."""

import functools
import json
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.kit.program import ROOT

FOLDER = ROOT / "gitlock" / "schemas"


@functools.cache
def schema(name: str) -> Any:
    """One schema file."""
    return json.loads((FOLDER / f"{name}.json").read_bytes())


def names() -> list[str]:
    """Every schema that there is."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


@functools.cache
def _registry() -> Registry[Any]:
    found = ((path.name, Resource.from_contents(json.loads(path.read_bytes()))) for path in FOLDER.glob("*.json"))
    registry: Registry[Any] = Registry()
    return registry.with_resources(found)


def faults(name: str, answer: object) -> list[str]:
    """What is wrong with an answer, by its place in it; empty where it is as the schema says."""
    validator = Draft202012Validator(schema(name), registry=_registry())
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(answer)]


def assert_fits(name: str, answer: object) -> None:
    """Fails with every fault of an answer."""
    found = faults(name, answer)
    assert not found, "\n".join([*found, json.dumps(answer, indent=1)])
