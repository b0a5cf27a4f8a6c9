"""``git-lock complete-words KIND``: one word a line for the completion scripts. Not for people, and not in the help.

It runs while somebody is typing: it is quick, it changes nothing, and whatever goes wrong it says nothing.
"""

from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.options import Command, Given
from gitlock.entrypoints.cli.output import Answer
from gitlock.errors import GitlockError
from gitlock.usecases.words import (
    AGENTS,
    CLAIMS,
    KEYS,
    KINDS,
    OTHERS,
    REQUESTS,
    agent_words,
    claim_words,
    key_words,
    request_words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.policy import Policy
    from gitlock.wiring.site import Site


def answer(given: Given) -> Answer:
    """The words, or nothing."""
    try:
        found = _words(site_of(given), given.arguments[0])
    except Exception:  # noqa: BLE001 - a traceback in the middle of somebody's line helps nobody; doctor finds the fault
        found = []
    return Answer(lines=["\n".join(found)] if found else [], data={"words": found})


def _words(site: "Site", kind: str) -> list[str]:
    if kind not in KINDS:
        return []
    if kind == REQUESTS:
        return request_words(site.store, site.agent)
    snapshot = site.store.read()
    if kind in (CLAIMS, OTHERS):
        return claim_words(snapshot, site.agent.id, site.repository, others_first=kind == OTHERS)
    if kind == KEYS:
        return key_words(snapshot, _policy(site))
    assert kind == AGENTS
    return agent_words(snapshot)


def _policy(site: "Site") -> "Policy | None":
    try:
        return site.policy
    except GitlockError:
        return None


COMMAND = Command(
    "complete-words",
    "words for a shell's completion",
    answer,
    text="Prints one word a line: " + ", ".join(KINDS) + ". Silent, with 0, wherever there is nothing to say.",
    arguments="KIND",
    least=1,
    most=1,
    codes=(0,),
    examples=(f"git lock complete-words {CLAIMS}", f"git lock complete-words {KEYS}"),
)
