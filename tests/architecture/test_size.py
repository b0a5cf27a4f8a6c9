"""A file that grows past its room hides a noun that has no module yet."""

import statistics

from tests.architecture.source import ROOT, modules

MOST = 16 * 1024  # bytes: about 400 lines, what one reads in one go
USUAL = 6 * 1024  # bytes, the median


def _sizes() -> dict[str, int]:
    return {name: (ROOT / name).stat().st_size for name in modules("gitlock")}


def test_no_module_is_too_long_to_read() -> None:
    too_long = {name: size for name, size in _sizes().items() if size > MOST}
    assert not too_long, f"over {MOST} bytes: {too_long}"


def test_modules_are_small_as_a_rule() -> None:
    assert statistics.median(_sizes().values()) <= USUAL
