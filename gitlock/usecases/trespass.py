"""A command has changed what others hold: that is to be read in history, and its holders are told, once each.

Who works in another worktree has lost nothing, and hears nothing. What is told lies with the requests: it is data of
the same kind, said at the same moments (``gitlock.usecases.hearing``).
"""

from gitlock.digest import sha256_hex
from gitlock.domain.request import NOTED, TRESPASS, Request
from gitlock.domain.snapshot import Event
from gitlock.domain.standing import DEAD
from gitlock.errors import GitlockError
from gitlock.usecases.edit import is_elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.domain.decision import Finding
    from gitlock.domain.lease import Lease
    from gitlock.usecases.edit import Ground

NAMED = 10  # paths of one event
TOLD = 50  # paths that one holder is told of at a time


def write_down(site: "Ground", findings: "Iterable[Finding]", how: str) -> None:
    """Whoever asks has changed what the ``findings`` say that others hold; ``how``, in a few words. Never raises for
    what can't be told: it is in history."""
    lost: dict[str, Lease] = {
        one.path: one.lease for one in findings if one.lease is not None and not is_elsewhere(site, one.lease)
    }
    if not lost:
        return
    victims = dict.fromkeys(lease.agent for lease in lost.values())
    named = " ".join(list(lost)[:NAMED])
    site.store.note((Event("trespass", site.agent.id, named, note=how, victim=" ".join(victims)),))
    for victim in victims:
        theirs = {path: lease for path, lease in lost.items() if lease.agent == victim}
        if any(_is_there(site, lease) for lease in theirs.values()):
            try:
                _tell(site, victim, tuple(theirs), how)
            except GitlockError:
                continue


def _is_there(site: "Ground", lease: "Lease") -> bool:
    """Whether anybody may be there to hear it."""
    return not lease.is_left and site.facts.liveness(lease) != DEAD


def _tell(site: "Ground", victim: str, paths: tuple[str, ...], how: str) -> None:
    """One notice for each pair of agents: what was not heard yet is added to."""
    agent, book = site.agent, site.store.requests
    name = sha256_hex(f"trespass\n{agent.id}\n{victim}".encode("utf-8", "surrogateescape"))[:8]
    before = book.find(name)
    if before is not None and before.kind == TRESPASS and len(before.told) == 1:
        paths = tuple(dict.fromkeys((*before.include, *paths)))
    notice = Request(
        id=name, kind=TRESPASS, asker=agent.id, asker_kind=agent.kind, to=(victim,), claim=paths[0], keys=(),
        include=paths[:TOLD], exclude=(), mode="exclusive", ttl=0.0, text=how, at=site.store.read().now.wall,
        holder=site.holder(), state=NOTED, told=(agent.id,),
    )  # fmt: skip
    book.add(notice)
