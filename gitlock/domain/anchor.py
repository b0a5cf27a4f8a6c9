"""Anchors: what patterns are found by, without being read. Which one a pattern has, ``gitlock.domain.pattern`` says."""


def anchor_candidates(path: str) -> tuple[str, ...]:
    """Every anchor that a pattern which covers this path can have, under any folding.

    The anchor of a literal pattern is its path, that of any other the literal folders that it begins with, ending in a
    slash ("" if there are none). Both are ASCII in lower case; a segment that is not ASCII ends the anchor, since
    folding may change it. ``src/a.py`` gives "", "src", "src/" and "src/a.py", never "src/a.py/": what has that anchor
    covers only what is below.
    """
    path = path.lower()
    if not path.isascii():  # two characters whose NFC is ASCII; a third, the Kelvin sign, was lowered to k
        path = path.replace("\u037e", ";").replace("\u1fef", "`")
    found = [""]
    end = path.find("/")
    while end >= 0:
        found += (path[:end], path[: end + 1])
        end = path.find("/", end + 1)
    found.append(path)
    return tuple(found)


def anchors_may_meet(a: str, b: str) -> bool:
    """Whether patterns with these anchors could cover one path. False is certain, True is not."""
    a = a if a[-1:] in ("/", "") else a + "/"
    b = b if b[-1:] in ("/", "") else b + "/"
    return a.startswith(b) or b.startswith(a)
