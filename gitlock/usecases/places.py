"""From what a person typed to a path below the top of the worktree: one identity for every spelling.

``./x``, ``src//a``, ``a/../b``, an absolute path, a symlinked folder inside the tree and a symlink from outside to the
tree all give the same answer. A path outside the tree, or inside ``.git``, is refused.
"""

import os

from gitlock.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.repository import Repository

_GLOB = frozenset("*?[\\")


def has_glob(text: str) -> bool:
    """Whether the text holds a character that means something in a pattern."""
    return not _GLOB.isdisjoint(text)


def literal_place(repository: "Repository", text: str, *, from_top: bool = False) -> str:
    """The path that ``text`` names, relative to the top, without a final ``/``; the top itself is empty.

    Folders on the way are resolved, the last name is not: git tracks a link as a link. A final ``/`` makes it a folder.
    """
    if "\0" in text:
        raise UsageError("a path can't hold a NUL byte", id="bad-path")
    top = repository.top
    if top is None:
        return _lexical(text, text)
    start = top if from_top or not repository.prefix else os.path.join(top, repository.prefix)
    path = os.path.join(start, text)
    head, name = os.path.split(path.rstrip("/") or "/")
    if name in ("", ".", "..") or path.endswith("/"):
        resolved = os.path.realpath(path)
    else:
        resolved = os.path.join(os.path.realpath(head), name)
    real_top = os.path.realpath(top)
    if resolved != real_top and not resolved.startswith(real_top.rstrip("/") + "/"):
        raise UsageError(
            f"'{text}' is outside the worktree '{top}'", id="bad-path", hint="name a path inside the repository"
        )
    place = resolved[len(real_top.rstrip("/")) + 1 :] if resolved != real_top else ""
    return _outside_git(place, text)


def pattern_place(repository: "Repository", text: str, *, from_top: bool = False) -> str:
    """The pattern that ``text`` means, relative to the top: its leading names without wildcards are resolved as paths
    are, the rest is kept. Segments of ``.`` and ``..`` are worked out where nothing but names stands before them."""
    from gitlock.domain.pattern import escape

    if "\0" in text:
        raise UsageError("a pattern can't hold a NUL byte", id="bad-pattern")
    top = repository.top
    if text.startswith("/"):
        inside = None
        if top is not None:
            inside = _below(top, text)
        text, from_top = (inside if inside is not None else text.lstrip("/")), True
    segments = [segment for segment in text.split("/") if segment not in ("", ".")]
    folder = text.endswith("/") and bool(segments)
    lead = []
    while segments and not has_glob(segments[0]) and len(segments) > 1:
        lead.append(segments.pop(0))
    if segments and segments[0] == "..":
        lead.append(segments.pop(0))
    if ".." in segments:
        raise UsageError(f"'{text}': '..' after a wildcard has no meaning", id="bad-pattern")
    base = "/".join(lead)
    if top is not None:
        base = literal_place(repository, base + "/" if base else ".", from_top=from_top)
    rest = "/".join(segments) + ("/" if folder and segments else "")
    if not rest:
        return f"{escape(base)}/" if base else "**"
    if not has_glob(rest.rstrip("/")) and top is not None:
        place = literal_place(repository, os.path.join(base, rest.rstrip("/")), from_top=True)
        return escape(place) + ("/" if folder else "")
    return f"{escape(base)}/{rest}" if base else rest


def _below(top: str, text: str) -> str | None:
    """An absolute pattern as one from the top, where its leading folders lead into the tree, through links or not."""
    segments = text.split("/")
    names = next((at for at, segment in enumerate(segments) if has_glob(segment)), len(segments) - 1)
    real_top = os.path.realpath(top).rstrip("/")
    folder = os.path.realpath("/".join(segments[:names]) or "/")
    if folder != real_top and not folder.startswith(real_top + "/"):
        return None
    return "/".join([folder[len(real_top) + 1 :], *segments[names:]]).lstrip("/")


def exists(repository: "Repository", place: str) -> bool:
    """Whether something of that name is in the worktree (a dangling link is something)."""
    return repository.top is not None and os.path.lexists(os.path.join(repository.top, place))


def is_folder(repository: "Repository", place: str) -> bool:
    """Whether it is a folder of the worktree, and no link to one."""
    if repository.top is None:
        return False
    path = os.path.join(repository.top, place)
    return os.path.isdir(path) and (not place or not os.path.islink(path))


def _lexical(path: str, text: str) -> str:
    parts: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            if not parts:
                raise UsageError(f"'{text}' is outside the repository", id="bad-path")
            parts.pop()
        elif segment not in ("", "."):
            parts.append(segment)
    return "/".join(parts)


def _outside_git(place: str, text: str) -> str:
    if ".git" in place.lower().split("/"):
        raise UsageError(f"'{text}' is inside '.git', which git itself never commits", id="bad-path")
    return place
