"""Whatever was done to a worktree: its snapshot, put back elsewhere, looks the same to git and to the eye."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitlock.git.snapshots import put_back, read, take
from tests.kit.program import is_soak
from tests.kit.repo import Repo
from tests.kit.worktrees import git_of, sight

NAMES = ("a", "d", "d/b", "d/e/c", "x.sh", "l", "new", "sp ace\n", "\udcff.bin", '"q"', "d/new", ".gitignore")
FIRST = {"a": "1\n", "d/b": "1\n", "d/e/c": "1\n", "x.sh": "#!\n", "sp ace\n": "1\n", "\udcff.bin": "1\n"}
DEEDS = (
    "write", "empty", "remove", "chmod", "link", "folder", "add", "add -N", "rm --cached", "assume", "skip",
    "reset", "commit",
)  # fmt: skip


def do(repo: Repo, deed: str, name: str, text: str) -> None:
    """One deed, where it is possible: what git or the system refuses changes nothing."""
    place = os.path.join(repo.path, name)
    git = {
        "add": ("add", "-A", "-f"),
        "add -N": ("add", "-N", "-f"),
        "rm --cached": ("rm", "-q", "--cached", "-f"),
        "assume": ("update-index", "--assume-unchanged"),
        "skip": ("update-index", "--skip-worktree"),
        "reset": ("reset", "-q"),
    }.get(deed)
    if git is not None:
        repo.git("--literal-pathspecs", *git, "--", name, check=False)
        return
    try:
        if deed == "commit":
            repo.git("commit", "-q", "-m", "more", check=False)
        elif deed == "chmod":
            os.chmod(place, 0o755)
        elif deed == "remove":
            shutil.rmtree(place) if os.path.isdir(place) and not os.path.islink(place) else os.unlink(place)
        elif deed == "folder":
            if os.path.isfile(place) or os.path.islink(place):
                os.unlink(place)
            os.makedirs(place)
            Path(place, "inner").write_text(text)
        else:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if os.path.islink(place):
                os.unlink(place)
            if deed == "link":
                os.symlink("d" if text == "1\n" else "/nowhere", place)
            else:
                Path(place).write_text(text if deed == "write" else "")
    except OSError:
        return


@settings(max_examples=400 if is_soak() else 25)
@given(
    st.lists(
        st.tuples(st.sampled_from(DEEDS), st.sampled_from(NAMES), st.sampled_from(("1\n", "2\n", "3\r\n", "l\n"))),
        max_size=12,
    ),
    st.booleans(),
)
@example([("folder", "a", "1\n"), ("add", "a", ""), ("link", "d/e/c", "2\n"), ("remove", "d/b", "")], False)
@example([("write", "new", "2\n"), ("add -N", "new", ""), ("remove", "new", ""), ("chmod", "x.sh", "")], True)
@example([("skip", "a", ""), ("write", "a", "2\n"), ("assume", "d/b", ""), ("remove", "d/b", "")], False)
@example([("remove", "d", ""), ("link", "d", "1\n"), ("rm --cached", "a", "")], True)
def test_a_snapshot_that_is_put_back_looks_the_same(deeds: list[tuple[str, str, str]], checked_out: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = Repo.new(Path(folder), FIRST)
        for deed in deeds:
            do(repo, *deed)
        before = sight(repo.path)
        taken = take(git_of(repo.path), message="kept")
        assert sight(repo.path) == before
        there = Path(folder, "there")
        repo.git("worktree", "add", "-q", "--detach", *([] if checked_out else ["--no-checkout"]), str(there))
        if taken is None:
            assert before["status"] == b""
            return
        put_back(git_of(there), read(git_of(there), taken.commit))
        assert sight(there) == before
