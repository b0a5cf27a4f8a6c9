"""What can be named where somebody types: the live claims, the agents and the keys, as words for a shell's completion.

Looking only. A word is exactly what the command line reads back as that claim, from the folder one stands in; what
could not be shown on a terminal as it is (a line break, an escape, a name that is not UTF-8) is left out.
"""

from gitlock.domain.key import looks_like_key
from gitlock.domain.pattern import parse_pattern
from gitlock.errors import UsageError
from gitlock.usecases.places import exists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.domain.agent import Agent
    from gitlock.domain.lease import Lease
    from gitlock.domain.policy import Policy
    from gitlock.domain.snapshot import Snapshot
    from gitlock.git.repository import Repository
    from gitlock.stores.files.store import FileStore

CLAIMS, OTHERS, KEYS, AGENTS, REQUESTS = "claims", "others", "keys", "agents", "requests"
KINDS = (CLAIMS, OTHERS, KEYS, AGENTS, REQUESTS)

MOST = 1000  # words; nobody reads a longer list, and a shell takes seconds to lay it out


def claim_words(snapshot: "Snapshot", agent: str, repository: "Repository", *, others_first: bool = False) -> list[str]:
    """The parts of every lease that can be named: yours first, or everybody else's first."""
    leases = [lease for lease in snapshot.leases.all() if lease.left(snapshot.now) > 0 or lease.agent == agent]
    leases.sort(key=lambda lease: (lease.agent == agent) is others_first)
    return _plain(word for lease in leases for word in _parts(lease, repository))


def key_words(snapshot: "Snapshot", policy: "Policy | None") -> list[str]:
    """The keys that the map file declares, and those that are held."""
    declared = [rule.name for rule in policy.keys] if policy is not None else []
    return _plain([*declared, *(name for lease in snapshot.leases.all() for name in lease.names)])


def agent_words(snapshot: "Snapshot") -> list[str]:
    """Everyone who holds something, and everyone whose lease ended unreported."""
    return _plain(
        [
            *(lease.agent for lease in snapshot.leases.all()),
            *(ended.lease.agent for ended in snapshot.ended.all()),
        ]
    )


def request_words(store: "FileStore", agent: "Agent") -> list[str]:
    """What is asked of the agent, the newest first: it is the one that is answered."""
    from gitlock.usecases.negotiate import inbox

    return _plain(request.id for request in reversed(inbox(store, agent)))


def typed(pattern: str, repository: "Repository") -> str:
    """A stored pattern as one would type it in the folder that one stands in."""
    text = pattern
    literal = parse_pattern(pattern).literal
    if literal is not None and (literal == pattern or exists(repository, literal)):
        text = literal  # what is there may be named as it is, brackets and all
    here = repository.prefix.rstrip("/").split("/") if repository.prefix else []
    rest = text.split("/")
    least = 2 if text.endswith("/") else 1
    up = 0
    while up < len(here) and len(rest) > least and _name(rest[0], literal == text) == here[up]:
        up += 1
        rest = rest[1:]
    found = "../" * (len(here) - up) + "/".join(rest)
    # These would be read as an option, an exclusion, git's magic, or a key.
    odd = found[0] in "-!:" or ":" in found.partition("/")[0] or looks_like_key(found)
    return "./" + found if odd else found


def _parts(lease: "Lease", repository: "Repository") -> list[str]:
    return [*lease.names, *(typed(pattern, repository) for pattern in lease.include)]


def _name(segment: str, literal: bool) -> str | None:
    """The name that a segment stands for; None for one that has a wildcard."""
    if literal:
        return segment
    try:
        return parse_pattern(segment).literal
    except UsageError:
        return None


def _plain(words: "Iterable[str]") -> list[str]:
    """Each once, in their order, without those that a terminal or a line can't hold."""
    found: dict[str, None] = {}
    for word in words:
        if word and word.isprintable():
            found[word] = None
            if len(found) >= MOST:
                break
    return list(found)
