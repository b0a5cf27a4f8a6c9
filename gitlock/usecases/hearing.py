"""What others said to an agent since it last listened: requests to let go, and answers to its own.

Asked by every command and hook, so nothing is loaded unless there is a request at all.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.agent import Agent
    from gitlock.domain.request import Request
    from gitlock.stores.files.store import FileStore


def hear(store: "FileStore", agent: "Agent") -> "list[Request]":
    """Open requests that this agent is asked, and unheard answers to its own; an answer is heard once."""
    try:
        with os.scandir(store.layout.requests) as entries:
            if next(entries, None) is None:
                return []
    except OSError:
        return []
    from gitlock.errors import StoreError
    from gitlock.usecases.negotiate import answers_for, inbox, mark_told

    found = inbox(store, agent)
    for answer in answers_for(store, agent.id):
        found.append(answer)
        try:
            mark_told(store, answer, agent.id)
        except StoreError:
            continue  # a disk that can't be written: it is heard again next time
    return found
