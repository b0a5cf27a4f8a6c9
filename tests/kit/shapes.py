"""The shapes that a repository may have: what git tells a hook differs between them, what a gate answers may not.

    place = SHAPES["a linked worktree"](tmp_path, FILES)
    place.here.git("commit", …)      # one worker
    place.there.lock("claim", …)     # another one, elsewhere where the shape has an elsewhere
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.kit.repo import Environment, Repo
from tests.kit.result import Result


class Place(NamedTuple):
    """Where one works, and where others do: the same folder, or another worktree of the same repository."""

    here: Repo
    there: Repo


class ToldRepo(Repo):
    """A working tree of which git knows only by what stands before each command."""

    def __init__(self, path: Path, *told: str) -> None:
        super().__init__(path)
        self.told = told

    def git(
        self,
        *args: str,
        check: bool = True,
        env: Environment | None = None,
        input: str | bytes | None = None,
        agent: str | None = None,
        cwd: str | Path | None = None,
    ) -> Result:
        return super().git(*self.told, *args, check=check, env=env, input=input, agent=agent, cwd=cwd)

    def lock(
        self,
        *args: str,
        agent: str | None = "alice",
        env: Environment | None = None,
        input: str | bytes | None = None,
        cwd: str | Path | None = None,
    ) -> Result:
        return self.git("lock", *args, check=False, env=env, input=input, agent=agent, cwd=cwd)


class AliasRepo(Repo):
    """A working tree whose owner types an alias instead of ``git commit``."""

    def git(
        self,
        *args: str,
        check: bool = True,
        env: Environment | None = None,
        input: str | bytes | None = None,
        agent: str | None = None,
        cwd: str | Path | None = None,
    ) -> Result:
        if args[0] == "commit":
            args = ("ci", *args[1:])
        return super().git(*args, check=check, env=env, input=input, agent=agent, cwd=cwd)


Files = Mapping[str, str | bytes]
Shape = Callable[[Path, Files], Place]


def main_worktree(folder: Path, files: Files) -> Place:
    """As ``git init`` makes it."""
    repo = Repo.new(folder, files)
    return Place(repo, repo)


def linked_worktree(folder: Path, files: Files) -> Place:
    """``git worktree add``; the others are in the main worktree."""
    repo = Repo.new(folder, files)
    return Place(repo.worktree("linked tree", "linked"), repo)


def submodule(folder: Path, files: Files) -> Place:
    """Inside a submodule: its git folder is below that of the superproject."""
    lib = Repo.new(folder, files, name="lib")
    above = Repo.new(folder, name="above")
    above.git("submodule", "--quiet", "add", str(lib.path), "lib")
    above.commit("lib is added")
    inside = Repo(above.path / "lib")
    return Place(inside, inside)


def bare_worktree(folder: Path, files: Files) -> Place:
    """Two worktrees of a repository that has none of its own."""
    bare = Repo.new(folder, files, bare=True, name="bare.git")
    return Place(bare.worktree("one"), bare.worktree("two"))


def given_folders(folder: Path, files: Files) -> Place:
    """``git --git-dir … --work-tree …``: nothing in the working tree says where the git folder is."""
    repo = Repo.new(folder, files)
    (repo.path / ".git").rename(folder / "aside.git")
    told = ToldRepo(repo.path, "--git-dir", str(folder / "aside.git"), "--work-tree", str(repo.path))
    return Place(told, told)


def alias(folder: Path, files: Files) -> Place:
    """``git ci``, an alias of ``commit``."""
    repo = Repo.new(folder, files)
    repo.git("config", "alias.ci", "commit")
    return Place(AliasRepo(repo.path), repo)


def shell_alias(folder: Path, files: Files) -> Place:
    """``git ci``, an alias that a shell runs."""
    repo = Repo.new(folder, files)
    repo.git("config", "alias.ci", "!git commit")
    return Place(AliasRepo(repo.path), repo)


def separate_git_dir(folder: Path, files: Files) -> Place:
    """``git init --separate-git-dir``: ``.git`` is a file."""
    repo = Repo.new(folder, files, options=(f"--separate-git-dir={folder / 'aside'}",))
    return Place(repo, repo)


SHAPES: dict[str, Shape] = {
    "the main worktree": main_worktree,
    "a linked worktree": linked_worktree,
    "a submodule": submodule,
    "a worktree of a bare repository": bare_worktree,
    "--git-dir --work-tree": given_folders,
    "an alias": alias,
    "a shell alias": shell_alias,
    "a separate git folder": separate_git_dir,
}


def traces(repo: Repo) -> dict[str, str]:
    """Everything that a refused command must leave as it was: index, settings, stash, HEAD, files."""
    return {
        "index": repo.git("ls-files", "--stage", "-v").out,
        "settings": repo.git("config", "--list", "--show-origin").out,
        "stash": repo.git("stash", "list").out,
        "HEAD": repo.git("rev-parse", "-q", "--verify", "HEAD", check=False).out,
        "status": repo.git("status", "--porcelain=v2", "--ignored", "--untracked-files=all").out,
        "locks": "\n".join(sorted(str(path) for path in _git_dir(repo).glob("*.lock"))),
    }


def is_clean(repo: Repo) -> bool:
    """Whether nothing is staged, changed, untracked or half done, and the objects are sound."""
    status = repo.git("status", "--porcelain", "--ignored").out
    leftovers = {"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer"}
    half_done = sorted(leftovers & {path.name for path in _git_dir(repo).iterdir()})
    fsck = repo.git("fsck", "--no-progress", "--no-dangling", check=False)
    assert not status and not half_done, f"not clean\n{status}{half_done}"
    return fsck.code == 0


def _git_dir(repo: Repo) -> Path:
    return (repo.path / repo.git("rev-parse", "--git-dir").out.strip()).resolve()
