"""Real file systems and namespaces for tests, made by root, and taken away whatever happens."""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kit.program import ROOT

LAUNCH = f"import sys; sys.path.append({str(ROOT)!r}); from gitlock.__main__ import main; main()"


def run(*argv: str) -> None:
    """Runs a tool that must succeed."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{argv}: {done.stderr}"


def works(*argv: str) -> bool:
    """Whether a tool is here, and does what it is asked."""
    return shutil.which(argv[0]) is not None and subprocess.run(argv, capture_output=True, check=False).returncode == 0


@functools.cache
def can_mount() -> bool:
    """Whether we may mount."""
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory(prefix="git-lock-mount-") as folder:
        if not works("mount", "-t", "tmpfs", "-o", "size=64k", "probe", folder):
            return False
        return works("umount", folder)


@functools.cache
def can_loop(kind: str) -> bool:
    """Whether a file can be mounted as a file system of this kind."""
    if not can_mount() or shutil.which(f"mkfs.{kind}") is None:
        return False
    with tempfile.TemporaryDirectory(prefix="git-lock-mount-") as folder:
        image, place = Path(folder, "image"), Path(folder, "place")
        place.mkdir()
        try:
            make_image(image, kind)
            run("mount", "-o", "loop", str(image), str(place))
        except AssertionError:
            return False
        run("umount", str(place))
        return True


@functools.cache
def can_unshare(*flags: str) -> bool:
    """Whether we may make namespaces of these kinds."""
    return works("unshare", *flags, "true")


SMALLEST = {"ext4": 16, "xfs": 300, "btrfs": 128}  # MiB, of which nearly nothing is written


def make_image(image: Path, kind: str, megabytes: int = 0, *options: str) -> None:
    """A sparse file with an empty file system in it."""
    with image.open("wb") as file:
        file.truncate((megabytes or SMALLEST[kind]) << 20)
    quiet = {"ext4": ["-q", "-F"], "xfs": ["-q", "-f"], "btrfs": ["-q", "-f"]}[kind]
    run(f"mkfs.{kind}", *quiet, *options, str(image))


@contextmanager
def mounted(place: Path, *words: str) -> Iterator[Path]:
    """Something mounted at ``place``, for as long as the block lasts."""
    place.mkdir(parents=True, exist_ok=True)
    run("mount", *words, str(place))
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)


@contextmanager
def small_disk(place: Path, *, size: str = "1m", inodes: int = 0) -> Iterator[Path]:
    """A disk that is soon full."""
    with mounted(place, "-t", "tmpfs", "-o", f"size={size},nr_inodes={inodes}", "git-lock-test"):
        yield place


@contextmanager
def filled(folder: Path) -> Iterator[None]:
    """Not a byte is free on the disk of this folder for as long as the block lasts."""
    file = folder / "filler"
    with file.open("wb", buffering=0) as filler:
        for chunk in (1 << 16, 1 << 12, 1):
            try:
                while filler.write(b"\0" * chunk) == chunk:
                    pass
            except OSError:
                continue
    try:
        yield
    finally:
        file.unlink()


@functools.cache
def plain_python() -> str | None:
    """An interpreter that every user of this machine may run, with our package in reach; None where there is none."""
    for candidate in (sys.executable, "/usr/bin/python3"):
        # tomllib came with Python 3.11
        code = f"import sys; sys.path.append({str(ROOT)!r}); import tomllib, gitlock.__main__"
        if os.path.exists(candidate) and works(*as_user(12345), candidate, "-I", "-S", "-c", code):
            return candidate
    return None


def as_user(uid: int, gid: int | None = None, *, umask: str = "022") -> list[str]:
    """The words that make a command another user's. A shell starts it: setpriv itself may still do so as root."""
    who = ["--reuid", str(uid), "--regid", str(uid if gid is None else gid), "--clear-groups"]
    return ["setpriv", *who, "sh", "-c", f'umask {umask}; exec "$@"', "sh"]
