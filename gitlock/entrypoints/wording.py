"""Outcomes and decisions as sentences. Pure: values in, text out; every text from outside is shown escaped.

A message begins small and has no full stop; it says what, whose, since when and until when, and one next command.
"""

import time

from gitlock.domain.conflict import Conflict
from gitlock.domain.decision import HELD, OVERTAKEN, Finding
from gitlock.domain.duration import show_duration
from gitlock.domain.instant import Instant
from gitlock.domain.lease import INTENT, SHARED, Ended, Lease
from gitlock.domain.standing import ORPHANED

REASON_LIMIT = 200  # characters of somebody's reason that a line shows

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")


def visible(text: str, limit: int | None = None) -> str:
    """``text`` with everything that could move a cursor, hide or reverse text, or is no character at all, escaped.

    Bytes that are not UTF-8 are shown as ``\\xNN``; what is cut off is marked.
    """
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    if text.isprintable():
        return text
    out = []
    for char in text:
        code = ord(char)
        if char.isprintable():
            out.append(char)
        elif 0xDC80 <= code <= 0xDCFF:
            out.append(f"\\x{code - 0xDC00:02x}")
        elif char in "\n\t\r":
            out.append({"\n": "\\n", "\t": "\\t", "\r": "\\r"}[char])
        elif code < 0x100:
            out.append(f"\\x{code:02x}")
        else:
            out.append(f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return "".join(out)


def word(text: str) -> str:
    """``text`` as one word of a command line that can be copied into a shell."""
    if text and _PLAIN.issuperset(text):
        return text
    if text.isprintable():
        return "'" + text.replace("'", "'\\''") + "'"
    out = []
    for char in text:
        if char in "\\'":
            out.append("\\" + char)
        elif char.isprintable():
            out.append(char)
        else:
            out += [f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape")]
    return "$'" + "".join(out) + "'"


def clock(wall: float, now: float) -> str:
    """A time of day as people here read it, with the date where it is another day."""
    there, today = time.localtime(wall), time.localtime(now)
    return time.strftime("%H:%M" if there[:3] == today[:3] else "%Y-%m-%d %H:%M", there)


def stamp(wall: float | None) -> str | None:
    """RFC 3339, UTC, to the second, with a ``Z``."""
    return None if wall is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(wall))


def title(lease: Lease) -> str:
    """What a lease is called."""
    return visible(lease.title)


def quoted_reason(text: str) -> str:
    """A reason as somebody else's words; empty when there is none."""
    return f': "{visible(text, REASON_LIMIT)}"' if text else ""


def held_by(lease: Lease, now: Instant, standing: str = "live") -> str:
    """``alice since 13:35, until 14:35 (57m left): "new login"``."""
    left = lease.left(now)
    since = clock(now.wall - max(0.0, now.wall - lease.acquired), now.wall)
    gone = ", whose process is gone (its paths are still changed)" if standing == ORPHANED else ""
    how = {SHARED: " (shared)", INTENT: " (announced only)"}.get(lease.mode, "")
    until = f"until {clock(now.wall + left, now.wall)} ({show_duration(left)} left)" if left > 0 else "expired"
    return f"{visible(lease.agent)}{how}{gone} since {since}, {until}{quoted_reason(lease.reason)}"


def conflict_lines(conflict: Conflict, now: Instant) -> list[str]:
    """One conflict of a refused claim."""
    lease = conflict.lease
    lines = [f"'{title(lease)}' is held by {held_by(lease, now, conflict.standing)}"]
    if not conflict.exact:
        lines.append("  the two patterns are too intricate to be compared exactly, so they count as overlapping")
    elif conflict.witness is not None and conflict.witness != lease.title:
        lines.append(f"  both cover '{visible(conflict.witness)}'")
    return lines


def finding_line(finding: Finding, now: Instant, renamed_from: str | None = None) -> str:
    """One path that may not be changed."""
    path = f"'{visible(finding.path)}'"
    if finding.status == "D":
        path += " (deleted)"
    elif renamed_from is not None:
        path += f" (was '{visible(renamed_from)}')"
    if finding.kind == HELD and finding.lease is not None:
        lease = finding.lease
        through = f" through '{title(lease)}'" if lease.title != finding.path else ""
        return f"{path} is held by {held_by(lease, now, finding.standing)}{through}"
    if finding.kind == OVERTAKEN and finding.ended is not None:
        ended = finding.ended
        return (
            f"{path}: your lease '{title(ended.lease)}' lapsed, and {visible(ended.by or 'somebody')} has held "
            f"'{visible(ended.by_claim or '?')}' since"
        )
    return f"{path} is not claimed by you"


def next_for(finding: Finding) -> str:
    """One command that helps with a finding."""
    if finding.kind == HELD:
        return f"git lock who {word(finding.path)}"
    return f"git lock claim {word(finding.path)}"


def ended_line(ended: Ended, now: Instant) -> str:
    """What happened to a lease that ended before its holder said so, and what to do."""
    lease = ended.lease
    when = clock(ended.at, now.wall)
    named = f"your lease '{title(lease)}' (fence {lease.fence})"
    if ended.why == "taken":
        return (
            f"{named} lapsed, and {visible(ended.by or 'somebody')} took '{visible(ended.by_claim or '?')}' "
            f"(fence {ended.by_fence}) at {when}: look at what changed before you claim it again"
        )
    if ended.why == "dead":
        return (
            f"{named} ended at {when}, since your recorded process was gone, and {visible(ended.by or 'somebody')} "
            f"took '{visible(ended.by_claim or '?')}'"
        )
    if ended.why == "expired":
        return f"{named} expired at {when}, and nobody has taken it: git lock claim {word(lease.title)}"
    by = f" by {visible(ended.by)}" if ended.by else ""
    return f"{named} was {ended.why}{by} at {when}{quoted_reason(ended.note)}"


def revived_line(lease: Lease) -> str:
    """An own lease that had lapsed and goes on."""
    return f"your lease '{title(lease)}' had lapsed; nobody took it, so it goes on (fence {lease.fence})"


def low_line(lease: Lease, now: Instant) -> str | None:
    """A hint when under a fifth of the TTL is left."""
    left = lease.left(now)
    if 0 < left < lease.ttl / 5:
        return f"your lease '{title(lease)}' ends in {show_duration(left)}: git lock renew {word(lease.title)}"
    return None
