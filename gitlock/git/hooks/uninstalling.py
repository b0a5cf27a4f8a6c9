"""Taking our stubs away, and giving back what was there before: each by one rename, so that no moment is without."""

import os

from gitlock.domain.value import Value
from gitlock.git.hooks import configured
from gitlock.git.hooks.adding import take_out
from gitlock.git.hooks.disk import (
    FRESH,
    Guard,
    Record,
    has_same_content,
    is_folder,
    is_there,
    remove_if_empty,
    sync_folder,
    unlink,
    unwritable,
)
from gitlock.git.hooks.looking import HOOKS
from gitlock.git.hooks.managers import find_folder, is_below, maker, read_script, script_of
from gitlock.git.hooks.stub import BEFORE, provenance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.repository import Repository

NOTES = ("gitlock-asked", "gitlock-judged", "gitlock-receipt", "gitlock-template")

_EDITED = "a stub of ours that somebody has edited: not taken away"
_LINK = "a link to a stub of ours: not taken away"
_OTHER = "kept: another program's hook is now in its place"


class UninstallOutcome(Value):
    """What ``uninstall`` did, by paths: given back, taken away, and left, which are pairs of a path and why."""

    __slots__ = ("left", "removed", "restored")

    def __init__(self, restored: tuple[str, ...], removed: tuple[str, ...], left: tuple[tuple[str, str], ...]) -> None:
        self.restored = restored
        self.removed = removed
        self.left = left


def uninstall(repository: "Repository") -> UninstallOutcome:
    """Gives back what was there before, in every folder of this repository that we may have written to.

    Takes away only stubs that are byte for byte as some version of git-lock wrote them, and nothing outside the
    common git folder: a repository that was copied must not undo what its original has installed.
    """
    record = Record(os.path.join(repository.common_dir, "agentlocks"))
    folder = find_folder(repository, HOOKS)
    known = [os.path.join(repository.common_dir, "hooks"), folder.path, *record.folders, *record.made]
    folders = [place for place in dict.fromkeys(known) if is_below(place, repository.common_dir)]
    work = _Work()
    try:
        with Guard(repository.common_dir):
            work.turn_off(repository)
            for place in folders:
                if is_folder(place):
                    work.clear(place)
                if place in record.made:
                    remove_if_empty(place)
            work.take_out(record)
            _forget_notes(repository.common_dir)
            if not work.left:
                record.remove()
    except OSError as fault:
        raise unwritable(folder.path, fault) from fault
    return UninstallOutcome(tuple(work.restored), tuple(work.removed), tuple(work.left))


def _forget_notes(common_dir: str) -> None:
    """The notes that one hook leaves for the next, in every worktree's own git folder."""
    linked = os.path.join(common_dir, "worktrees")
    names = os.listdir(linked) if os.path.isdir(linked) else []
    for folder in (common_dir, *(os.path.join(linked, name) for name in names)):
        for note in NOTES:
            try:
                os.unlink(os.path.join(folder, note))
            except OSError:
                pass  # not there, as a rule; left behind, it harms nobody


class _Work:
    """One uninstall, with what it has done so far."""

    def __init__(self) -> None:
        self.restored: list[str] = []
        self.removed: list[str] = []
        self.left: list[tuple[str, str]] = []

    def turn_off(self, repository: "Repository") -> None:
        """Git's own configuration asks us no more."""
        removed, left = configured.remove(repository.git, repository.common_dir)
        self.removed += removed
        self.left += left

    def take_out(self, record: Record) -> None:
        """The lines that this clone has added to files of hook managers."""
        restored, left = take_out(record)
        self.restored += restored
        self.left += left

    def clear(self, folder: str) -> None:
        """Everything of ours in one hooks folder."""
        for name in HOOKS:
            path = os.path.join(folder, name)
            self._clear_hook(path)
            # Where the pre-commit framework, lefthook and overcommit put a hook that they find.
            for copy in (f"{path}.legacy", f"{path}.old", os.path.join(folder, "old-hooks", name)):
                self._clear_copy(copy, path + BEFORE)
            self._settle(path)
        sync_folder(folder)

    def _clear_hook(self, path: str) -> None:
        before = path + BEFORE
        unlink(path + FRESH)
        unlink(before + FRESH)
        if self._is_ours(path):
            self._replace(path, before if is_there(before) else None)

    def _clear_copy(self, copy: str, before: str) -> None:
        """What a manager has put out of its way: there goes the hook that it would have put there without us."""
        if not self._is_ours(copy):
            return
        unlink(copy + FRESH)
        # Its own hook it would never have put there: that one is in its place already.
        takes = is_there(before) and maker(read_script(before)) != "pre-commit"
        self._replace(copy, before if takes else None)

    def _settle(self, path: str) -> None:
        """A hook from before, with no stub of ours in front of it."""
        before = path + BEFORE
        if not is_there(before) or provenance(script_of(path)):
            return
        if not is_there(path):
            os.rename(before, path)
            self.restored.append(path)
        elif has_same_content(path, before):  # an install was killed half-way, or its maker has written it once more
            os.unlink(before)
        else:
            self.left.append((before, _OTHER))

    def _is_ours(self, path: str) -> bool:
        origin = provenance(script_of(path))
        if origin and os.path.islink(path):
            self.left.append((path, _LINK))
        elif origin == "edited":
            self.left.append((path, _EDITED))
        return origin == "pristine" and not os.path.islink(path)

    def _replace(self, path: str, before: str | None) -> None:
        if before is None:
            os.unlink(path)
            self.removed.append(path)
        else:
            os.rename(before, path)
            self.restored.append(path)
