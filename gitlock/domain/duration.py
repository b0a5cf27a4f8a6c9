"""Durations as people write them: ``90s``, ``20m``, ``2h``, ``1d``."""

from gitlock.errors import UsageError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_duration(text: str, *, limit: float | None = None, what: str = "duration") -> float:
    """Seconds, more than zero and at most ``limit``; else ``UsageError``."""
    number, unit = text[:-1], text[-1:]
    if unit.isdigit():
        raise UsageError(f"'{text}' is no {what}: it needs a unit, as in 90s, 20m, 2h or 1d", id="bad-ttl")
    whole, dot, part = number.partition(".")
    plain = whole.isascii() and whole.isdigit() and (not dot or (part.isascii() and part.isdigit()))
    if unit not in _UNITS or not plain or len(number) > 12:
        raise UsageError(f"'{text}' is no {what}: say for instance 90s, 20m, 2h or 1d", id="bad-ttl")
    seconds = float(number) * _UNITS[unit]
    if seconds <= 0:
        raise UsageError(f"the {what} '{text}' must be more than zero", id="bad-ttl")
    if limit is not None and seconds > limit:
        raise UsageError(f"the {what} '{text}' is longer than {show_duration(limit)}", id="bad-ttl")
    return seconds


def show_duration(seconds: float) -> str:
    """The two largest units that matter: ``57m``, ``1h 3m``, ``2d 4h``, ``8s``; less than a second is ``0s``."""
    left = max(0, round(seconds))
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
        if len(parts) == 2 or (parts and unit == "m"):
            break
    return " ".join(parts) or "0s"
