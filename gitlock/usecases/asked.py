"""What was asked of a holder, as the claim that it is: for who grants it."""

from gitlock.domain.pattern import parse_pattern
from gitlock.usecases.claim import Wish, prepare
from gitlock.usecases.reading import LITERAL, Reading, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.agent import Agent
    from gitlock.domain.pattern import Fold
    from gitlock.domain.policy import Policy
    from gitlock.domain.request import Request
    from gitlock.domain.standing import Facts
    from gitlock.git.process import Git


def wish_of(
    request: "Request", *, agent: "Agent", policy: "Policy", fold: "Fold", facts: "Facts", git: "Git"
) -> Wish:
    """The asker's claim, as it was asked for, in the asker's name and place."""
    names = tuple(key for key in request.keys if key[:5] not in ("file:", "glob:"))
    reading = Reading((Taken(request.claim, LITERAL, request.include),)).replace(
        exclude=request.exclude, names=names, keys=request.keys
    )
    for text in (*request.include, *request.exclude):
        parse_pattern(text)
    return prepare(
        reading,
        agent=agent.replace(id=request.asker, kind=request.asker_kind),
        mode=request.mode,
        ttl=request.ttl,
        reason=request.text,
        holder=request.holder.replace(pid=None, started=None),
        policy=policy,
        fold=fold,
        facts=facts,
        git=git,
        same_agent=True,
    )
