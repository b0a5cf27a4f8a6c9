"""The power goes while a store is written: what was acknowledged is there when it comes back.

The disk is an image on btrfs; a reflink of it is what the disk held at one instant, and nothing of what the kernel had
still in memory for the file system inside. (A plain copy is no instant, and invents torn files.)
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.faults.places import can_loop, can_unshare, make_image, mounted, run
from tests.kit.processes import Running, start, until
from tests.kit.program import is_soak

HERE = Path(__file__).resolve().parent
CUTS = 200 if is_soak() else 6  # of each disk

pytestmark = [
    pytest.mark.skipif(not can_loop("btrfs"), reason="can't mount a btrfs image here, whose clones are cuts"),
    pytest.mark.skipif(not can_unshare("--mount"), reason="can't make mount namespaces here"),
    pytest.mark.timeout(3600 if is_soak() else 180),
]


class Disk(NamedTuple):
    """A file system, how it is made and how it is mounted, and whether only long runs try it."""

    name: str
    kind: str
    options: str = "loop"
    soak: bool = False
    unsynced: bool = False

    def __str__(self) -> str:
        return self.name


DISKS = [
    Disk("ext4", "ext4"),
    Disk("xfs", "xfs", "loop,nouuid"),
    # Options under which nothing is written in order unless it is asked for.
    Disk("ext4-writeback", "ext4", "loop,data=writeback,noauto_da_alloc", soak=True),
    Disk("btrfs", "btrfs", soak=True),
]


class Told(NamedTuple):
    """What the writer has said up to some moment."""

    taken: dict[str, int]
    given: set[str]
    giving: set[str]

    @classmethod
    def of(cls, text: str) -> "Told":
        """Whole lines only."""
        rows = [line.split() for line in text.split("\n")[:-1]]
        return cls(
            taken={row[1]: int(row[2]) for row in rows if row[0] == "took"},
            given={row[1] for row in rows if row[0] == "gave"},
            giving={row[1] for row in rows if row[0] == "gives"},
        )


class Rig(NamedTuple):
    """A disk with a store, and an agent at work in it."""

    disk: Disk
    image: Path
    place: Path
    writer: Running

    @property
    def store(self) -> Path:
        return self.place / "agentlocks"

    def cut(self) -> Path:
        """The disk as it is at this instant."""
        clone = self.image.with_suffix(".cut")
        clone.unlink(missing_ok=True)
        run("cp", "--reflink=always", str(self.image), str(clone))
        return clone

    def reboot(self, clone: Path) -> dict[str, object]:
        """What the store is on that disk. At the same place, since elsewhere it would be a copy; in a mount namespace
        of its own, since here the writer goes on."""
        script = 'mount -o "$1" "$2" "$3" && exec "$4" "$5" "$6"'
        done = subprocess.run(
            [
                "unshare", "--mount", "sh", "-c", script, "sh", self.disk.options, str(clone), str(self.place),
                sys.executable, str(HERE / "power_reader.py"), str(self.store),
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found: dict[str, object] = json.loads(done.stdout)
        return found


@pytest.fixture
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    disk: Disk = request.param
    if not can_loop(disk.kind):
        pytest.skip(f"can't mount a {disk.kind} image here")
    outer = tmp_path / "outer.image"
    make_image(outer, "btrfs", 2048)
    with mounted(tmp_path / "outer", "-o", "loop", str(outer)) as cow:
        image = cow / "disk"
        make_image(image, disk.kind)
        with mounted(tmp_path / "place", "-o", disk.options, str(image)) as place:
            (place / "agentlocks").mkdir(mode=0o700)
            argv = [sys.executable, str(HERE / "power_writer.py"), str(place / "agentlocks")]
            with start([*argv, *(["unsynced"] if disk.unsynced else [])]) as writer:
                yield Rig(disk, image, place, writer)


@pytest.mark.parametrize("rig", [disk for disk in DISKS if is_soak() or not disk.soak], indirect=True, ids=str)
def test_what_was_acknowledged_outlives_a_power_cut(rig: Rig) -> None:
    assert_nothing_is_lost_by_any_cut(rig)


@pytest.mark.soak
@pytest.mark.parametrize("rig", [DISKS[1]._replace(name="xfs-unsynced", unsynced=True)], indirect=True, ids=str)
def test_a_writer_that_syncs_nothing_is_found_out(rig: Rig) -> None:
    with pytest.raises(AssertionError):
        assert_nothing_is_lost_by_any_cut(rig)


def assert_nothing_is_lost_by_any_cut(rig: Rig) -> None:
    """Cuts the power so many times, each a little later."""
    for _ in range(CUTS):
        enough = len(Told.of(rig.writer.out).given) + 3
        until(lambda enough=enough: len(Told.of(rig.writer.out).given) > enough, "the writer")  # type: ignore[misc]
        before = Told.of(rig.writer.out)
        found = rig.reboot(rig.cut())
        assert_nothing_is_lost(before, Told.of(rig.writer.out), found)


def assert_nothing_is_lost(before: Told, after: Told, found: dict[str, object]) -> None:
    """``before`` was told before the cut; what ``after`` has more may be on the disk or not."""
    held = found["held"]
    assert isinstance(held, dict)
    assert found["empty"] == []
    lost = {name: fence for name, fence in before.taken.items() if name not in after.giving and held.get(name) != fence}
    assert not lost, f"acknowledged grants are gone: {lost}"
    back = before.given & held.keys()
    assert not back, f"acknowledged releases are back: {back}"
    highest = max(before.taken.values())
    assert isinstance(found["next"], int)
    assert found["next"] > highest, f"fence {found['next']} was given before (up to {highest})"
