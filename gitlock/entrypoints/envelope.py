"""Outcomes as the JSON envelope: ``{"schema":"gitlock/1","ok":…,"code":…}`` with ``data`` or ``error``.

Times are RFC 3339 UTC; durations are seconds in fields that end in ``_s``; what is unknown is ``null``, never absent.
A name that is not UTF-8 appears escaped, and ``raw`` beside it has its bytes in base64. The schemas are in
``gitlock/schemas``, one for each command.
"""

from gitlock.domain.conflict import Conflict
from gitlock.domain.decision import HELD, OVERTAKEN, Decision, Finding
from gitlock.domain.instant import Instant
from gitlock.domain.lease import Ended, Lease
from gitlock.domain.standing import nothing_known
from gitlock.entrypoints.exitcodes import OVERTAKEN as OVERTAKEN_CODE
from gitlock.entrypoints.exitcodes import VIOLATION
from gitlock.entrypoints.wording import next_for, stamp, visible

SCHEMA = "gitlock/1"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitlock.domain.policy import KeyRule
    from gitlock.usecases.report import Result, Shown


def envelope(code: int, data: object = None, error: "dict[str, object] | None" = None) -> dict[str, object]:
    """The one shape of every ``--json`` answer; a refusal may carry data beside its error."""
    answer: dict[str, object] = {"schema": SCHEMA, "ok": error is None, "code": code}
    if data is not None:
        answer["data"] = _spoken(data)
    if error is not None:
        answer["error"] = _spoken(error)
    return answer


def _spoken(value: object) -> object:
    """The same without halves of characters, wherever a text comes from: JSON has no form for them."""
    if isinstance(value, str):
        return name(value)
    if isinstance(value, dict):
        return {name(key): _spoken(item) for key, item in value.items()}
    return [_spoken(item) for item in value] if isinstance(value, (list, tuple)) else value


def error(
    id: str, message: str, next: str | None = None, conflicts: "list[dict[str, object]] | None" = None
) -> dict[str, object]:
    """The ``error`` part."""
    return {"id": id, "message": message, "conflicts": conflicts or [], "next": next}


def name(text: str | None) -> str | None:
    """A name as JSON shows it: one that is not UTF-8 is escaped (its bytes stand beside it, see ``raw``)."""
    if text is None or not _odd(text):
        return text
    return visible(text)


def raw(texts: "Iterable[str | None]") -> "dict[str, dict[str, str]]":
    """``raw`` with the bytes, in base64, of those names that are not UTF-8; nothing if there are none."""
    odd = [text for text in texts if text is not None and _odd(text)]
    if not odd:
        return {}
    from binascii import b2a_base64

    return {
        "raw": {
            visible(text): b2a_base64(text.encode("utf-8", "surrogateescape"), newline=False).decode()
            for text in odd
            if all(0xDC80 <= ord(char) <= 0xDCFF for char in text if _half(char))
        }
    }


def _odd(text: str) -> bool:
    return not text.isascii() and any(_half(char) for char in text)


def _half(char: str) -> bool:
    return 0xD800 <= ord(char) <= 0xDFFF


def lease_json(lease: Lease, now: Instant, state: str, liveness: str, waiting: int = 0) -> dict[str, object]:
    """A lease, in the contract's shape."""
    holder = lease.holder
    shape: dict[str, object] = {
        "id": lease.id,
        "agent": lease.agent,
        "kind": lease.kind,
        "mode": lease.mode,
        "keys": [name(key) for key in lease.keys],
        "include": [name(text) for text in lease.include],
        "exclude": [name(text) for text in lease.exclude],
        "reason": name(lease.reason),
        "fence": lease.fence,
        "acquired_at": stamp(lease.acquired),
        "renewed_at": stamp(now.wall - max(0.0, now.since(lease.renewed))),
        "expires_at": stamp(now.wall + lease.left(now)),
        "ttl_s": lease.ttl,
        "state": state,
        "liveness": liveness,
        "holder": {
            "host": holder.host,
            "pid": holder.pid,
            "worktree": name(holder.worktree),
            "branch": name(holder.branch),
            "session": holder.session,
        },
        "waiting": waiting,
    }
    names = (*lease.keys, *lease.include, *lease.exclude, lease.reason, holder.worktree, holder.branch)
    return {**shape, **raw(names)}


def shown_json(one: "Shown", now: Instant) -> dict[str, object]:
    """A lease of a list."""
    return lease_json(one.lease, now, one.state, one.liveness, one.waiting)


def conflict_json(
    conflict: Conflict, now: Instant, liveness: "Callable[[Lease], str]" = nothing_known
) -> dict[str, object]:
    """One conflict of a refused claim."""
    state = "orphaned" if conflict.standing == "orphaned" else "live"
    return {
        "lease": lease_json(conflict.lease, now, state, liveness(conflict.lease)),
        "witness": name(conflict.witness),
        "exact": conflict.exact,
        **raw([conflict.witness]),
    }


def ended_json(ended: Ended, now: Instant) -> dict[str, object]:
    """A lease that ended, with why and who has it now."""
    state = "expired" if ended.why in ("expired", "taken") else "released"
    shape = lease_json(ended.lease, now, state, "unknown")
    shape["ended"] = {
        **raw([ended.by_claim, ended.note]),
        "why": ended.why,
        "at": stamp(ended.at),
        "by": ended.by,
        "by_claim": name(ended.by_claim),
        "by_fence": ended.by_fence,
        "note": name(ended.note),
    }
    return shape


def finding_json(
    finding: Finding, now: Instant, liveness: "Callable[[Lease], str]" = nothing_known, prefix: str = ""
) -> dict[str, object]:
    """One path that may not be changed. ``prefix`` is the folder in which its next command is to work."""
    lease = None
    if finding.kind == HELD and finding.lease is not None:
        state = "orphaned" if finding.standing == "orphaned" else "live"
        lease = lease_json(finding.lease, now, state, liveness(finding.lease))
    elif finding.ended is not None:
        lease = ended_json(finding.ended, now)
    return {
        "path": name(finding.path),
        "kind": finding.kind,
        "code": OVERTAKEN_CODE if finding.kind == OVERTAKEN else VIOLATION,
        "mode": finding.mode,
        "status": finding.status,
        "lease": lease,
        "witness": name(finding.path) if lease is not None else None,
        "next": next_for(finding, prefix),
        **raw([finding.path]),
    }


def decision_json(
    decision: Decision, now: Instant, warnings: list[str], liveness: "Callable[[Lease], str]", prefix: str = ""
) -> dict[str, object]:
    """What a check answers."""
    shapes = [finding_json(finding, now, liveness, prefix) for finding in decision.findings]
    violations = [shape for shape in shapes if shape["mode"] == "enforce"]
    warned = [shape for shape in shapes if shape["mode"] != "enforce"]
    return {"violations": violations, "warned": warned, "warnings": warnings}


def key_json(rule: "KeyRule") -> dict[str, object]:
    """A declared key."""
    return {"name": rule.name, "paths": list(rule.paths), "takes": rule.takes, "mode": rule.mode, "line": rule.line}


def result_json(result: "Result", now: Instant, map_line: str | None) -> dict[str, object]:
    """What is known about one claim or path."""
    return {
        "claim": name(result.claim),
        "state": result.state,
        "leases": [shown_json(one, now) for one in result.leases],
        "keys": [key_json(rule) for rule in result.keys],
        "policy": result.policy,
        "map_line": map_line,
        **raw([result.claim]),
    }
