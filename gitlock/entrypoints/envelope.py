"""Outcomes as the JSON envelope: ``{"schema":"gitlock/1","ok":…,"code":…}`` with ``data`` or ``error``.

Times are RFC 3339 UTC; durations are seconds in fields that end in ``_s``; what is unknown is ``null``, never absent.
"""

from gitlock.domain.conflict import Conflict
from gitlock.domain.decision import HELD, OVERTAKEN, Decision, Finding
from gitlock.domain.instant import Instant
from gitlock.domain.lease import Ended, Lease
from gitlock.entrypoints.exitcodes import OVERTAKEN as OVERTAKEN_CODE
from gitlock.entrypoints.exitcodes import VIOLATION
from gitlock.entrypoints.wording import next_for, stamp, visible

SCHEMA = "gitlock/1"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.policy import KeyRule
    from gitlock.usecases.report import Result, Shown


def envelope(code: int, data: object = None, error: "dict[str, object] | None" = None) -> dict[str, object]:
    """The one shape of every ``--json`` answer; a refusal may carry data beside its error."""
    answer: dict[str, object] = {"schema": SCHEMA, "ok": error is None, "code": code}
    if data is not None:
        answer["data"] = data
    if error is not None:
        answer["error"] = error
    return answer


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


def raw(texts: "list[str] | tuple[str, ...]") -> "dict[str, str] | None":
    """The bytes, in base64, of those names that are not UTF-8; None if there are none."""
    odd = [text for text in texts if _odd(text)]
    if not odd:
        return None
    from binascii import b2a_base64

    return {
        visible(text): b2a_base64(text.encode("utf-8", "surrogateescape"), newline=False).decode() for text in odd
    }


def _odd(text: str) -> bool:
    return not text.isascii() and any(0xD800 <= ord(char) <= 0xDFFF for char in text)


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
    odd = raw([*lease.keys, *lease.include, *lease.exclude])
    if odd is not None:
        shape["raw"] = odd
    return shape


def shown_json(one: "Shown", now: Instant) -> dict[str, object]:
    """A lease of a list."""
    return lease_json(one.lease, now, one.state, one.liveness, one.waiting)


def conflict_json(conflict: Conflict, now: Instant) -> dict[str, object]:
    """One conflict of a refused claim."""
    state = "orphaned" if conflict.standing == "orphaned" else "live"
    shape: dict[str, object] = {
        "lease": lease_json(conflict.lease, now, state, "unknown"),
        "witness": name(conflict.witness),
        "exact": conflict.exact,
    }
    odd = raw([conflict.witness] if conflict.witness else [])
    if odd is not None:
        shape["raw"] = odd
    return shape


def ended_json(ended: Ended, now: Instant) -> dict[str, object]:
    """A lease that ended, with why and who has it now."""
    state = "expired" if ended.why in ("expired", "taken") else "released"
    shape = lease_json(ended.lease, now, state, "unknown")
    shape["ended"] = {
        "why": ended.why,
        "at": stamp(ended.at),
        "by": ended.by,
        "by_claim": name(ended.by_claim),
        "by_fence": ended.by_fence,
        "note": name(ended.note),
    }
    return shape


def finding_json(finding: Finding, now: Instant, liveness: str = "unknown") -> dict[str, object]:
    """One path that may not be changed."""
    lease = None
    if finding.kind == HELD and finding.lease is not None:
        state = "orphaned" if finding.standing == "orphaned" else "live"
        lease = lease_json(finding.lease, now, state, liveness)
    elif finding.ended is not None:
        lease = ended_json(finding.ended, now)
    shape: dict[str, object] = {
        "path": name(finding.path),
        "kind": finding.kind,
        "code": OVERTAKEN_CODE if finding.kind == OVERTAKEN else VIOLATION,
        "mode": finding.mode,
        "status": finding.status,
        "lease": lease,
        "witness": name(finding.path) if lease is not None else None,
        "next": next_for(finding),
    }
    odd = raw([finding.path])
    if odd is not None:
        shape["raw"] = odd
    return shape


def decision_json(decision: Decision, now: Instant, warnings: list[str]) -> dict[str, object]:
    """What a check answers."""
    violations = [finding_json(finding, now) for finding in decision.findings if finding.mode == "enforce"]
    warned = [finding_json(finding, now) for finding in decision.findings if finding.mode != "enforce"]
    return {"violations": violations, "warned": warned, "warnings": warnings}


def key_json(rule: "KeyRule") -> dict[str, object]:
    """A declared key."""
    return {"name": rule.name, "paths": list(rule.paths), "takes": rule.takes, "mode": rule.mode, "line": rule.line}


def result_json(result: "Result", now: Instant, map_line: str | None) -> dict[str, object]:
    """What is known about one claim or path."""
    shape: dict[str, object] = {
        "claim": name(result.claim),
        "state": result.state,
        "leases": [shown_json(one, now) for one in result.leases],
        "keys": [key_json(rule) for rule in result.keys],
        "policy": result.policy,
        "map_line": map_line,
    }
    odd = raw([result.claim])
    if odd is not None:
        shape["raw"] = odd
    return shape
