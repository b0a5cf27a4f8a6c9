"""What a person has approved: ``trusted/<user id>/<digest>.json``, a file an approval, theirs alone (0600).

Under the store of the clone, never in the repository, and never for anybody else: what another user of a shared
repository has approved counts for them. A file that somebody else could have written counts for nothing.
"""

import os
import stat

from gitlock import jsontext
from gitlock.domain.value import Value
from gitlock.errors import StoreError, StoreForeign
from gitlock.stores.codec import Fields
from gitlock.stores.files import records
from gitlock.stores.files.atomic import replace_file
from gitlock.stores.files.layout import Layout, look_at, read_whole

_MODE = 0o600


class Approval(Value):
    """One approval. ``digest`` is of exactly what was approved; the rest is for showing: the commands, where they were
    written, who approved them and when (seconds since 1970)."""

    __slots__ = ("at", "by", "commands", "digest", "source")

    def __init__(self, digest: str, *, commands: tuple[str, ...], source: str, by: str, at: float) -> None:
        self.digest = digest
        self.commands = commands
        self.source = source
        self.by = by
        self.at = at


class TrustBook:
    """The approvals of one person in one clone."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._user = os.geteuid() if hasattr(os, "geteuid") else 0
        self._folder = os.path.join(layout.folder, "trusted", str(self._user))

    def all(self) -> list[Approval]:
        """Every approval, the latest first."""
        found = [self.find(name) for name in records.names(self._folder)]
        return sorted((one for one in found if one is not None), key=lambda one: (-one.at, one.digest))

    def find(self, digest: str) -> Approval | None:
        """The approval of exactly this, or None."""
        if not self._is_ours():
            return None
        try:
            data = read_whole(os.path.join(self._folder, digest + ".json"), records.SIZE_LIMIT, judge=self._judge)
            return None if data is None else _decoded(jsontext.loads(data.decode("utf-8")), digest)
        except (StoreError, ValueError):
            return None

    def add(self, approval: Approval) -> None:
        """Writes an approval down; ``StoreError`` where that can't be done."""
        records.make_folder(self._layout, os.path.dirname(self._folder))
        try:
            os.mkdir(self._folder, 0o700)
        except FileExistsError:
            pass
        if not self._is_ours():
            raise StoreForeign(f"'{self._folder}' is not a folder that is yours alone", hint=look_at(self._folder))
        record = {
            "format": 1,
            "commands": list(approval.commands),
            "source": approval.source,
            "by": approval.by,
            "at": approval.at,
        }
        place = os.path.join(self._folder, approval.digest + ".json")
        replace_file(place, jsontext.dumps(record).encode() + b"\n", _MODE)

    def remove(self, digest: str) -> bool:
        """Takes an approval back; whether there was one."""
        return records.remove(self._folder, digest)

    def _is_ours(self) -> bool:
        try:
            found = os.lstat(self._folder)
        except OSError:
            return False
        return stat.S_ISDIR(found.st_mode) and self._is_private(found)

    def _is_private(self, found: os.stat_result) -> bool:
        return os.name == "nt" or (found.st_uid == self._user and not found.st_mode & 0o022)

    def _judge(self, path: str, found: os.stat_result) -> None:
        if not self._is_private(found):
            raise StoreForeign(f"others can write '{path}'", hint=look_at(path))


def _decoded(record: object, digest: str) -> Approval:
    read = Fields(record, digest)
    return Approval(
        digest, commands=read.texts("commands"), source=read.text("source"), by=read.text("by"), at=read.wall("at")
    )
