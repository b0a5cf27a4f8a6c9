"""What `git lock doctor` makes of what it finds: the parts that need no repository."""

from pathlib import Path

import pytest

from gitlock.stores.files.medium import NETWORK, Medium, look_at_medium, mounted
from gitlock.usecases.examining.surroundings import medium

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:25 / /net rw shared:2 - nfs4 server:/export rw,vers=4.2
31 30 0:26 / /net/with\\040space rw - fuse.sshfs host:/a\\134b rw
32 22 0:27 / /over rw - tmpfs tmpfs rw
33 22 0:28 / /over rw - 9p hostshare rw
broken
"""


def _medium(**changes: object) -> Medium:
    plain: dict[str, object] = {
        "folder": "/x", "kind": "ext4", "source": "/dev/root", "network": False, "locks": True, "fine": True,
        "skew": 0.0, "error": "",
    }  # fmt: skip
    return Medium(**{**plain, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(("path", "kind"), [
    ("/home/x", "ext4"), ("/net", "nfs4"), ("/net/deep/down", "nfs4"), ("/nets", "ext4"),
    ("/net/with space/x", "fuse.sshfs"), ("/over", "9p"),
])  # fmt: skip
def test_the_mount_that_a_folder_lies_on_is_the_deepest_and_the_last(path: str, kind: str, tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert mounted(path, str(mounts))[0] == kind


def test_a_name_in_the_list_of_mounts_is_read_as_it_was_meant(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert mounted("/net/with space", str(mounts))[1] == "host:/a\\b"


def test_a_system_without_such_a_list_is_unknown(tmp_path: Path) -> None:
    assert mounted("/x", str(tmp_path / "missing")) == ("unknown", "")


def test_a_folder_on_a_network_is_looked_at_as_one(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"22 1 8:1 / {tmp_path} rw - nfs server:/x rw\n")
    found = look_at_medium(str(tmp_path), str(mounts))
    assert (found.network, found.locks, found.fine, found.error) == (True, True, True, "")
    assert [path.name for path in tmp_path.iterdir()] == ["mountinfo"], "nothing is left behind"


@pytest.mark.parametrize(("changes", "state", "said"), [
    ({}, "ok", "locks files"),
    ({"network": True, "kind": "nfs4", "source": "server:/x"}, "note", "lies on nfs4 (server:/x)"),
    ({"locks": False}, "bad", "can't lock files"),
    ({"fine": False}, "note", "are coarse"),
    ({"skew": -5.0}, "note", "5 s apart"),
    ({"locks": None, "fine": None, "skew": None, "error": "Read-only file system"}, "note", "Read-only"),
])  # fmt: skip
def test_what_a_disk_can_t_promise_is_said(changes: dict[str, object], state: str, said: str) -> None:
    (found,) = medium(_medium(**changes), "boot")
    assert (found.state, said in found.what) == (state, True), found.what


def test_a_system_that_tells_no_boots_apart_is_said() -> None:
    assert "wall clock" in medium(_medium(), "")[0].what


def test_local_file_systems_are_none_of_the_network() -> None:
    assert not {"ext4", "xfs", "btrfs", "tmpfs", "overlay", "apfs", "zfs"} & NETWORK
