"""The bundle of ready code is only ever a matter of speed: whatever becomes of it, the program is the same."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.processes import Job, run_at_once
from tests.kit.program import ROOT, child_environment
from tests.kit.repo import Repo
from tests.kit.result import Result

# Runs the program of one installation, and says which modules came out of the bundle.
RUN = """
import sys
sys.path.insert(0, {place!r})
import os
end = os._exit
def tell(code):
    ours = [one for name, one in sys.modules.items() if name.startswith("gitlock.")]
    kept = sum(type(one.__spec__.loader).__module__ == "gitlock.bundle" for one in ours)
    os.write(2, b"%d of %d" % (kept, len(ours)))
    end(code)
os._exit = tell
sys.argv[0] = "git-lock"
from gitlock.__main__ import main
main()
"""


class Installed:
    """A copy of the package, as it lies in somebody's environment."""

    def __init__(self, place: Path) -> None:
        self.place = place
        shutil.copytree(ROOT / "gitlock", place / "gitlock", ignore=shutil.ignore_patterns("__pycache__", "*.bin"))
        (place / "gitlock/__pycache__").mkdir()

    @property
    def bundle(self) -> Path | None:
        return next((self.place / "gitlock/__pycache__").glob("bundle.*.bin"), None)

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-I", "-c", RUN.format(place=str(self.place)), *words]

    def run(self, repo: Repo, *words: str) -> Result:
        done = subprocess.run(
            self.argv(*words), cwd=repo.path, env=child_environment(agent="alice"), capture_output=True
        )
        return Result(words, done.returncode, done.stdout, done.stderr)

    def made(self, repo: Repo) -> Path:
        """Runs it once, which makes the bundle."""
        self.run(repo, "whoami").ok()
        assert self.bundle is not None
        return self.bundle


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    return Installed(tmp_path / "site")


def out_of_bundle(result: Result) -> tuple[int, int]:
    """How many of our modules came out of the bundle, and how many there are."""
    kept, _, all_of_them = result.ok().err.splitlines()[-1].partition(" of ")
    return int(kept), int(all_of_them)


def test_the_first_run_makes_it_and_the_next_uses_it(installed: Installed, repo: Repo) -> None:
    assert out_of_bundle(installed.run(repo, "mine"))[0] == 0
    kept, everything = out_of_bundle(installed.run(repo, "mine"))
    assert kept > 40 and everything - kept <= 2  # all but those that look for it


def test_a_module_that_was_changed_is_the_changed_one(installed: Installed, repo: Repo) -> None:
    before = installed.made(repo).stat().st_ino
    source = installed.place / "gitlock/entrypoints/cli/commands/mine.py"
    source.write_text(source.read_text().replace("holds nothing", "has nothing at all"))
    assert installed.run(repo, "mine").ok().out == "alice has nothing at all\n"
    assert installed.made(repo).stat().st_ino != before
    assert out_of_bundle(installed.run(repo, "mine"))[0] > 40


def test_a_module_that_is_gone_is_not_there(installed: Installed, repo: Repo) -> None:
    installed.made(repo)
    (installed.place / "gitlock/usecases/renew.py").unlink()
    broken = installed.run(repo, "mine")
    assert broken.code == 1 and "gitlock.usecases.renew" in broken.err


BROKEN = {
    "empty": b"",
    "text": b"not a bundle at all",
    "cut": None,
    "an index that is too long": b"99999999" + b"x" * 100,
    "zeros": b"\0" * 50_000,
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_bundle_is_passed_over_and_mended(installed: Installed, repo: Repo, kind: str) -> None:
    bundle = installed.made(repo)
    whole = bundle.read_bytes()
    bundle.write_bytes(whole[: len(whole) // 2] if kind == "cut" else BROKEN[kind] or b"")
    assert out_of_bundle(installed.run(repo, "mine"))[0] == 0
    assert out_of_bundle(installed.run(repo, "mine"))[0] > 40


def test_a_bundle_of_another_python_is_passed_over(installed: Installed, repo: Repo) -> None:
    bundle = installed.made(repo)
    version = sys.version.encode()
    bundle.write_bytes(bundle.read_bytes().replace(version, version[:-1] + b"?", 1))
    assert out_of_bundle(installed.run(repo, "mine"))[0] == 0


def test_a_folder_that_cannot_be_written_does_without(installed: Installed, repo: Repo) -> None:
    (installed.place / "gitlock/__pycache__").rmdir()
    (installed.place / "gitlock/__pycache__").touch()  # stops root as well
    assert out_of_bundle(installed.run(repo, "mine"))[0] == 0
    assert installed.bundle is None


def test_many_at_once_make_one_that_is_whole(installed: Installed, repo: Repo) -> None:
    jobs = [Job(installed.argv("whoami"), repo.path, child_environment(agent="alice")) for _ in range(8)]
    assert {result.code for result in run_at_once(jobs)} == {0}
    assert out_of_bundle(installed.run(repo, "mine"))[0] > 40
    assert (
        len(list((installed.place / "gitlock/__pycache__").glob("bundle.*"))) == 2
    )  # it, and the byte code of bundle.py


def test_a_moved_installation_is_still_whole(installed: Installed, repo: Repo, tmp_path: Path) -> None:
    installed.made(repo)
    installed.place.rename(tmp_path / "moved")
    installed.place = tmp_path / "moved"
    moved = installed.run(repo, "mine")
    assert out_of_bundle(moved)[0] > 40
    (installed.place / "gitlock/entrypoints/cli/commands/mine.py").write_text("COMMAND = 1 / 0\n")
    assert str(tmp_path / "moved") in installed.run(repo, "mine").err


def test_a_module_out_of_the_bundle_is_as_any_other(installed: Installed, repo: Repo) -> None:
    installed.made(repo)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from gitlock.bundle import use_bundle; b = use_bundle(); b.load('hook');"
        "import gitlock.domain.lease as m, gitlock.stores, gitlock.usecases.report, inspect;"
        "from importlib.resources import files;"
        "assert b.fresh and m.__file__ == m.__spec__.origin and m.__package__ == 'gitlock.domain';"
        "assert 'class Lease' in inspect.getsource(m) and gitlock.domain.lease is m;"
        "assert gitlock.stores.__path__ and files('gitlock.stores').joinpath('codec.py').is_file()"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code, str(installed.place)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_bundle_is_made_where_no_byte_code_is_wanted(installed: Installed, repo: Repo) -> None:
    argv = [sys.executable, "-B", *installed.argv("whoami")[2:]]
    subprocess.run(argv, cwd=repo.path, env=child_environment(agent="alice"), check=True, capture_output=True)
    assert installed.bundle is None
