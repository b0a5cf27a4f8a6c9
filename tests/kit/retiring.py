"""An agent's worktree as `git lock spawn` leaves it, made at a fraction of its cost; and what became of it."""

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from gitlock.domain.worktree import READY, SPAWNED, Worktree, mark_of, port_of
from gitlock.git.badge import write_badge
from gitlock.git.worktrees import lock_reason
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.worktrees import WorktreeBook
from tests.kit.repo import Repo


def book_of(repo: Repo) -> WorktreeBook:
    """The records of a repository's worktrees."""
    return WorktreeBook(Layout(str(repo.store)))


def house(repo: Repo, agent: str = "a", *, branch: str | None = None, path: Path | None = None) -> Repo:
    """A worktree for the agent, on a new branch off HEAD, with record, badge and lock."""
    branch = branch or f"agent/{agent}"
    place = path or repo.path.parent / f"{repo.path.name}.agents" / agent
    book = book_of(repo)
    base = repo.head
    slot = len(book.all()) + 1
    record = Worktree(
        id=os.urandom(8).hex(), agent=agent, path=str(place), branch=branch, made_branch=True, base=base,
        base_name="main", tip=base, slot=slot, port=port_of(slot), state=READY, setup="none", sparse=False,
        made=1.0 + slot, origin=SPAWNED, owner="",
    )  # fmt: skip
    repo.git("update-ref", "--create-reflog", "-m", mark_of(record.id), f"refs/heads/{branch}", base, "")
    reason = lock_reason(record.id, agent)
    repo.git("worktree", "add", "--quiet", "--lock", "--reason", reason, str(place), branch)
    there = Repo(place)
    with book.lock():
        write_badge(there.git("rev-parse", "--absolute-git-dir").out.strip(), record.id, agent)
        book.write(record)
    return there


def record_of(repo: Repo, agent: str = "a") -> Worktree | None:
    """The agent's record, if it has one."""
    return next((one for one in book_of(repo).all() if one.agent == agent), None)


def land(repo: Repo, branch: str, *, squash: bool = False) -> None:
    """Brings a branch into the one that is checked out in ``repo``."""
    if squash:
        repo.git("merge", "--quiet", "--squash", branch)
        repo.git("commit", "--quiet", "-m", f"squashed {branch}")
    else:
        repo.git("merge", "--quiet", "--no-ff", "-m", f"merge {branch}", branch)


def reasons(envelope: Mapping[str, object]) -> list[str]:
    """The ids of the reasons in an answer of `retire --json`."""
    data = envelope["data"]
    assert isinstance(data, dict)
    return [reason["id"] for one in data["worktrees"] for reason in one["refusals"]]


def meddling(folder: Path, when: str, act: str, *, times: int = 1) -> dict[str, str | None]:
    """An environment whose git does something else (``act``, for a shell) just before it runs a command line that holds
    ``when``, the ``times``-th time; then, and every other time, it is git. ``$PPID`` is who called it."""
    real = shutil.which("git")
    folder.mkdir()
    script = folder / "git"
    script.write_text(
        f"""#!/bin/sh
case " $* " in
*{shlex.quote(when)}*)
    echo . >>{shlex.quote(str(folder / "seen"))}
    if [ "$(wc -l <{shlex.quote(str(folder / "seen"))})" -eq {times} ]; then
        {act}
    fi ;;
esac
exec {real} "$@"
"""
    )
    script.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
