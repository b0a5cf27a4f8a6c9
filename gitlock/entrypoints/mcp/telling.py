"""Outcomes as the shapes of the answers, and everything that an answer says besides. Whatever somebody else has
written is shown escaped and cut: it must not look like anything but a text in a field.
"""

import json
from typing import TypeVar

from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.mcp.shapes import Answer
from gitlock.entrypoints.wording import (
    REASON_LIMIT,
    conflict_lines,
    ended_line,
    low_line,
    revived_line,
    stamp,
    visible,
)
from gitlock.errors import ConfigError, GitlockError, RepositoryError, StoreError
from gitlock.usecases.ticketing import ANEW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitlock.domain.beat import Beat
    from gitlock.domain.conflict import Conflict
    from gitlock.domain.instant import Instant
    from gitlock.domain.lease import Lease
    from gitlock.domain.request import Request
    from gitlock.usecases.report import Shown
    from gitlock.wiring.site import Site

Json = dict[str, object]
Kind = TypeVar("Kind", bound=Answer)
# What helps by a command, as the tool that does the same: a program's shell may not be able to write here.
TOOLS = {
    "git lock inbox": "inbox()", "git lock inbox --all": "inbox()", "git lock list": "status()",
    "git lock mine": "status()", "git lock whoami": "whoami()",
    "git lock claim 'src/auth/*'": 'claim(claims=["src/auth/*"])',
    ANEW: "to see whether you hold it already: status(); for a new one: claim with ticket",
}  # fmt: skip
TEXT_LIMIT = 4096  # characters of any one text: no path is longer (PATH_MAX)
FAULT_LIMIT = 2000  # characters of a message that lists what stands in the way


def plain(value: object, limit: int = TEXT_LIMIT) -> object:
    """The same with every text in it escaped and cut."""
    if isinstance(value, str):
        return visible(value, limit)
    if isinstance(value, dict):
        return {name: plain(item, limit) for name, item in value.items()}
    return [plain(item, limit) for item in value] if isinstance(value, (list, tuple)) else value


def call(tool: str, **arguments: object) -> str:
    """A tool call in a form that every model reads: ``claim(claims=["src/a.py"])``."""
    words = ", ".join(f"{name}={json.dumps(plain(value), ensure_ascii=False)}" for name, value in arguments.items())
    return f"{tool}({words})"


def lease_of(
    lease: "Lease", now: "Instant", state: str = "live", liveness: str = "unknown", waiting: int = 0
) -> Json:
    """A lease."""
    shape = envelope.lease_json(lease, now, state, liveness, waiting)
    shape.pop("raw", None)  # a name that is not UTF-8 can't be given back in JSON: the lease's id can
    shape["claim"] = lease.title
    shape["reason"] = visible(lease.reason, REASON_LIMIT)
    found = plain(shape)
    assert isinstance(found, dict)
    return found


def shown_of(one: "Shown", now: "Instant") -> Json:
    """A lease of a list."""
    return lease_of(one.lease, now, one.state, one.liveness, one.waiting)


def conflict_of(conflict: "Conflict", now: "Instant", liveness: "Callable[[Lease], str]") -> Json:
    """A lease that stands in the way."""
    lease = conflict.lease
    state = "orphaned" if conflict.standing == "orphaned" else "live"
    names = [conflict.witness] if conflict.witness is not None else list(lease.names)
    return {
        "lease": lease_of(lease, now, state, liveness(lease)),
        "witness": plain(conflict.witness),
        "exact": conflict.exact,
        "message": "; ".join(line.strip() for line in conflict_lines(conflict, now)),
        "ask": call("request_release", claims=names, message="why you need it"),
    }


def request_of(one: "Request") -> Json:
    """A request; texts of others are data."""
    found = plain(
        {
            "id": one.id, "kind": one.kind, "from": one.asker, "to": list(one.to), "claim": one.claim,
            "text": one.text, "at": stamp(one.at), "state": one.state,
            "answer": one.answer if one.answered_by else None, "answered_by": one.answered_by,
            "answered_at": stamp(one.answered_at),
        }
    )  # fmt: skip
    assert isinstance(found, dict)
    return found


def fault(id: str, message: str, next: str | None = None, conflicts: "Iterable[Json]" = ()) -> Json:
    """Why something was not done."""
    return {"id": id, "message": visible(message, FAULT_LIMIT), "next": next, "conflicts": list(conflicts)}


def stopped_by(shape: type[Kind], error: GitlockError, agent: str | None = None) -> Kind:
    """The answer where something stopped us. What is wrong with the repository, its map file or its store is no fault
    of the call: it is not known what is held, as at a gate."""
    unknown = isinstance(error, (StoreError, ConfigError, RepositoryError))
    code = exitcodes.UNCHECKED if unknown else exitcodes.code_of(error)
    hint = None if error.hint is None else TOOLS.get(error.hint, visible(error.hint, FAULT_LIMIT))
    return shape.of(code=code, agent=agent, error=fault(error.id, error.message, hint))


def beside(site: "Site", beat: "Beat", now: "Instant", notice: str = "") -> Json:
    """What goes with every answer: who asks, what became of its leases, how much waits in its inbox."""
    lines = [notice] if notice else []
    lines += [ended_line(one, now) for one in beat.ended]
    lines += [revived_line(lease) for lease in beat.revived]
    lines += [line for lease in beat.held if (line := low_line(lease, now)) is not None]
    for one in beat.offers:
        lines.append(f"it is your turn for '{visible(one.title, REASON_LIMIT)}': {call('claim', resume=one.id)}")
    return {"agent": site.agent.id, "warnings": lines, "inbox": inbox_size(site)}


def inbox_size(site: "Site") -> int:
    """How many open requests there are for whoever asks, and what else it has not heard."""
    if not site.store.has_requests():
        return 0
    agent = site.agent
    return sum(
        1 for one in site.store.requests.all()
        if one.is_unheard_by(agent.id, agent.kind)
        or (one.asker != agent.id and one.state == "open" and one.is_for(agent.id, agent.kind))
    )  # fmt: skip
