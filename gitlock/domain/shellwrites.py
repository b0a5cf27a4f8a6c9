"""What a shell command plainly writes to. Never run, never guessed: where it is not plain, there is nothing to say.

A false alarm costs more than a miss: what is missed is seen afterwards (in the worktree) and at the commit.
"""

from gitlock.domain.patchtext import diff_paths, is_patch, patch_paths
from gitlock.domain.shellgit import git_writes
from gitlock.domain.shellwords import Simple, simple_commands
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NESTED = 2  # levels of sh -c that are followed

_PREFIXES = {"sudo", "env", "command", "nohup", "time", "nice", "exec", "then", "do", "else", "elif", "if", "while",
             "until", "!", "{", "builtin"}  # fmt: skip
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")

# Programs that read, and write nothing but their output, whatever their options are.
_READERS = frozenset((
    "cat", "head", "tail", "less", "more", "ls", "tree", "stat", "file", "wc", "cut", "grep", "egrep", "fgrep", "rg",
    "ag", "diff", "cmp", "comm", "du", "df", "pwd", "cd", "echo", "printf", "true", "false", "test", "[", "which",
    "type", "whoami", "date", "env", "printenv", "uname", "basename", "dirname", "realpath", "readlink", "jq", "ps",
    "sleep", "man", "md5sum", "sha256sum", "sha1sum", "nl", "tac", "rev", "column", "hexdump", "xxd", "strings", "id",
    "git-lock", "export", "set", ":",
))  # fmt: skip
_GIT_READERS = frozenset((
    "status", "log", "diff", "show", "blame", "grep", "ls-files", "ls-tree", "rev-parse", "describe", "cat-file",
    "shortlog", "reflog", "lock", "merge-base", "rev-list", "remote", "config", "var", "version", "help",
))  # fmt: skip


class Write(Value):
    """A path that is written, relative to where the command begins (or absolute, or from ``~/``).

    Where it is a folder, the files ``inside`` it are meant instead, if any are named. ``tree`` says that everything
    below it may be changed; ``there`` that it is meant only if it exists, else it is the name of something else.
    ``sweeps`` is a word of ``shellgit``: git changes all of it, whoever is at work there; but not if there is a file
    ``unless`` in it, which is then what the command is about.
    """

    __slots__ = ("inside", "path", "sweeps", "there", "tree", "unless")

    def __init__(
        self, path: str, *, inside: tuple[str, ...] = (), tree: bool = False, there: bool = False, sweeps: str = "",
        unless: str = "",
    ) -> None:  # fmt: skip
        self.path = path
        self.sweeps = sweeps
        self.unless = unless
        self.inside = inside
        self.tree = tree
        self.there = there


class Seen(Value):
    """``writes`` are what is plain to see. ``patched`` are the files of an ``apply_patch`` that is the whole command,
    as exact as an edit. ``reads`` says that the whole command surely changes no file."""

    __slots__ = ("patched", "reads", "writes")

    def __init__(
        self, writes: tuple[Write, ...] = (), patched: tuple[str, ...] = (), *, reads: bool = False
    ) -> None:
        self.writes = writes
        self.patched = patched
        self.reads = reads


def look_at_command(text: str) -> Seen:
    """What a command line of sh plainly writes to."""
    return _look(text, 0)


def _look(text: str, level: int) -> Seen:
    try:
        commands = simple_commands(text)
    except ValueError:
        return Seen()
    writes: list[Write] = []
    patched: list[str] = []
    reads = "`" not in text and "$(" not in text  # what is substituted is run as well
    folders: dict[tuple[int, ...], str | None] = {(): ""}
    for command in commands:
        scope = command.scope
        if scope not in folders:
            outer = next(scope[:at] for at in range(len(scope) - 1, -1, -1) if scope[:at] in folders)
            folders[scope] = folders[outer]
        folder = folders[scope]
        redirected = [_at(folder, word.text) for word in command.writes if word.text is not None]
        kept = [path for path in redirected if path is not None and not path.startswith("/dev/")]
        writes += [Write(path) for path in kept]
        words = [word.text for word in command.words]
        name, args = _unwrapped(words)
        if name in ("cd", "pushd") and command.alone:
            folders[scope] = _changed(folder, args)
            continue
        found, patch, quiet = _command(name, args, command, level)
        reads = reads and quiet and not kept and len(redirected) == len(command.writes)
        for one in found:
            path = _at(folder, one.path)
            if path is not None:
                writes.append(one.replace(path=path))
        patched += [path for path in (_at(folder, one) for one in patch) if path is not None]
    whole = bool(patched) and all(_is_small(command) for command in commands)
    if not whole:
        writes += [Write(path) for path in patched]
        patched = []
    return Seen(tuple(dict.fromkeys(writes)), tuple(patched), reads=reads and not writes and bool(commands))


def _is_small(command: Simple) -> bool:
    """An ``apply_patch``, or the ``cd`` before it."""
    return bool(command.words) and command.words[0].text in ("apply_patch", "applypatch", "cd")


def _changed(folder: str | None, args: list[str | None]) -> str | None:
    """Where a ``cd`` leads; None where that is not plain."""
    plain = [one for one in args if one is None or one[:1] != "-" or one == "-"]
    if len(plain) != 1 or plain[0] in (None, "-"):
        return None
    return _at(folder, plain[0])


def _at(folder: str | None, path: str | None) -> str | None:
    """A path as it stands where the command begins; None where that is not known."""
    if not path:
        return None
    if path[0] == "/" or path.startswith("~/"):
        return path
    if folder is None:
        return None
    return f"{folder.rstrip('/')}/{path}" if folder else path


def _unwrapped(words: "list[str | None]") -> tuple[str | None, list[str | None]]:
    """The program and its arguments, without what only stands before them (``sudo``, ``A=b``, ``then``)."""
    at = 0
    while at < len(words):
        word = words[at]
        if word is None:
            return None, []
        head, equals, _ = word.partition("=")
        if equals and head.isidentifier():
            at += 1
        elif word in _PREFIXES:
            at += 1
            if at < len(words) and (words[at] or "")[:1] == "-":
                return None, []  # options of the wrapper, which may take words of their own
        elif word == "timeout" and at + 1 < len(words) and (words[at + 1] or "")[:1].isdigit():
            at += 2
        else:
            return word.rpartition("/")[2], words[at + 1 :]
    return "", []


def _command(
    name: str | None, args: "list[str | None]", command: Simple, level: int
) -> tuple[list[Write], list[str], bool]:
    """The writes of one program, the files of its patch, and whether it surely only reads."""
    if name is None:
        return [], [], False
    if name == "":
        return [], [], True
    if name == "git":
        sub = next((one for one in args if one is not None and one[:1] != "-"), "")
        return [Write(path, **what) for path, what in git_writes(args)], [], sub in _GIT_READERS
    if name in ("apply_patch", "applypatch"):
        text = command.here if command.here is not None else (args[0] if len(args) == 1 else None)
        return [], patch_paths(text) if text is not None and is_patch(text) else [], False
    script = args[1] if len(args) >= 2 and args[0] in ("-c", "-lc", "-ec") else None
    if name in _SHELLS and level < NESTED and script is not None:
        inner = _look(script, level + 1)
        return list(inner.writes) + [Write(path) for path in inner.patched], [], inner.reads
    reader = PROGRAMS.get(name)
    if reader is not None:
        return reader(args, command), [], False
    return [], [], name in _READERS


# -- programs, each from its arguments


def _files(args: "list[str | None]", takes: str = "", long: tuple[str, ...] = ()) -> list[str | None]:
    """The operands: what is no option, nor the argument of one of the short options ``takes`` or ``long`` ones."""
    found: list[str | None] = []
    at = 0
    while at < len(args):
        word = args[at]
        at += 1
        if word == "--":
            return found + args[at:]
        if word is None or word[:1] != "-" or word == "-":
            found.append(word)
        elif word.startswith("--"):
            at += word in long
        elif word[-1] in takes and not any(letter in takes for letter in word[1:-1]):
            at += 1
    return found


def _plain(words: "list[str | None]") -> list[Write]:
    return [Write(word) for word in words if word]


def _tee(args: "list[str | None]", _: Simple) -> list[Write]:
    return [one for one in _plain(_files(args)) if not one.path.startswith("/dev/")]


def _remove(args: "list[str | None]", _: Simple) -> list[Write]:
    return _plain(_files(args))


def _touch(args: "list[str | None]", _: Simple) -> list[Write]:
    return _plain(_files(args, "dtr", ("--date", "--reference")))


def _truncate(args: "list[str | None]", _: Simple) -> list[Write]:
    return _plain(_files(args, "sr", ("--size", "--reference")))


def _target(args: "list[str | None]") -> tuple[str | None, bool, list[str | None]]:
    """The folder that ``-t`` names, whether one is, and the other words."""
    rest: list[str | None] = []
    folder, named, at = None, False, 0
    while at < len(args):
        word = args[at]
        at += 1
        if word in ("-t", "--target-directory"):
            folder, named = (args[at] if at < len(args) else None), True
            at += 1
        elif word is not None and word.startswith("--target-directory="):
            folder, named = word.partition("=")[2], True
        else:
            rest.append(word)
    return folder, named, rest


def _copied(args: "list[str | None]", takes: str) -> tuple[list[str | None], list[Write]]:
    """The sources, and what is written at the destination."""
    folder, named, rest = _target(args)
    files = _files(rest, takes, ("--suffix", "--mode", "--owner", "--group"))
    if not named:
        if len(files) < 2:
            return [], []
        folder = files.pop()
    if not folder:
        return files, []
    names = tuple(one.rstrip("/").rpartition("/")[2] for one in files if one)
    return files, [Write(folder, inside=names)] if len(names) == len(files) else []


def _copy(args: "list[str | None]", _: Simple) -> list[Write]:
    return _copied(args, "S")[1]


def _install(args: "list[str | None]", _: Simple) -> list[Write]:
    return [] if "-d" in args else _copied(args, "Smog")[1]


def _move(args: "list[str | None]", _: Simple) -> list[Write]:
    sources, there = _copied(args, "S")
    return _plain(sources) + there if there else []


def _link(args: "list[str | None]", _: Simple) -> list[Write]:
    return _copied(args, "S")[1] if len(_files(args)) >= 2 else []


def _sed(args: "list[str | None]", _: Simple) -> list[Write]:
    return _in_place(args, "efl", ("--expression", "--file"), scripts="ef")


def _perl(args: "list[str | None]", _: Simple) -> list[Write]:
    return _in_place(args, "eEI", (), scripts="eE")


def _in_place(args: "list[str | None]", takes: str, long: tuple[str, ...], *, scripts: str) -> list[Write]:
    """The files of a ``sed -i`` or ``perl -pi``: all operands, but for the script where no option gives it."""
    inside = given = False
    files: list[str | None] = []
    at = 0
    while at < len(args):
        word = args[at]
        at += 1
        if word == "--":
            files += args[at:]
            break
        if word is None or word[:1] != "-" or word == "-":
            files.append(word)
        elif word.startswith("--"):
            inside = inside or word.partition("=")[0] == "--in-place"
            given = given or word.partition("=")[0] in long
            at += word in long
        else:
            for place, letter in enumerate(word[1:], 1):
                if letter == "i":
                    inside = True
                    break  # the rest is a suffix
                if letter in takes:
                    given = given or letter in scripts
                    at += place == len(word) - 1
                    break
    if not inside:
        return []
    files = [one for one in files if one != ""]  # sed -i '' of BSD
    return _plain(files if given else files[1:])


def _dd(args: "list[str | None]", _: Simple) -> list[Write]:
    return [Write(one[3:]) for one in args if one and one.startswith("of=") and not one.startswith("of=/dev/")]


def _patch(args: "list[str | None]", command: Simple) -> list[Write]:
    """``patch FILE``, and ``patch -pN <<EOF``, whose files stand in the text."""
    files = _files(args, "pidDoBFrVxYz", ("--strip", "--input", "--directory"))
    if files:
        return _plain(files[:1])
    if command.here is None or any(one is None or one[:2] in ("-d", "-i", "-o") for one in args):
        return []
    level = next((one for one in args if one is not None and one[:2] == "-p"), None)
    text = (level or "")[2:] or "0"
    return _plain(list(diff_paths(command.here, int(text)))) if text.isdigit() and len(text) < 3 else []


PROGRAMS: "dict[str, Callable[[list[str | None], Simple], list[Write]]]" = {
    "tee": _tee, "rm": _remove, "unlink": _remove, "touch": _touch, "truncate": _truncate, "cp": _copy, "mv": _move,
    "ln": _link, "install": _install, "sed": _sed, "gsed": _sed, "perl": _perl, "dd": _dd, "patch": _patch,
}  # fmt: skip
