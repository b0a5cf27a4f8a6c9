"""Opening the repository of a file that somebody is about to edit, as the session that a hook's input names."""

import os

from gitlock.domain.agent import Agent, valid_agent
from gitlock.domain.policy import MODES, WARN
from gitlock.errors import ConfigError, UsageError
from gitlock.git.config import finish_config
from gitlock.git.repository import Repository
from gitlock.wiring.identity import resolve_agent, session_name
from gitlock.wiring.site import HOOK_GUARD_TIMEOUT, Site, store_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.locate import Spot
    from gitlock.git.process import Child, Git


def is_managed(spot: "Spot", git: "Git") -> bool:
    """Whether git-lock has anything to say there. Git is asked only where a map file lies there and nothing else."""
    folder = os.path.join(spot.common_dir, "agentlocks")
    if os.path.isdir(folder) or os.path.isfile(folder + ".mark"):
        return True
    if not os.path.exists(os.path.join(spot.top, ".gitlock.toml")):
        return False
    return git.elsewhere(spot.top).try_run("cat-file", "-e", "HEAD:.gitlock.toml")[0] == 0


class Asking:
    """Who asks: the session and sub-agent that a program names, by our names, and where it stands."""

    __slots__ = ("child", "environ", "given", "home", "session")

    def __init__(
        self, program: str, session: str, child: str, given: str | None, home: "Spot | None", environ: dict[str, str]
    ) -> None:
        self.session = session_name(program, session) or program
        self.child = (session_name("", child) or "").lstrip("-")
        self.given = given
        self.home = home
        self.environ = {**environ, "GITLOCK_SESSION": self.session}


def open_spot(spot: "Spot", config: "Child", git: "Git", asking: Asking) -> Site:
    """The site. Whose worktree we stand in counts only where that is of the same repository as the file."""
    settings = finish_config(config)
    there = git.elsewhere(spot.top)
    repository = Repository(there, spot.git_dir, spot.common_dir, spot.top, "", False)
    home = asking.home
    stands = home.git_dir if home is not None and home.common_dir == spot.common_dir else spot.common_dir
    environ = asking.environ
    agent = resolve_agent(
        asking.given, None, environ, settings.get("user.email"), repository.replace(git_dir=stands),
        store_url(environ, settings),
    )  # fmt: skip
    if asking.child:
        environ = {**environ, "GITLOCK_SESSION": f"{asking.session}/{asking.child}"}
        try:
            agent = Agent(valid_agent(f"{agent.id}/{asking.child}"), agent.kind, agent.source)
        except UsageError:
            pass  # the two names are too long together: it works as its parent
    return Site(repository, settings, environ, agent, guard_timeout=HOOK_GUARD_TIMEOUT)


def mode_setting(settings: dict[str, str], name: str, default: str = WARN) -> str:
    """A setting ``gitlock.NAME`` that says what a finding does: enforce, warn or off."""
    value = settings.get(f"gitlock.{name.lower()}", default)
    if value not in MODES:
        raise ConfigError(
            f"git config gitlock.{name} is '{value}': it must be one of {', '.join(MODES)}",
            hint=f"git config --show-origin gitlock.{name}",
            id="bad-setting",
        )
    return value
