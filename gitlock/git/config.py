"""Settings as git itself reads them: ``git -c``, includes, per-worktree and global files, in one call."""

import os

from gitlock.errors import ConfigError
from gitlock.git.process import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Child, Git

# What we read, as a regular expression of git's. A hook's stub asks for the same and says so.
WANTED = r"^(gitlock\.|user\.email$|core\.(ignorecase|precomposeunicode|sharedrepository|hookspath|bare)$)"


# And with it, where git looks for the repository.
PLACING = WANTED[:-1] + r"|core\.(worktree|repositoryformatversion)$|extensions\.)"


def start_config(git: "Git", wanted: str = WANTED) -> "Child":
    """Asks for everything we read; ``finish_config`` reads the answer."""
    return git.start("config", "-z", "--get-regexp", wanted)


def finish_config(child: "Child") -> dict[str, str]:
    """Settings by name (section and variable in lower case); the last value of each counts, as in git."""
    status, out, err = child.finish()
    if status == 1:
        return {}
    if status:
        error = failure(("config",), status, err)
        if error.id != "git-failed":
            raise error
        said = err.strip().splitlines()
        raise ConfigError(f"git can't read its configuration: {said[0] if said else status}", id="bad-setting")
    settings = {}
    for row in os.fsdecode(out).split("\0")[:-1]:
        name, newline, value = row.partition("\n")
        settings[name] = value if newline else "true"  # a variable without "=" is a true boolean
    return settings


def is_true(value: str | None) -> bool:
    """Git's idea of a true boolean."""
    if value is None:
        return False
    return value.lower() in ("true", "yes", "on") or (value.isdigit() and value.strip("0") != "")


def is_false(value: str | None) -> bool:
    """Git's idea of a false one; what is not set at all is none."""
    return value is not None and (value.lower() in ("", "false", "no", "off") or value == "0")
