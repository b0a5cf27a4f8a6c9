"""The set-up commands of a commit, for who asks about them and for who runs them."""

from gitlock.domain.policy import MAP_FILE
from gitlock.stores.files.trusted import TrustBook
from gitlock.usecases.spawning.trusting import Setup, setup_commands
from gitlock.wiring.policies import policy_of_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site

SHORT = 10  # characters of a commit's name, or of a digest


def setup_at(site: "Site", book: TrustBook, commit: str, path: str = MAP_FILE) -> Setup:
    """The set-up that a commit's map file asks for; ``ConfigError`` where that file can't be read."""
    git = site.repository.git
    status, data, _ = git.try_run("cat-file", "blob", f"{commit}:{path}")
    policy = policy_of_text(data if status == 0 else None, site.settings, site.folder)
    commands = (policy.spawn or {}).get("setup")
    texts = tuple(text for text in commands if isinstance(text, str)) if isinstance(commands, list | tuple) else ()
    return setup_commands(git, texts, commit, site.repository.common_dir, book)


def untrusted_warning(setup: Setup, commit: str) -> tuple[str, str]:
    """What is said when commands were not run, and the command for a person."""
    count = len(setup.commands)
    them = "it" if count == 1 else "them"
    said = f"{count} set-up command{'' if count == 1 else 's'} of {MAP_FILE} did not run: no person has trusted {them}"
    return said, f"a person, in a terminal of their own: git lock trust --at {commit[:SHORT]}"
