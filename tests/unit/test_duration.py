"""Durations as people write and read them."""

import pytest

from gitlock.domain.duration import parse_duration, show_duration
from gitlock.domain.lease import TTL_LIMIT
from gitlock.errors import UsageError

GOOD = {
    "90s": 90, "20m": 1200, "2h": 7200, "1d": 86400, "0.5h": 1800, "1.5m": 90, "007s": 7, "7d": TTL_LIMIT,
    "168h": TTL_LIMIT,
}  # fmt: skip
BAD = [
    "", "s", "m", "90", "0s", "0.0h", "-1h", "+1h", "1w", "1H", "1h30m", "1 h", " 1h", "1h ", "1.h", ".5h", "1..5h",
    "1e3s", "nan", "infh", "inf", "0x10s", "1_000s", "\u0661h", "²m", "1,5h", "9999999999999s", "hour",
    "\x00s", "\udcff",
]  # fmt: skip
SHOWN = {
    0: "0s", 0.4: "0s", -5: "0s", 8: "8s", 59.6: "1m", 60: "1m", 61: "1m", 3420: "57m", 3600: "1h", 3780: "1h 3m",
    3601: "1h", 86400: "1d", 187200: "2d 4h", 86460: "1d 1m", TTL_LIMIT: "7d",
}  # fmt: skip


@pytest.mark.parametrize("text", GOOD)
def test_a_duration_is_a_number_and_a_unit(text: str) -> None:
    assert parse_duration(text, limit=TTL_LIMIT) == GOOD[text]


@pytest.mark.parametrize("text", BAD, ids=repr)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_duration(text)
    assert refused.value.id == "bad-ttl"


@pytest.mark.parametrize("text", ["7.0001d", "8d", "604801s", "169h"])
def test_no_lease_lasts_longer_than_a_week(text: str) -> None:
    with pytest.raises(UsageError, match="longer than 7d"):
        parse_duration(text, limit=TTL_LIMIT)


def test_a_number_without_a_unit_is_told_what_is_missing() -> None:
    with pytest.raises(UsageError, match="needs a unit"):
        parse_duration("90")


@pytest.mark.parametrize("seconds", SHOWN)
def test_a_duration_is_shown_by_what_matters(seconds: float) -> None:
    assert show_duration(seconds) == SHOWN[seconds]
