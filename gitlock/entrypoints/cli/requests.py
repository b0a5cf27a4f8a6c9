"""Requests as JSON, for every command that shows them."""

from gitlock.domain.request import Request
from gitlock.entrypoints import envelope
from gitlock.entrypoints.wording import stamp


def request_json(one: Request) -> dict[str, object]:
    """A request in the contract's shape; texts of others are data."""
    return {
        "id": one.id,
        "kind": one.kind,
        "from": one.asker,
        "to": list(one.to),
        "claim": envelope.name(one.claim),
        "text": envelope.name(one.text),
        "at": stamp(one.at),
        "state": one.state,
        "answer": envelope.name(one.answer) if one.answered_by else None,
        "answered_by": one.answered_by,
        "answered_at": stamp(one.answered_at),
    }
