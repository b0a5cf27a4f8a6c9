"""The repository that something happens to."""

from pathlib import Path

import pytest

from tests.kit.hostile import World, make_ready


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It as it begins, made once."""
    return make_ready(tmp_path_factory.mktemp("ready"))


@pytest.fixture
def world(tmp_path: Path, ready: Path) -> World:
    """A copy of it for one test."""
    return World.new(tmp_path, ready)
