"""Which of some footprints cover a path: asked one by one where they are few, made ready where they are many."""

from __future__ import annotations

from gitlock.domain.pattern import PLAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from gitlock.domain.footprint import Footprint
    from gitlock.domain.pattern import Fold

    T = TypeVar("T")

FEW = 64  # footprints times paths that are sooner asked one by one than made ready for many paths


def covering(footprints: list[tuple[T, Footprint]], paths: int, fold: Fold = PLAIN) -> Callable[[str], list[T]]:
    """What tells which of the footprints cover a path, by their tags and in their order; for about so many paths."""
    if len(footprints) * paths <= FEW:
        return lambda path: [tag for tag, footprint in footprints if footprint.covers(path, fold)]
    from gitlock.domain.coverage import Coverage

    return Coverage(footprints, fold).tags_covering
