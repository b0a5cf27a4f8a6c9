"""What others said to an agent since it last listened: requests to let go, answers to its own, and word of what was
done to what it holds.

Asked by every command and hook, but only where there is a request at all (``has_requests``).
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.agent import Agent
    from gitlock.domain.pattern import Fold
    from gitlock.domain.request import Request
    from gitlock.domain.standing import Facts
    from gitlock.stores.files.store import FileStore


def hear(store: "FileStore", agent: "Agent", fold: "Fold", facts: "Facts | None" = None) -> "list[Request]":
    """Open requests that this agent is asked; and unheard answers to its own, and notices, which are heard once."""
    from gitlock.domain.request import OPEN
    from gitlock.errors import StoreError
    from gitlock.usecases.negotiate import close_freed

    everything = store.requests.all()
    found = [one for one in everything if one.is_for(agent.id, agent.kind) or one.asker == agent.id]
    try:
        found = close_freed(store, found, fold, facts)
    except StoreError:
        pass  # they are shown as they were
    heard = [one for one in found if one.state == OPEN and one.asker != agent.id]
    for answer in found:
        if answer.is_unheard_by(agent.id, agent.kind):
            heard.append(answer)
            try:
                _heard(store, answer, agent.id)
            except StoreError:
                continue  # a disk that can't be written: it is heard again next time
    return heard


def _heard(store: "FileStore", answer: "Request", agent: str) -> None:
    from gitlock.domain.request import BREAKING, GRANTED

    store.requests.change(answer.id, lambda now: now.replace(told=(*now.told, agent)))
    if (answer.kind, answer.state) != (BREAKING, GRANTED):  # that one is still to be used
        store.requests.put_aside(answer.id)
