"""Outcomes and decisions as sentences. Pure: values in, text out; every text from outside is shown escaped.

A message begins small and has no full stop; it says what, whose, since when and until when, and one next command.
"""

import time

from gitlock.domain.conflict import Conflict
from gitlock.domain.decision import HELD, OVERTAKEN, Finding
from gitlock.domain.duration import show_duration
from gitlock.domain.instant import Instant
from gitlock.domain.lease import INTENT, SHARED, Ended, Lease
from gitlock.domain.policy import ENFORCE
from gitlock.domain.quoting import word
from gitlock.domain.standing import ORPHANED, WAITING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.queue import Waiter
    from gitlock.domain.request import Request
    from gitlock.domain.taint import Taint

REASON_LIMIT = 200  # characters of somebody's reason that a line shows
HEARD = 5  # requests that any command tells of by the way
NAMED = 8  # paths that a command names one by one

# How it was found who asks, by the rules of `gitlock.wiring.identity`.
AGENT_RULES = {
    "--agent": "given with --agent",
    "GITLOCK_AGENT": "from GITLOCK_AGENT",
    "worktree": "the agent that this worktree was made for",
    "session": "the agent session that the environment names",
    "process": "a process above this one, which a session has registered",
    "user.email": "git's user.email",
    "host": "the login and host name, since git has no user.email",
}


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


def held_by(lease: Lease, now: Instant, standing: str = "live", *, through: bool = False) -> str:
    """``alice since 13:35, until 14:35 (57m left): "new login"``; with ``through`` also by which claim."""
    over = "session has ended" if lease.is_left else "process is gone"
    gone = {
        ORPHANED: f", whose {over} (its paths are still changed)",
        WAITING: " (waits for a person: its TTL does not end it yet)",
    }.get(standing, "")
    how = {SHARED: " (shared)", INTENT: " (announced only)"}.get(lease.mode, "")
    claim = f" through '{title(lease)}'" if through else ""
    return f"{visible(lease.agent)}{how}{claim}{gone} {held_times(lease, now)}{quoted_reason(lease.reason)}"


def held_times(lease: Lease, now: Instant) -> str:
    """``since 13:35, until 14:35 (57m left)``."""
    left = lease.left(now)
    since = clock(now.wall - max(0.0, now.wall - lease.acquired), now.wall)
    until = f"until {clock(now.wall + left, now.wall)} ({show_duration(left)} left)" if left > 0 else "expired"
    return f"since {since}, {until}"


def process_words(lease: Lease, liveness: str, standing: str = "live") -> str:
    """What is known about the holder's process, after a comma; nothing for a claim made by hand, which records none,
    nor where ``held_by`` has said it already, which knows the ``standing``."""
    if standing == ORPHANED:
        return ""
    if lease.is_left:
        return ", its session has ended"
    if lease.holder.pid is None:
        return ""
    return {"alive": ", its process is alive", "dead": ", its process is gone"}.get(
        liveness, ", its process is unknown"
    )


def conflict_lines(conflict: Conflict, now: Instant) -> list[str]:
    """One conflict of a refused claim."""
    lease = conflict.lease
    lines = [f"'{title(lease)}' is held by {held_by(lease, now, conflict.standing)}"]
    if not conflict.exact:
        lines.append("  the two patterns are too intricate to be compared exactly, so they count as overlapping")
    elif conflict.witness is not None and conflict.witness != lease.title:
        lines.append(f"  both cover '{visible(conflict.witness)}'")
    return lines


def finding_line(finding: Finding, now: Instant, *, twin: str | None = None, brief: bool = False) -> str:
    """One path that may not be changed. ``twin`` is the other side of its rename; ``brief`` leaves out what
    ``finding_lines`` says once for all paths."""
    path = f"'{visible(finding.path)}'"
    if finding.status == "D":
        path += " (deleted)" if twin is None else f" (renamed to '{visible(twin)}')"
    elif twin is not None:
        path += f" (was '{visible(twin)}')"
    if finding.kind == HELD and finding.lease is not None:
        lease = finding.lease
        through = lease.title != finding.path
        if brief:
            how = " (shared)" if lease.mode == SHARED else ""
            claim = f" through '{title(lease)}'" if through else ""
            return f"{path} is held by {visible(lease.agent)}{how}{claim}"
        return f"{path} is held by {held_by(lease, now, finding.standing, through=through)}"
    if finding.kind == OVERTAKEN and finding.ended is not None:
        ended = finding.ended
        return (
            f"{path}: your lease '{title(ended.lease)}' {_lost(ended)}, and {visible(ended.by or 'somebody')} took "
            f"'{visible(ended.by_claim or '?')}' at {clock(ended.at, now.wall)}"
        )
    if finding.lease is not None:
        return f"{path} is yours only shared, which is not enough to change it"
    return f"{path} is not claimed by you"


def finding_lines(
    findings: tuple[Finding, ...], now: Instant, liveness: "Callable[[Lease], str]", renames: dict[str, str]
) -> list[str]:
    """A path a line; what there is to know about a lease once, below the last of its paths that stand together.

    ``renames`` gives the old name of a new one.
    """
    twins = {**{old: new for new, old in renames.items()}, **renames}
    lines: list[str] = []
    mixed = any(one.mode == ENFORCE for one in findings)
    for one, after in zip(findings, (*findings[1:], None), strict=True):
        note = " (a warning only)" if mixed and one.mode != ENFORCE else ""
        lines.append(f"  {finding_line(one, now, twin=twins.get(one.path), brief=True)}{note}")
        lease = one.lease
        if one.kind == HELD and lease is not None and (after is None or after.lease is not lease):
            gone = " and its paths are still changed" if one.standing == ORPHANED else ""
            times = f"    {held_times(lease, now)}{process_words(lease, liveness(lease))}{gone}"
            if times + quoted_reason(lease.reason) not in lines:
                lines.append(times + quoted_reason(lease.reason))
    return lines


def place_word(path: str, prefix: str = "", *, claim: bool = False) -> str:
    """``path`` as what one types in the folder ``prefix`` (with its final ``/``) to name just this path.

    In a ``claim`` it must not be read as a pattern or a key, whether the path is still there or not.
    """
    if prefix and path.startswith(prefix):
        path = path[len(prefix) :]
    elif prefix:
        path = "../" * prefix.count("/") + path
    if path[:1] == "-":
        path = "./" + path
    forced = claim and not frozenset("*?[{\\:!").isdisjoint(path)
    return f"--path {word(path)}" if forced else word(path)


def next_for(finding: Finding, prefix: str = "") -> str:
    """One command that helps with a finding, as one types it in the folder ``prefix``."""
    if finding.kind == HELD:
        return f"git lock who {place_word(finding.path, prefix)}"
    return claim_command((finding.path,), prefix)


def claim_command(paths: tuple[str, ...], prefix: str = "") -> str:
    """The command that claims these paths: each by its name, or, where that would fill a screen, their folders."""
    if len(paths) > NAMED:
        paths = tuple(dict.fromkeys(path.rpartition("/")[0] + "/" if "/" in path else path for path in paths))
    if len(paths) > NAMED:
        paths = tuple(dict.fromkeys(path.partition("/")[0] + "/" if "/" in path else path for path in paths))
    return "git lock claim " + " ".join(place_word(path, prefix, claim=True) for path in paths)


def _lost(ended: Ended) -> str:
    return {"taken": "lapsed", "dead": "ended with your process"}.get(ended.why, f"was {ended.why}")


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
        return f"{named} expired at {when}, and nobody has taken it: {claim_again(lease)}"
    if ended.why == "lost":
        return f"{named} was lost at {when}, since {visible(ended.note) or 'the store was'}: {claim_again(lease)}"
    by = f" by {visible(ended.by)}" if ended.by else ""
    return f"{named} was {ended.why}{by} at {when}{quoted_reason(ended.note)}"


def claim_again(lease: Lease) -> str:
    """The command that asks for a lease once more."""
    texts = [*lease.names, *lease.include, *("!" + text for text in lease.exclude)]
    return " ".join(["git lock claim", *map(word, texts)])


def revived_line(lease: Lease) -> str:
    """An own lease that had lapsed and goes on."""
    return f"your lease '{title(lease)}' had lapsed; nobody took it, so it goes on (fence {lease.fence})"


def low_line(lease: Lease, now: Instant) -> str | None:
    """A hint when under a fifth of the TTL is left."""
    left = lease.left(now)
    if 0 < left < lease.ttl / 5:
        return f"your lease '{title(lease)}' ends in {show_duration(left)}: git lock renew {word(lease.title)}"
    return None


def taint_line(taint: "Taint", ago: float) -> str:
    """What the next taker is told of a command that failed."""
    ended = f"ended with {taint.code}" if taint.code is not None else "did not end by itself"
    return (
        f"'{visible(taint.command)}', run by {visible(taint.agent)} under a lease on this, {ended}, "
        f"{show_duration(ago)} ago: look at what it left (git lock release --clear-taint, when that is mended)"
    )


def offer_lines(offers: "tuple[Waiter, ...]", now: Instant) -> list[str]:
    """Tickets whose turn has come, and until when."""
    from gitlock.domain.queue import OFFER

    left = [(one, OFFER - now.since(one.offered)) for one in offers if one.offered is not None]
    return [
        f"warning: it is your turn for '{visible(one.title, REASON_LIMIT)}': git lock claim --resume {one.id} "
        f"(within {show_duration(seconds)})"
        for one, seconds in left
        if seconds > 0
    ]


def heard_lines(found: "list[Request]", agent: str, now: Instant) -> list[str]:
    """Requests as their holder hears them, and answers as their asker does: a line each, the oldest first. They are
    somebody else's words: attributed, cut, escaped."""
    lines = [request_line(request, agent, now) for request in found[:HEARD]]
    if len(found) > HEARD:
        lines.append(f"request: ... and {len(found) - HEARD} more")
    if any(request.asker != agent and request.state == "open" for request in found):
        lines.append("hint: to answer: git lock inbox")
    return lines


def request_line(request: "Request", agent: str, now: Instant) -> str:
    """One of them."""
    claim = visible(request.claim, REASON_LIMIT)
    if request.kind == "trespass":
        return f"warning: {trespass_words(request, now)}"
    if request.asker == agent and request.state != "open":
        by = visible(request.answered_by or "somebody")
        if request.state == "freed":
            return f"request {request.id}: {by} does not hold '{claim}' any more"
        return f"request {request.id}: {by} {request.state} '{claim}'{quoted_reason(request.answer)}"
    what = {"release": "asks for", "escalation": "asks a person to look at"}.get(request.kind, "wants to break")
    ago = show_duration(now.wall - request.at)
    return f"request {request.id}: {visible(request.asker)} {what} '{claim}' ({ago} ago){quoted_reason(request.text)}"


def trespass_words(request: "Request", now: Instant) -> str:
    """What somebody else's command did to paths that one holds: by whom, where, when."""
    paths = request.include or (request.claim,)
    names = ", ".join(f"'{visible(path, REASON_LIMIT)}'" for path in paths[:HEARD])
    more = f" and {len(paths) - HEARD} more" if len(paths) > HEARD else ""
    ago = show_duration(max(0.0, now.wall - request.at))
    be, them = ("was", "it") if len(paths) == 1 else ("were", "them")
    return (
        f"your {names}{more} {be} changed by {visible(request.asker)} in this worktree, {ago} ago "
        f"({visible(request.text, 80)}): read {them} again before you go on"
    )
