"""Snapshots of worktrees that were removed: ``snapshots/<id>.json``, and beside it ``snapshots/<id>/`` with ignored
files under their numbers.

Those may be secrets (`.env`), so they never become objects of git, where anyone who can fetch could ask for them: 0600
in a folder of 0700, also in a repository that a group shares.
"""

import os
import stat

from gitlock.domain.saved import KEPT, Aside, Saved
from gitlock.errors import StoreError, StoreUnavailable
from gitlock.stores.codec import Fields
from gitlock.stores.files import records
from gitlock.stores.files.layout import CLOEXEC, NOFOLLOW, Layout, give_to_owner, remedy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from tarfile import TarInfo

_FIELDS = frozenset((*Saved.__slots__, "id"))
_HALF = 3600.0  # seconds after which a folder without a record belongs to nobody: its maker died


class SavedBook:
    """The snapshots of one store."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._folder = os.path.join(layout.folder, "snapshots")

    def all(self) -> list[Saved]:
        """Every record that can be read, the latest first."""
        found = [self.find(name) for name in records.names(self._folder)]
        return sorted((one for one in found if one is not None), key=lambda one: (-one.at, one.id))

    def find(self, name: str) -> Saved | None:
        """One record, or None."""
        record = records.read(self._folder, name)
        try:
            return None if record is None else _decoded(record, name)
        except StoreError:
            return None

    def write(self, saved: Saved) -> None:
        """Adds the record: from now on it can be restored."""
        record: dict[str, object] = {name: getattr(saved, name) for name in Saved.__slots__ if name != "extra"}
        record["aside"] = [{"path": one.path, "mode": one.mode, "link": one.link} for one in saved.aside]
        records.write(self._layout, self._folder, saved.id, {**record, **saved.extra})

    def remove(self, name: str) -> bool:
        """Removes the record and the files beside it; whether there was a record."""
        there = records.remove(self._folder, name)
        if "/" not in name and name not in ("", ".", ".."):
            _remove_folder(os.path.join(self._folder, name))
        return there

    def set_aside(self, name: str, top: str, paths: "Iterable[str]") -> tuple[Aside, ...]:
        """Copies these files of a worktree into the snapshot's folder; ``StoreUnavailable`` where one can't be."""
        wanted = list(paths)
        if not wanted:
            return ()
        records.make_folder(self._layout, self._folder)
        own = os.path.join(self._folder, name)
        try:
            os.mkdir(own, 0o700)
            os.chmod(own, 0o700)  # mkdir's went through the umask
            give_to_owner(own, self._folder)
            kept = []
            for number, path in enumerate(wanted):
                source = os.path.join(top, path)
                found = os.lstat(source)
                if stat.S_ISLNK(found.st_mode):
                    kept.append(Aside(path, 0o777, os.readlink(source)))
                    continue
                _copy(source, os.path.join(own, str(number)), 0o600)
                give_to_owner(os.path.join(own, str(number)), own)
                kept.append(Aside(path, stat.S_IMODE(found.st_mode) & 0o777))
        except OSError as error:
            _remove_folder(own)
            raise StoreUnavailable(
                f"can't save the ignored files in '{own}': {error.strerror}", hint=remedy(error, own)
            ) from None
        return tuple(kept)

    def bring_back(self, saved: Saved, top: str) -> list[str]:
        """Lays the ignored files into a worktree, never over anything; answers which could not be."""
        missing = []
        own = os.path.join(self._folder, saved.id)
        for number, one in enumerate(saved.aside):
            place = os.path.join(top, one.path)
            try:
                if not _is_below(top, place):
                    raise OSError("leads out of the worktree")
                os.makedirs(os.path.dirname(place), exist_ok=True)
                if one.link is not None:
                    os.symlink(one.link, place)
                else:
                    _copy(os.path.join(own, str(number)), place, one.mode)
            except OSError:
                missing.append(one.path)
        return missing

    def set_operation_aside(self, name: str, git_dir: str, names: "Iterable[str]") -> bool:
        """Packs what git has noted in a worktree's own git folder of what it is in the middle of; whether there was
        anything. ``StoreUnavailable`` where it can't be saved."""
        import tarfile

        there = [one for one in names if os.path.exists(os.path.join(git_dir, one))]
        if not there:
            return False
        place = self.operation_of(name)
        try:
            records.make_folder(self._layout, self._folder)
            own = os.path.dirname(place)
            os.makedirs(own, mode=0o700, exist_ok=True)
            with open(place, "xb", opener=lambda path, flags: os.open(path, flags | NOFOLLOW, 0o600)) as file:
                with tarfile.open(fileobj=file, mode="w") as pack:
                    for one in there:
                        pack.add(os.path.join(git_dir, one), arcname=one, filter=_plain)
                file.flush()
                os.fsync(file.fileno())
            give_to_owner(own, self._folder)
            give_to_owner(place, own)
        except OSError as error:
            raise StoreUnavailable(
                f"can't save the operation in progress in '{place}': {error.strerror}", hint=remedy(error, place)
            ) from None
        return True

    def operation_of(self, name: str) -> str:
        """Where an operation in progress is packed: a tar archive of what lay in git's folder."""
        return os.path.join(self._folder, name, "operation.tar")

    def notes_of(self, name: str) -> dict[str, bytes]:
        """What was packed, by its path in git's folder; empty where nothing was, or it can't be read."""
        import tarfile

        found = {}
        try:
            with tarfile.open(self.operation_of(name)) as pack:
                for member in pack.getmembers():
                    file = pack.extractfile(member) if member.isreg() else None
                    if file is not None and _is_inside(member.name):
                        found[member.name] = file.read()
        except (OSError, tarfile.TarError):
            return {}
        return found

    def old(self, wall: float) -> list[Saved]:
        """Those that were kept for long enough."""
        return [one for one in self.all() if wall - one.at > KEPT]

    def sweep_halves(self, wall: float) -> int:
        """Removes folders that never got their record; answers how many."""
        count = 0
        try:
            names = os.listdir(self._folder)
        except OSError:
            return 0
        for name in names:
            path = os.path.join(self._folder, name)
            try:
                half = os.path.isdir(path) and not os.path.islink(path) and f"{name}.json" not in names
                if half and wall - os.lstat(path).st_mtime > _HALF:
                    _remove_folder(path)
                    count += 1
            except OSError:
                continue
        return count


def _plain(member: "TarInfo") -> "TarInfo | None":
    return member if member.isreg() or member.isdir() else None


def _is_inside(path: str) -> bool:
    return not path.startswith("/") and not {"", ".", ".."} & set(path.split("/"))


def _is_below(top: str, place: str) -> bool:
    """Whether a path stays in the worktree, also by the links on its way."""
    folder = os.path.realpath(os.path.dirname(place))
    root = os.path.realpath(top)
    return folder == root or folder.startswith(root.rstrip(os.sep) + os.sep)


def _copy(source: str, target: str, mode: int) -> None:
    """Copies a regular file to where nothing is yet."""
    read = os.open(source, os.O_RDONLY | NOFOLLOW | CLOEXEC)
    try:
        write = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | CLOEXEC, 0o600)
        try:
            while chunk := os.read(read, 1 << 20):
                while chunk:
                    chunk = chunk[os.write(write, chunk) :]
            os.fsync(write)
            os.chmod(target, mode)
        finally:
            os.close(write)
    finally:
        os.close(read)


def _remove_folder(path: str) -> None:
    """Removes one of our flat folders; what can't be stays for the next sweep."""
    try:
        for name in os.listdir(path):
            os.unlink(os.path.join(path, name))
        os.rmdir(path)
    except OSError:
        return


def _decoded(record: object, name: str) -> Saved:
    read = Fields(record, name)
    aside = read.of("aside")
    if type(aside) is not list:
        raise read.fault("aside")
    return Saved(
        id=name,
        branch=read.text_or_none("branch"),
        made_branch=read.flag("made_branch"),
        head=read.text_or_none("head"),
        at=read.wall("at"),
        bytes=read.whole("bytes"),
        why=read.texts("why"),
        aside=tuple(_aside(item, name) for item in aside),
        extra=read.others(_FIELDS),
        **{field: read.text(field) for field in ("agent", "worktree", "path", "commit", "base", "base_name")},
    )


def _aside(record: object, where: str) -> Aside:
    read = Fields(record, where)
    path = read.text("path")
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or any(part.lower() == ".git" for part in parts):
        raise read.fault("path")
    return Aside(path, read.whole("mode") & 0o777, read.text_or_none("link"))
