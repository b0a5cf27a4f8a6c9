"""Git's own configured hooks (git 2.54 and later): they run whatever ``core.hooksPath`` says, and touch nobody's files.

``<common>/agentlocks-hooks/`` holds one file of configuration and a stub for each hook; one line of the repository's
own configuration includes the former. A configured hook that names no command stops every git command, and so would an
included file that not everybody may open who may open the configuration. So the file is complete before it gets its
name, it lies beside the store's closed folder and not in it, and its commands look before they start anything.
Why so: docs/decisions/0005-configured-hooks.md.
"""

import os
import stat

from gitlock.git.hooks.disk import FRESH, own_as, remove_if_empty, sync_folder, unlink, write_fresh
from gitlock.git.hooks.including import exclude, include
from gitlock.git.hooks.managers import read_script
from gitlock.git.hooks.stub import GATES, calls_us, provenance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.git.process import Git

FOLDER = "agentlocks-hooks"
FILE = "git.config"
INCLUDE = f"{FOLDER}/{FILE}"  # relative to the file that includes it, so that a repository can be moved
PREFIX = "git-lock-"  # a name must not be an event's: newer gits stop at one that is

_HEAD = """\
# git-lock: the hooks of git 2.54 and later. `git lock install` wrote this file, and `git lock uninstall` takes it away.
# Take it away by hand, and git asks git-lock no more, and misses nothing.
"""

# Git puts "$@" after the last line. In a linked worktree GIT_DIR is <common>/worktrees/<name>; `git worktree add` sets
# none for its post-checkout, and .git is a file there that names it.
_COMMAND = """\
gl_mode=
gl_dir=${GIT_DIR:-.git}
[ -f "$gl_dir" ] && read -r gl gl_dir <"$gl_dir"
for gl in "$gl_dir" "$gl_dir/../.."; do
  [ -x "$gl/agentlocks-hooks/@HOOK@" ] && exec "$gl/agentlocks-hooks/@HOOK@" "$@"
  [ -f "$gl/agentlocks/mode" ] && read -r gl_mode <"$gl/agentlocks/mode"
done
echo "git-lock: its file for @HOOK@ is gone, so nothing was checked. To mend it: git lock install" >&2@GATE@
:"""
_GATE = """
[ "$gl_mode" = "enforce closed" ] && exit 20"""


def understands(git: "Git") -> bool:
    """Whether this git has configured hooks: asked of itself, as a version would not tell of back-ports."""
    return git.try_run("hook", "list", "pre-commit")[0] in (0, 1)


def folder_of(common_dir: str) -> str:
    """Where our file of configuration and its stubs lie."""
    return os.path.join(common_dir, FOLDER)


def stub_path(common_dir: str, hook: str) -> str:
    """The file that git's configuration names for this hook."""
    return os.path.join(common_dir, FOLDER, hook)


def configured(git: "Git", common_dir: str, hooks: tuple[str, ...]) -> dict[str, str]:
    """The hooks for which git's configuration asks us here, each with the file or the name that does."""
    running = {hook: git.start("hook", "list", hook) for hook in hooks}
    listed = {hook: child.finish() for hook, child in running.items()}
    if any(status not in (0, 1) for status, _, _ in listed.values()):
        return {}
    commands: dict[str, bytes] | None = None
    found: dict[str, str] = {}
    for hook, (_, out, _) in listed.items():
        for name in os.fsdecode(out).split("\n")[:-1]:  # one that is turned off has a word and a tab before its name
            if name == PREFIX + hook:
                path = stub_path(common_dir, hook)
                if os.access(path, os.X_OK) and provenance(read_script(path)) == "pristine":
                    found[hook] = path
            elif "\t" not in name:
                commands = _commands(git) if commands is None else commands
                if calls_us(commands.get(name, b""), hook):
                    found.setdefault(hook, f"hook.{name}.command")
    return found


def put(git: "Git", common_dir: str, hooks: tuple[str, ...], rendered: "Callable[[str], bytes]") -> tuple[str, ...]:
    """Makes git's configuration ask us; the names of the hooks that were not so yet. Stubs, file, line: in this order.

    A hook that is there already stays, whether it is named or not.
    """
    folder = folder_of(common_dir)
    config = os.path.join(common_dir, "config")
    mode = stat.S_IMODE(os.stat(config).st_mode)
    _make_folder(folder, common_dir, mode)
    there = tuple(name for name in names(folder) if name not in hooks)
    written = []
    for hook in hooks:
        path, data = stub_path(common_dir, hook), rendered(hook)
        if read_script(path) != data or not os.access(path, os.X_OK):
            write_fresh(path, data, 0o755 if mode & 0o004 else 0o755 & _executable(mode))
            os.rename(path + FRESH, path)
            written.append(hook)
    path, data = os.path.join(folder, FILE), _document((*hooks, *there))
    if read_script(path) != data:
        written = list(dict.fromkeys((*written, *(hook for hook in hooks if hook not in _events(read_script(path))))))
        write_fresh(path, data, mode & 0o666)
        os.rename(path + FRESH, path)
    sync_folder(folder)
    if include(git, config, INCLUDE):
        written = list(hooks)
    return tuple(written)


def remove(git: "Git", common_dir: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Takes it all away, the file first, so that nothing half is ever asked; what was removed, and what was left."""
    folder = folder_of(common_dir)
    config = os.path.join(common_dir, "config")
    removed: list[str] = []
    left: list[tuple[str, str]] = []
    if os.path.isdir(folder) and not os.path.islink(folder):
        for name in (FILE, *names(folder)):
            path = os.path.join(folder, name)
            unlink(path + FRESH)
            if name == FILE or provenance(read_script(path)) == "pristine":
                if os.path.lexists(path):
                    os.unlink(path)
                    removed.append(path)
            elif os.path.lexists(path):
                left.append((path, "not as git-lock wrote it: not taken away, and not run any more"))
    if exclude(git, config, INCLUDE) and not removed:
        removed.append(config)
    if os.path.isdir(folder):
        remove_if_empty(folder)
    return tuple(removed), tuple(left)


def _document(hooks: tuple[str, ...]) -> bytes:
    parts = [_HEAD]
    for hook in hooks:
        text = _COMMAND.replace("@GATE@", _GATE if hook in GATES else "")
        text = text.replace("@HOOK@", hook).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n\\\n")
        # The command first: a reader that is cut off would not meet an event without one.
        parts.append(f'[hook "{PREFIX}{hook}"]\n\tcommand = "{text}"\n\tevent = {hook}\n')
    return "".join(parts).encode()


def _events(document: bytes) -> list[str]:
    return [line[9:].decode() for line in document.split(b"\n") if line.startswith(b"\tevent = ")]


def names(folder: str) -> list[str]:
    """The hooks that have a stub of ours there."""
    try:
        found = sorted(name.removesuffix(FRESH) for name in os.listdir(folder))
    except OSError:
        return []
    return [name for name in dict.fromkeys(found) if name != FILE]


def _make_folder(folder: str, common_dir: str, mode: int) -> None:
    if not os.path.isdir(folder):
        os.mkdir(folder, 0o700)
        os.chmod(folder, _executable(mode) & 0o777)
        own_as(folder, common_dir)


def _executable(mode: int) -> int:
    """The mode of a folder, or of a program, that may be used by whoever may read a file of this mode."""
    return 0o700 | mode | (mode & 0o444) >> 2


def _commands(git: "Git") -> dict[str, bytes]:
    status, out, _ = git.try_run("config", "-z", "--get-regexp", r"^hook\..*\.command$")
    found = {}
    for row in out.split(b"\0")[:-1] if status == 0 else []:
        name, _, value = row.partition(b"\n")
        found[os.fsdecode(name[5:-8])] = value
    return found
