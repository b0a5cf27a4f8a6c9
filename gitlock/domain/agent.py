"""Who works: names of agents, what a name may look like, and who works under whose leases."""

from gitlock.domain.value import Value
from gitlock.errors import UsageError

KINDS = ("agent", "human", "bot", "ci")

_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@+/-")
NAME_LIMIT = 100  # characters; a name is shown in every message and must fit a line


class Agent(Value):
    """Who is asking, and which rule said so (``source``: one of the words in ``gitlock.wiring.identity``)."""

    __slots__ = ("id", "kind", "source")

    def __init__(self, id: str, kind: str = "agent", source: str = "given") -> None:
        self.id = id
        self.kind = kind
        self.source = source


def valid_agent(name: str) -> str:
    """``name`` itself if it may name an agent, else ``UsageError`` that says which rule it breaks."""
    fault = None
    if not name:
        fault = "it is empty"
    elif len(name) > NAME_LIMIT:
        fault = f"it is longer than {NAME_LIMIT} characters"
    elif not _NAME.issuperset(name):
        fault = "it may hold only letters, digits and . _ @ + / -"
    elif name[0] == "-":
        fault = "it starts with '-'"
    elif name.endswith(".lock"):
        fault = "it ends in '.lock'"
    elif any(part in ("", ".", "..") for part in name.split("/")):
        fault = "a part of it is empty, '.' or '..'"
    if fault:
        raise UsageError(
            f"'{name}' can't name an agent: {fault}", hint=f"name it, say, '{_like(name)}'", id="bad-agent"
        )
    return name


def _like(name: str) -> str:
    """A name like this one that may name an agent."""
    parts = ["".join([char if char in _NAME else "-" for char in part]) for part in name.split("/")]
    found = "/".join([part.lstrip("-") for part in parts if part.strip("-.")])[: NAME_LIMIT // 2]
    found = found.removesuffix(".lock").rstrip("/.-")
    return found.lstrip("-") or "alice"


def lineage(agent: str) -> tuple[str, ...]:
    """The agent and everyone above it, nearest first: ``a/b/c`` works under ``a/b`` and under ``a``."""
    names = [agent]
    while "/" in agent:
        agent = agent[: agent.rindex("/")]
        names.append(agent)
    return tuple(names)


def related(one: str, other: str) -> bool:
    """Whether the leases of one count for the other: the same agent, or one is above the other.

    Children of one parent (siblings) are not related: they exclude each other.
    """
    return one == other or one.startswith(other + "/") or other.startswith(one + "/")
