"""A store that can't be written, or may not be trusted: a read-only folder, a full disk, other users."""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.hostile import World, expect_doubt, hint_of
from tests.kit.program import child_environment, program
from tests.kit.repo import Repo
from tests.kit.result import Result

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NOBODY = 65534

# What root may do anyway is taken away: then the bits of files count for it as for anybody.
WITHOUT_PRIVILEGES = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all")


def can(*argv: str) -> bool:
    """Whether a program runs here."""
    try:
        return subprocess.run(argv, capture_output=True, check=False, env=child_environment()).returncode == 0
    except OSError:
        return False


def as_anybody(world: World, *words: str, agent: str = "bob", git: bool = False) -> Result:
    """git-lock (or git) run by one for whom permissions count."""
    argv = ("git", *words) if git else (str(program()), *words)
    return world.repo.run(*(WITHOUT_PRIVILEGES if IS_ROOT else ()), *argv, agent=agent)


permissions_count = pytest.mark.skipif(
    IS_ROOT and not can(*WITHOUT_PRIVILEGES, "true"), reason="permissions: root's privileges can't be dropped here"
)
needs_root = pytest.mark.skipif(not IS_ROOT, reason="needs root: files must be given to another user")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


# -- read-only


@pytest.fixture
def read_only(world: World) -> Iterator[World]:
    """The git folder of a repository that may be read and not written."""
    folders = [Path(root) for root, _, _ in os.walk(world.repo.common_dir)]
    files = [path for folder in folders for path in folder.iterdir() if path.is_file()]
    for path in [*files, *folders]:
        path.chmod(mode_of(path) & ~0o222)
    yield world
    for path in folders:
        path.chmod(0o755)


READING: list[tuple[str, ...]] = [
    ("list",), (), ("who", "src/login.py"), ("mine",), ("status", "src/*"), ("history",),
]  # fmt: skip


@permissions_count
@pytest.mark.parametrize("words", READING)
def test_reading_works_where_nothing_can_be_written(read_only: World, words: tuple[str, ...]) -> None:
    assert "Traceback" not in as_anybody(read_only, *words).ok().err


@permissions_count
def test_a_check_answers_where_nothing_can_be_written(read_only: World) -> None:
    assert "held by alice" in as_anybody(read_only, "check").ended(22).err


@permissions_count
@pytest.mark.parametrize("words", [("claim", "docs/b.md"), ("release", "docs/a.md"), ("renew",)])
def test_what_cannot_be_written_down_is_not_said_to_be_done(read_only: World, words: tuple[str, ...]) -> None:
    result = as_anybody(read_only, *words)
    expect_doubt(result)
    assert read_only.repo.run("bash", "-c", hint_of(result)).code == 0


@permissions_count
def test_a_first_claim_in_a_read_only_repository_says_why_not(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path)
    world = World(repo)
    repo.common_dir.chmod(0o555)
    result = as_anybody(world, "claim", "README.md")
    repo.common_dir.chmod(0o755)
    expect_doubt(result)
    assert repo.run("bash", "-c", hint_of(result)).code == 0


@permissions_count
@pytest.mark.parametrize("name", ["state.json", "."])
def test_a_store_that_may_not_even_be_read_is_not_empty(world: World, name: str) -> None:
    path = world.store / name
    path.chmod(0)
    results = [as_anybody(world, *words) for words in (("list",), ("claim", "docs/b.md"), ("check",))]
    refused = as_anybody(world, "commit", "-m", "bob's", git=True)
    path.chmod(0o700)
    for result in results:
        expect_doubt(result)
    assert refused.code == 1 and "could not check" in refused.err


@permissions_count
def test_a_guard_that_may_not_be_opened_stops_writers_only(world: World) -> None:
    (world.store / "guard").chmod(0)
    expect_doubt(as_anybody(world, "claim", "docs/b.md"))
    assert "src/*" in as_anybody(world, "list").ok().out


# -- a full disk


def with_no_room(world: World, *words: str, agent: str = "bob") -> Result:
    """git-lock run by one who may not make a file any longer: every write fails as on a full disk."""
    return world.repo.run("bash", "-c", 'ulimit -f 0; exec "$@"', "-", str(program()), *words, agent=agent)


@pytest.mark.parametrize("words", [("claim", "docs/b.md"), ("release", "docs/a.md"), ("renew",)])
def test_without_room_nothing_is_done_and_nothing_is_lost(world: World, words: tuple[str, ...]) -> None:
    before = world.state.read_bytes()
    result = with_no_room(world, *words)
    expect_doubt(result, "df ")
    assert world.state.read_bytes() == before and world.repo.run("bash", "-c", hint_of(result)).code == 0


def test_without_room_a_check_still_answers(world: World) -> None:
    assert "held by alice" in with_no_room(world, "check").ended(22).err


def test_with_room_again_everything_works_again(world: World) -> None:
    with_no_room(world, "claim", "docs/b.md").ended(20)
    world.repo.lock("claim", "docs/b.md", agent="carol").ok()
    assert len(world.repo.json("list")["data"]["leases"]) == 3


@pytest.fixture
def small_disk(world: World) -> Iterator[World]:
    """A repository whose store has a disk of its own, which is full."""
    kept = world.store.with_name("kept")
    world.store.rename(kept)
    world.store.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", str(world.store)]
    done = subprocess.run(mount, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("mount: no file system can be mounted here")
    try:
        for path in kept.iterdir():
            shutil.copy2(path, world.store)
        world.repo.lock("claim", "docs/b.md", agent="carol").ok()
        with (world.store / "filler").open("wb", buffering=0) as filler:
            try:
                while filler.write(bytes(4096)):
                    pass
            except OSError:
                pass
        yield world
    finally:
        subprocess.run(["umount", "-l", world.store], check=True)


def test_on_a_full_disk_nothing_is_done_and_nothing_is_lost(small_disk: World) -> None:
    before = small_disk.state.read_bytes()
    result = small_disk.repo.lock("claim", "x", agent="dave")
    expect_doubt(result, "df ")
    assert "No space left" in result.err and small_disk.state.read_bytes() == before


def test_on_a_full_disk_gates_judge(small_disk: World) -> None:
    refused = small_disk.repo.commit("bob's", agent="bob", check=False)
    assert refused.code == 1 and "held by alice" in refused.err, refused


def test_a_disk_that_was_full_needs_no_mending(small_disk: World) -> None:
    small_disk.repo.lock("claim", "x", agent="dave").ended(20)
    (small_disk.store / "filler").unlink()
    small_disk.repo.lock("claim", "x", agent="dave").ok()
    assert len(small_disk.repo.json("list")["data"]["leases"]) == 4


# -- whose it is


@pytest.mark.parametrize("name", ["state.json", "."])
def test_what_everyone_may_write_is_not_trusted(world: World, name: str) -> None:
    path = world.store / name
    path.chmod(mode_of(path) | 0o002)
    world.expect_no_answer("chmod o-w ")


@pytest.mark.parametrize("name", ["state.json", "."])
def test_taking_that_away_mends_it(world: World, name: str) -> None:
    path = world.store / name
    path.chmod(mode_of(path) | 0o002)
    world.follow_hint("list").ok()
    assert len(world.repo.json("list")["data"]["leases"]) == 2


@needs_root
def test_a_strangers_folder_is_not_trusted(world: World) -> None:
    os.chown(world.store, NOBODY, NOBODY)
    world.expect_no_answer("ls -ld ")
    world.follow_hint("list").ok()


@needs_root
def test_a_strangers_state_is_not_trusted_and_can_be_put_aside(world: World) -> None:
    os.chown(world.state, NOBODY, NOBODY)
    world.expect_no_answer("git lock doctor --fix")
    world.follow_hint("list").ok()
    world.repo.lock("list", agent="bob").ok()


@pytest.fixture
def somebodys(tmp_path: Path) -> Iterator[Repo]:
    """A repository of another user, in a place that this one may look into; git may work there too."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    (folder / "home").mkdir()
    Repo.new(folder).git("config", "--global", "--add", "safe.directory", "*")
    for path in [folder / "home", *(folder / "repo").rglob("*"), folder / "repo"]:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    yield Repo(folder / "repo")
    shutil.rmtree(folder)


@needs_root
def test_what_root_makes_in_somebodys_repository_is_theirs(somebodys: Repo) -> None:
    somebodys.lock("install", agent="root").ok()
    somebodys.lock("claim", "README.md", agent="root").ok()
    somebodys.lock("check", "README.md", agent="root").ok()
    somebodys.lock("history", agent="root").ok()
    store = somebodys.path / ".git" / "agentlocks"
    made = [store, store.with_name("agentlocks.mark"), *store.rglob("*")]
    assert {path.name: path.lstat().st_uid for path in made if path.lstat().st_uid != NOBODY} == {}


@needs_root
def test_a_store_of_roots_in_somebodys_repository_is_not_trusted_by_root(somebodys: Repo) -> None:
    somebodys.lock("claim", "README.md", agent="root").ok()
    os.chown(somebodys.path / ".git" / "agentlocks", 1234, 1234)
    expect_doubt(somebodys.lock("list", agent="root"))


@needs_root
def test_the_owner_works_on_after_root_did(somebodys: Repo) -> None:
    if not can(*_as(NOBODY, NOBODY), str(program()), "--version"):
        pytest.skip("needs root: another user can't run the program where it lies")
    somebodys.lock("claim", "README.md", agent="root").ok()
    result = _run_as(somebodys, NOBODY, NOBODY, "claim", "x", agent="owner").ok()
    assert "fence 2" in result.out


def _as(uid: int, gid: int) -> tuple[str, ...]:
    return ("setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups")


def _run_as(repo: Repo, uid: int, gid: int, *words: str, agent: str) -> Result:
    home = repo.path.parent / "home"
    (home / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")
    env = {"HOME": str(home), "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"), "XDG_CONFIG_HOME": str(home)}
    return repo.run(*_as(uid, gid), str(program()), *words, agent=agent, env=env)


# -- core.sharedRepository

SHARED = {"group": (0o660, 0o2770), "all": (0o664, 0o2775), "0640": (0o640, 0o2750), "umask": (0o600, 0o700)}


@pytest.mark.parametrize("setting", SHARED)
def test_files_have_the_bits_that_git_is_told_to_share(tmp_path: Path, setting: str) -> None:
    repo = Repo.new(tmp_path)
    repo.git("config", "core.sharedRepository", setting)
    repo.write(".gitlock.toml", "version = 1\n")
    before = os.umask(0o077)
    try:
        repo.lock("claim", "README.md").ok()
        repo.lock("claim", "x", "y").ok()
        repo.lock("history")  # the spool becomes a database, and the next events begin another
        repo.lock("claim", "y", "--ticket", agent="bob")
        repo.lock("request", "x", "-m", "please", agent="bob")
        repo.lock("check", "x")
        repo.lock("hook", "pre-commit")
    finally:
        os.umask(before)
    made = [repo.store, repo.store.with_name("agentlocks.mark"), *repo.store.rglob("*")]
    files = {path.name: mode_of(path) for path in made if path.is_file()}
    assert {"history.spool", "history.db", "state.json", "guard", "mode"} <= files.keys()
    folders = {path.name: mode_of(path) for path in made if path.is_dir()}
    assert files == dict.fromkeys(files, SHARED[setting][0]) and folders == dict.fromkeys(folders, SHARED[setting][1])


@needs_root
def test_two_users_of_a_group_share_a_store(somebodys: Repo) -> None:
    if not can(*_as(NOBODY, NOBODY), str(program()), "--version"):
        pytest.skip("needs root: another user can't run the program where it lies")
    somebodys.git("config", "core.sharedRepository", "group")
    for path in [somebodys.path / ".git", *(somebodys.path / ".git").rglob("*")]:
        path.chmod(mode_of(path) | 0o060)
    _run_as(somebodys, NOBODY, NOBODY, "claim", "README.md", agent="one").ok()
    _run_as(somebodys, 1234, NOBODY, "claim", "x", agent="two").ok()
    _run_as(somebodys, NOBODY, NOBODY, "claim", "y", agent="one").ok()
    refused = _run_as(somebodys, 1234, NOBODY, "claim", "README.md", agent="two")
    assert refused.code == 10 and "held by one" in refused.err


@needs_root
def test_a_stranger_is_kept_out_of_a_store_that_is_not_shared(somebodys: Repo) -> None:
    if not can(*_as(NOBODY, NOBODY), str(program()), "--version"):
        pytest.skip("needs root: another user can't run the program where it lies")
    _run_as(somebodys, NOBODY, NOBODY, "claim", "README.md", agent="one").ok()
    expect_doubt(_run_as(somebodys, 1234, 1234, "list", agent="two"), "ls -ld ")
