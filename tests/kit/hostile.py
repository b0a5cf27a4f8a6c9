"""A repository whose store something happens to, and how what it says about that is judged.

    ready = make_ready(folder)       # once: alice holds src/*, the gates are in, bob has a change of alice's staged
    world = World.new(tmp_path, ready)
    world.put("state.json", b"")
    world.expect_no_answer()         # every command and the commit: 20, with a hint, and nothing overwritten
    world.follow_hint("list").ok()   # the hint is typed into a shell
"""

import os
import shutil
import stat
from pathlib import Path

from gitlock.domain.snapshot import Edits
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.store import FileStore
from tests.kit.repo import Repo
from tests.kit.result import Result

# What asks for a lease, tells of one, or lets a change pass: none of them may answer without the store.
QUESTIONS: list[tuple[str, ...]] = [("list",), ("claim", "docs/b.md"), ("check",)]
MORE_QUESTIONS: list[tuple[str, ...]] = [
    (), ("who", "src/login.py"), ("mine",), ("renew",), ("release", "--all"), ("status", "src/login.py"),
    ("which", "src/login.py"),
]  # fmt: skip
WORDS_OF_AN_ANSWER = ("free", "nothing is held", "claimed", "holds nothing", "clear", "released", "not claimed by you")


class World:
    """The repository and its store."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self.store = repo.store
        self.state = self.store / "state.json"
        self.mark = self.store.with_name("agentlocks.mark")

    @classmethod
    def new(cls, folder: Path, ready: Path) -> "World":
        """alice holds src/*, bob holds docs/a.md; bob has staged a change of src/login.py."""
        shutil.copytree(ready, folder / "repo", symlinks=True)
        world = cls(Repo(folder / "repo"))
        store = FileStore(str(world.store), SystemClock().now)
        store.update(lambda snapshot: (Edits(counter=snapshot.counter), None))  # it lives here from now on
        return world

    def put(self, name: str, data: bytes) -> None:
        """Writes a file of the store in place, as git-lock never does."""
        (self.store / name).write_bytes(data)

    def pictures(self) -> dict[str, object]:
        """Everything that lies in the store and its mark, as far as it says what is held."""
        ours = [self.store, self.mark, *self.store.glob("*")] if self.store.is_dir() else [self.store, self.mark]
        skipped = ("history", "mode", "map-", "README")
        return {path.name: picture(path) for path in ours if not path.name.startswith(skipped)}

    def fence(self) -> int:
        """The highest fence that was given."""
        counter = self.repo.state()["counter"]
        assert isinstance(counter, int)
        return counter

    def expect_no_answer(self, hint: str = "", *, questions: list[tuple[str, ...]] = QUESTIONS) -> None:
        """Every question, and the commit, is answered with 20 and a hint, and none with an answer."""
        before = self.pictures()
        for words in questions:
            expect_doubt(self.repo.lock(*words, agent="bob"), hint)
        self.repo.lock("status", "--exit-code", "src/login.py", agent="bob").ended(5)
        head = self.repo.head
        refused = self.repo.commit("bob's", agent="bob", check=False)
        assert refused.code == 1 and "could not check" in refused.err and "hint: " in refused.err, refused
        assert self.repo.head == head
        assert self.pictures() == before, "what was there was changed"

    def follow_hint(self, *words: str, agent: str = "bob") -> Result:
        """Asks, and types the hint of the refusal into a shell."""
        refused = self.repo.lock(*words, agent=agent).ended(20)
        return self.repo.run("bash", "-c", hint_of(refused), agent=agent)


def make_ready(folder: Path) -> Path:
    """The repository as it begins. It was moved after that: a copy whose original is still there would rightly begin
    with nothing held."""
    repo = Repo.new(folder, {"src/login.py": "1\n", "docs/a.md": "1\n", "docs/b.md": "1\n"})
    repo.install()
    repo.lock("claim", "docs/a.md", agent="bob").ok()
    repo.lock("claim", "src/*", "--reason", "new login", agent="alice").ok()
    repo.write("src/login.py", "2\n")
    repo.git("add", "-A")
    repo.path.rename(folder / "moved")
    return folder / "moved"


def picture(path: Path) -> object:
    """What lies there, without following links and without opening what would block."""
    try:
        found = path.lstat()
    except OSError:
        return None
    if stat.S_ISREG(found.st_mode):
        return (stat.S_IMODE(found.st_mode), path.read_bytes())
    if stat.S_ISLNK(found.st_mode):
        return str(path.readlink())
    return (found.st_mode, found.st_ino)


def expect_doubt(result: Result, hint: str = "") -> None:
    """20, in words, with a hint, and without a word of an answer."""
    result.ended(20)
    assert not result.out, result
    assert "Traceback" not in result.err and hint_of(result).startswith(hint), result
    said = result.err.lower()
    assert not any(word in said.replace("claim again", "") for word in WORDS_OF_AN_ANSWER), result


def hint_of(result: Result) -> str:
    """The command that a refusal names."""
    hints = [line.removeprefix("hint: ") for line in result.err.splitlines() if line.startswith("hint: ")]
    assert hints, f"no hint\n{result!r}"
    return hints[0]


def make_socket(path: Path) -> None:
    """A socket there; its name may be longer than a socket's address."""
    import socket

    here = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)
