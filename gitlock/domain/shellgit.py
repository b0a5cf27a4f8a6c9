"""What a git command plainly writes to in the working tree. Sources: the manual pages of the commands named here."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class What(TypedDict, total=False):
        """How a path is written: see ``gitlock.domain.shellwrites.Write``."""

        inside: tuple[str, ...]
        tree: bool
        there: bool
        sweeps: str
        unless: str

    Found = list[tuple[str, What]]

FOLDER, WORKTREE = "folder", "worktree"  # what a command sweeps over: all below a folder, or all that git keeps here
_TREE: "What" = {"tree": True, "sweeps": FOLDER}
_WHOLE: "What" = {"tree": True, "sweeps": WORKTREE}


def git_writes(args: "list[str | None]") -> "Found":
    """Paths, as seen from where git is called, and how each is written. Nothing where it is not plain."""
    folder, at = "", 0
    while at < len(args):
        word = args[at]
        if word is None:
            return []
        if word == "-C":
            where = args[at + 1] if at + 1 < len(args) else None
            if not where:
                return []
            folder = where if where[:1] == "/" or not folder else f"{folder.rstrip('/')}/{where}"
            at += 2
        elif word == "-c":
            at += 2
        elif word.startswith(("--git-dir", "--work-tree", "--exec-path", "--namespace")):
            return []
        elif word[:1] == "-":
            at += 1
        else:
            break
    name = args[at] if at < len(args) else None
    read = _COMMANDS.get(name or "")
    if read is None:
        return []
    found = read(args[at + 1 :])
    if not folder:
        return found
    return [(path if path[:1] == "/" else f"{folder.rstrip('/')}/{path}", what) for path, what in found]


def _split(args: "list[str | None]") -> "tuple[list[str | None], list[str | None], bool]":
    """The words before ``--``, those after it, and whether it is there."""
    if "--" in args:
        at = args.index("--")
        return args[:at], args[at + 1 :], True
    return args, [], False


_HELP = ("-h", "--help")


def _options(words: "list[str | None]") -> list[str]:
    return [one for one in words if one is not None and one[:1] == "-"]


def _operands(words: "list[str | None]") -> "list[str | None]":
    return [one for one in words if one is None or one[:1] != "-" or one == "-"]


def _paths(words: "list[str | None]") -> "Found":
    """Pathspecs: the current folder is a tree, and so is what git itself would expand; magic is not plain."""
    found: Found = []
    for one in words:
        if one in (".", "./", ":/", "*"):
            found.append((".", _TREE))
        elif one and one[:1] != ":" and frozenset("*?[").isdisjoint(one):
            found.append((one, {}))
    return found


def _checkout(args: "list[str | None]") -> "Found":
    before, after, parted = _split(args)
    if parted:
        return _paths(after)
    options, words = _options(before), _operands(before)
    if any(one in ("-p", "--patch", *_HELP) for one in options):
        return []
    if any(one in ("-b", "-B", "--orphan", "-t", "--track", "-d", "--detach") for one in options) or words == ["-"]:
        return [(".", _WHOLE)]
    if words in (["."], ["*"], [":/"]):
        return [(".", _TREE)]
    if any(one in ("-f", "--force") for one in options):
        return [(".", _WHOLE)]
    if words in (["HEAD"], ["@"]):
        return []
    if len(words) == 1 and words[0]:
        return [(words[0], {"there": True}), (".", {**_WHOLE, "unless": words[0]})]  # a file, or else a branch
    return [(one, {"there": True}) for one in words if one]


def _restore(args: "list[str | None]") -> "Found":
    before, after, _ = _split(args)
    options = _options(before)
    short = "".join(one[1:] for one in options if one[:2] != "--")
    staged = "--staged" in options or "S" in short
    if (staged and "--worktree" not in options and "W" not in short) or "--patch" in options or "p" in short:
        return []
    words: list[str | None] = []
    at = 0
    while at < len(before):
        one = before[at]
        at += 1
        if one in ("-s", "--source", "--pathspec-from-file"):
            at += 1
        elif one is None or one[:1] != "-":
            words.append(one)
    return _paths([*words, *after])


def _reset(args: "list[str | None]") -> "Found":
    hard = any(one in ("--hard", "--merge", "--keep") for one in _options(args))
    return [(".", _WHOLE)] if hard else []


def _stash(args: "list[str | None]") -> "Found":
    before, after, parted = _split(args)
    words = _operands(before)
    if words[:1] in ([], ["push"], ["save"]) and not any(one in ("-p", "--patch") for one in _options(before)):
        if parted:
            return _paths(after)
        named = words[1:] if words[:1] == ["push"] and not _takes_message(before) else []
        return _paths(named) if named else [(".", _WHOLE)]
    return [(".", _WHOLE)] if words[0] in ("pop", "apply", "branch") else []


def _takes_message(words: "list[str | None]") -> bool:
    return any(one in ("-m", "--message") for one in words)


def _remove(args: "list[str | None]") -> "Found":
    before, after, _ = _split(args)
    if any(one in ("--cached", "-n", "--dry-run") for one in _options(before)):
        return []
    return _paths([*_operands(before), *after])


def _move(args: "list[str | None]") -> "Found":
    before, after, _ = _split(args)
    words = [*_operands(before), *after]
    if len(words) < 2 or any(not one for one in words) or any(one in ("-n", "--dry-run") for one in _options(before)):
        return []
    plain = [one for one in words if one]
    names = tuple(one.rstrip("/").rpartition("/")[2] for one in plain[:-1])
    found: Found = [(one, {}) for one in plain[:-1]]
    return [*found, (plain[-1], {"inside": names})]


def _clean(args: "list[str | None]") -> "Found":
    before, after, _ = _split(args)
    options = _options(before)
    forced = any(one == "--force" or (one[:2] != "--" and "f" in one) for one in options)
    dry = any(one == "--dry-run" or (one[:2] != "--" and "n" in one) for one in options)
    if not forced or dry:
        return []
    words = [*_operands(before), *after]
    return _paths(words) if words else [(".", _TREE)]


def _moves(args: "list[str | None]") -> "Found":
    """A switch, a merge, a rebase: what the branch or the files are, they are for everybody in this worktree."""
    quiet = frozenset(_options(args)) & {*_HELP, "--dry-run", "--quit", "--show-current-patch", "--edit-todo"}
    return [] if quiet else [(".", _WHOLE)]


_COMMANDS = {
    "checkout": _checkout, "restore": _restore, "reset": _reset, "stash": _stash, "rm": _remove, "mv": _move,
    "clean": _clean, "switch": _moves, "merge": _moves, "rebase": _moves, "pull": _moves,
}  # fmt: skip
