"""What a hook works with: the site, and the policy as of HEAD (an uncommitted edit loosens nothing)."""

import os

from gitlock.entrypoints.hooks.answers import map_entry
from gitlock.git.config import finish_config
from gitlock.git.process import failure
from gitlock.wiring.identity import resolve_agent
from gitlock.wiring.policies import policy_of_text, remember_mode
from gitlock.wiring.site import HOOK_GUARD_TIMEOUT, Site, store_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.policy import Policy
    from gitlock.git.process import Child, Git
    from gitlock.git.repository import Repository

_NAME = ".gitlock.toml"


def start_map_file(git: "Git") -> "Child":
    """Asks for the map file as of HEAD, and as of the index for a repository without commits."""
    return git.start("cat-file", "--batch", stdin=f"HEAD:{_NAME}\n:{_NAME}\n".encode())


class Setting:
    """Opened in two steps, so that git's answers are awaited as late as possible."""

    def __init__(self, repository: "Repository", environ: dict[str, str], config: "Child", map_file: "Child") -> None:
        self.repository = repository
        self.environ = environ
        self.folder = os.path.join(repository.common_dir, "agentlocks")
        settings = finish_config(config)
        self.text = _map_text(repository.git, map_file)
        self.settings = settings
        self.receipt: tuple[str, ...] = ()  # the trailers of the commit that was judged
        self._site: Site | None = None
        self._policy: Policy | None = None

    @property
    def managed(self) -> bool:
        """Whether git-lock has anything to say here. The mark outlives a store that was deleted: then it is not known
        what is held, and that is not "nothing"."""
        return self.text is not None or os.path.isdir(self.folder) or os.path.isfile(self.folder + ".mark")

    @property
    def site(self) -> Site:
        """The site, as whoever the environment says."""
        if self._site is None:
            store = store_url(self.environ, self.settings)
            agent = resolve_agent(None, None, self.environ, self.settings.get("user.email"), self.repository, store)
            self._site = Site(
                self.repository, self.settings, self.environ, agent, guard_timeout=HOOK_GUARD_TIMEOUT
            )
        return self._site

    @property
    def policy(self) -> "Policy":
        """The policy in force; ``ConfigError`` for a broken file or setting."""
        if self._policy is None:
            self._policy = policy_of_text(self.text, self.settings, self.folder)
            if os.path.isdir(self.folder):
                remember_mode(self.folder, self._policy.override or self._policy.mode, self._policy.on_missing)
        return self._policy


def _map_text(git: "Git", child: "Child") -> bytes | None:
    status, out, err = child.finish()
    if status:
        raise failure(("cat-file",), status, err)
    at_head, rest = map_entry(out)
    if at_head is not None:
        return at_head
    in_index, _ = map_entry(rest)
    if in_index is None or git.try_run("rev-parse", "-q", "--verify", "HEAD^{commit}")[0] == 0:
        return None
    return in_index
