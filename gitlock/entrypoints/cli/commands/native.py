"""``git lock install --print NAME`` and ``--write``: our lines in a hook manager's own files."""

import os

from gitlock.domain.quoting import word
from gitlock.entrypoints import envelope
from gitlock.entrypoints.wording import visible
from gitlock.errors import UnsafeError, UsageError
from gitlock.git.hooks import (
    MANAGERS,
    MARKS,
    Addition,
    Folder,
    add,
    additions,
    afterwards,
    find_folder,
    other_form,
    store_of,
)
from gitlock.git.hooks.yamltext import insert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.repository import Repository

_OF_KIND = {"husky": "husky", "lefthook": "lefthook", "overcommit": "overcommit", "tracked": "hooks-path"}


class Native:
    """One manager's lines for these hooks, in this worktree."""

    def __init__(self, repository: "Repository", name: str, hooks: tuple[str, ...]) -> None:
        self.repository = repository
        self.name = name
        top = repository.require_top()
        self.top = top
        folder = find_folder(repository, hooks)
        if name == "hooks-path" and folder.kind in ("own", "foreign"):
            raise UsageError(
                "core.hooksPath names no folder of this project here",
                hint="git config core.hooksPath .githooks (or: git lock install)",
            )
        if name == "global" and (folder.kind != "foreign" or folder.scope not in ("global", "system")):
            raise UsageError("no global core.hooksPath is in force here", hint="git lock install")
        self.wanted = additions(name, hooks, top, folder.path)
        covered = tuple(dict.fromkeys(hook for one in self.wanted for hook in one.hooks))
        self.afterwards = afterwards(name, covered)
        self.missing = tuple(hook for hook in hooks if hook not in covered)

    def shown(self) -> list[str]:
        """What to add where, to be copied."""
        rows = []
        for path, text in self.texts().items():
            place = self.place(path)
            where = "after its first line" if not self.wanted[0].keys else "where its keys are there, under them"
            rows += [f"# in {visible(place)}, {where}:", *text.rstrip("\n").split("\n"), ""]
        rows += [f"# then: {command}" for command in self.afterwards]
        return rows if rows[-1:] != [""] else rows[:-1]

    def texts(self) -> dict[str, str]:
        """The lines of each file, marks included."""
        found: dict[str, str] = {}
        for one in self.wanted:
            found[one.path] = found.get(one.path, "") + _text(one)
        return found

    def write(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Adds them; the files that were written, and those that had them."""
        other = other_form(self.name, self.top)
        if other is not None:
            raise UnsafeError(
                f"'{other}' is left alone: only YAML is written",
                hint=f"git lock install --print {self.name} (to be put into its form by hand)",
            )
        store, mode = store_of(self.repository)
        done = add(self.repository, self.wanted, store, mode, bare_script=self.name == "husky")
        return done.written, done.unchanged

    def json(self) -> dict[str, object]:
        """For the envelope."""
        files = [{"path": envelope.name(self.place(path)), "text": text} for path, text in self.texts().items()]
        return {"manager": self.name, "files": files, "afterwards": list(self.afterwards)}

    def place(self, path: str) -> str:
        """The file as one would name it at the top of the worktree."""
        inside = path.startswith(self.top.rstrip("/") + "/")
        return os.path.relpath(path, self.top) if inside else path


def manager_of(folder: Folder) -> str | None:
    """Which manager ``--write`` alone means; None where there is none, or it is everybody's and must be named."""
    return _OF_KIND.get(folder.kind)


def write_command(name: str) -> str:
    """The command that adds the lines."""
    assert name in MANAGERS
    return f"git lock install --print {word(name)} --write"


def _text(one: Addition) -> str:
    if one.keys:
        return insert(b"", one.keys, one.lines, MARKS)[1].decode()
    return "".join(f"{line}\n" for line in (MARKS[0], *one.lines, MARKS[1]))
