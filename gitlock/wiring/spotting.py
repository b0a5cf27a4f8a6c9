"""Opening the repository of a file that somebody is about to edit, as the session that a hook's input names."""

import os

from gitlock.domain.policy import MODES, WARN
from gitlock.errors import ConfigError
from gitlock.git.config import finish_config, start_config
from gitlock.git.locate import locate_folder
from gitlock.git.repository import Repository
from gitlock.wiring.asking import asked_as
from gitlock.wiring.site import HOOK_GUARD_TIMEOUT, Site, store_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.locate import Spot
    from gitlock.git.process import Child, Git
    from gitlock.wiring.asking import Asking


def is_managed(spot: "Spot", git: "Git") -> bool:
    """Whether git-lock has anything to say there. Git is asked only where a map file lies there and nothing else."""
    folder = os.path.join(spot.common_dir, "agentlocks")
    if os.path.isdir(folder) or os.path.isfile(folder + ".mark"):
        return True
    if not os.path.exists(os.path.join(spot.top, ".gitlock.toml")):
        return False
    return git.elsewhere(spot.top).try_run("cat-file", "-e", "HEAD:.gitlock.toml")[0] == 0


def open_spot(spot: "Spot", config: "Child", git: "Git", asking: "Asking") -> Site:
    """The site of a file, for who asks."""
    settings = finish_config(config)
    repository = Repository(git.elsewhere(spot.top), spot.git_dir, spot.common_dir, spot.top, "", False)
    store = store_url(asking.environ, settings)
    agent, environ = asked_as(asking, spot, repository, settings.get("user.email"), store)
    return Site(repository, settings, environ, agent, guard_timeout=HOOK_GUARD_TIMEOUT)


def site_like(site: Site, top: str) -> Site | None:
    """The site of another worktree, for whoever this one is for; None where git-lock has nothing to say there."""
    spot = locate_folder(top)
    if spot is None or not is_managed(spot, site.repository.git):
        return None
    there = site.repository.git.elsewhere(spot.top)
    settings = finish_config(start_config(there))
    repository = Repository(there, spot.git_dir, spot.common_dir, spot.top, "", False)
    return Site(repository, settings, site.environ, site.agent)


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
