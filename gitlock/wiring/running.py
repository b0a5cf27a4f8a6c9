"""A program without hooks as a session of its own: ``run --presence``."""

import os

from gitlock.domain.agent import Agent
from gitlock.wiring.identity import RUNNER
from gitlock.wiring.site import Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.lease import Holder

PROGRAM_LIMIT = 40  # characters of a program's name that stay in its session's
ID_BYTES = 4  # random bytes that tell two sessions of one program apart


class Runner(Site):
    """A site as the program that runs in it. ``process`` is the program's, once it has started, else ours.

    Where nobody but a person asks, the program is an agent by itself, named as its session; who was named, or is at
    work here as an agent already, is the agent, and this one session more of it. ``ends_with`` says which of its
    leases end with it: None for all.
    """

    def __init__(self, site: Site, command: str, *, is_person: bool) -> None:
        self.program = os.path.basename(command) or command
        self.name = f"{_plain(self.program)}-{os.urandom(ID_BYTES).hex()}"
        own = site.agent.source in ("user.email", "host") and not is_person
        kind = "agent" if own and site.agent.kind == "human" else site.agent.kind
        agent = Agent(self.name if own else site.agent.id, kind, "GITLOCK_AGENT")
        self.ends_with = None if own else self.name
        environ = {
            **site.environ, "GITLOCK_AGENT": agent.id, "GITLOCK_KIND": kind, "GITLOCK_SESSION": self.name,
            RUNNER: str(os.getpid()),
        }  # fmt: skip
        super().__init__(site.repository, site.settings, environ, agent)
        self.process = os.getpid()
        self._started: int | None = None

    def runs_as(self, process: int) -> None:
        """The program has started."""
        from gitlock.wiring.liveness import start_time

        self.process = process
        self._started = start_time(process)  # asked now: when it has ended nobody can tell any more

    def holder(self, pid: int | None = None) -> "Holder":
        """Where the program works."""
        found = super().holder(self.process if pid is None else pid)
        return found if self._started is None or pid is not None else found.replace(started=self._started)


def environ_of_nobody() -> dict[str, str]:
    """What a command sees that runs outside of every repository: what we see, without a secret that is ours."""
    return {name: text for name, text in os.environ.items() if name != "GITLOCK_TOKEN"}


def _plain(program: str) -> str:
    """A program's name as the beginning of an agent's."""
    text = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in program)[:PROGRAM_LIMIT]
    return text.strip(".-_") or "program"
