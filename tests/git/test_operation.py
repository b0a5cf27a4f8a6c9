"""What git is in the middle of; and what git tells a hook, from which docs/hooks.md has its tables."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitlock.errors import RepositoryError
from gitlock.git.operation import Operation, operation
from tests.kit.repo import Repo

# -- witnesses: hooks that write down what they see

HOOKS = (
    "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-merge",
    "applypatch-msg", "pre-applypatch", "post-applypatch",
)  # fmt: skip

WITNESS = """\
#!{python} -IS
import json, os, sys
name = os.path.basename(sys.argv[0])
git_dir = os.environ.get("GIT_DIR", ".git")
index = os.environ.get("GIT_INDEX_FILE")
seen = os.stat(index or os.path.join(git_dir, "index"))
sight = {{
    "hook": name,
    "args": sys.argv[2:] if name == "prepare-commit-msg" else sys.argv[1:],
    "parent": os.getppid(),
    "files": os.listdir(git_dir),
    "heads": [key[8:] for key in os.environ if key.startswith("GITHEAD_")],
    "index": index,
    "stat": (seen.st_ino, seen.st_size, seen.st_mtime_ns),
    "locked": os.path.exists(os.path.join(git_dir, "index.lock")),
}}
with open({log!r}, "a") as log:
    log.write(json.dumps(sight) + "\\n")
sys.exit(os.environ.get("REFUSE") == name)
"""

STATE = {
    "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG",
    "sequencer", "rebase-merge", "rebase-apply",
}  # fmt: skip

Sight = dict[str, Any]


class Witnessed:
    """A repository whose hooks write down what they see."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repo.new(folder, files={"a": "1\n2\n3\n", "b": "b\n"})
        self.log = folder / "seen"
        self.repo.git("branch", "side")

    @property
    def git_dir(self) -> str:
        return str(self.repo.path / ".git")

    def watch(self) -> None:
        for name in HOOKS:
            hook = self.repo.path / ".git/hooks" / name
            hook.write_text(WITNESS.format(python=sys.executable, log=str(self.log)))
            hook.chmod(0o755)

    def sights(self, *args: str, env: dict[str, str | None] | None = None) -> list[Sight]:
        """What the hooks saw while git ran, whatever it ended with."""
        self.log.write_text("")
        editor = {"GIT_EDITOR": "true", "GIT_MERGE_AUTOEDIT": "no"}
        self.repo.git(*args, check=False, env={**editor, **(env or {})}, input="y\n" if "-p" in args else None)
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    # -- the beginnings of stories

    def on_side(self, path: str, content: str) -> None:
        self.repo.git("checkout", "-q", "side")
        self.repo.commit(f"side: {path}", {path: content})
        self.repo.git("checkout", "-q", "main")

    def stage(self) -> None:
        self.repo.write("a", "staged\n")
        self.repo.git("add", "a")

    def edit(self) -> None:
        self.repo.write("a", "edited\n")

    def apart(self) -> None:
        self.on_side("c", "c\n")
        self.repo.commit("main: d", {"d": "d\n"})

    def two_apart(self) -> None:
        self.on_side("e", "e\n")
        self.apart()

    def two_apart_on_side(self) -> None:
        self.two_apart()
        self.repo.git("checkout", "-q", "side")

    def against(self) -> None:
        self.on_side("a", "side\n")
        self.repo.commit("main: a", {"a": "main\n"})

    def against_on_side(self) -> None:
        self.against()
        self.repo.git("checkout", "-q", "side")

    def two_commits(self) -> None:
        self.repo.commit("main: d", {"d": "d\n"})
        self.repo.commit("main: e", {"e": "e\n"})

    def overtaken(self) -> None:
        self.repo.commit("x", {"a": "x\n"})
        self.repo.commit("y", {"a": "y\n"})

    def settle(self) -> None:
        self.repo.write("a", "settled\n")
        self.repo.git("add", "a")


def told(sight: Sight) -> str:
    """One line: the hook, its arguments, the state files."""
    files = sorted(STATE.intersection(sight["files"]))
    return " ".join([sight["hook"], *sight["args"], "|", *files]).strip()


@pytest.fixture
def witnessed(tmp_path: Path) -> Witnessed:
    return Witnessed(tmp_path)


Begin = Callable[[Witnessed], None]
W = Witnessed
PICKED = "CHERRY_PICK_HEAD MERGE_MSG"
MERGING = "MERGE_HEAD MERGE_MODE MERGE_MSG"
PICK_IN_REBASE = ["prepare-commit-msg message | CHERRY_PICK_HEAD MERGE_MSG rebase-merge"]

# beginning, commands before (with `settle` after each), the command, what pre-(merge-)commit and prepare-commit-msg see
TABLE: dict[str, tuple[Begin, list[str], str, list[str]]] = {
    "plain": (W.stage, [], "commit -m m", ["pre-commit |", "prepare-commit-msg message |"]),
    "all": (W.edit, [], "commit -am m", ["pre-commit |", "prepare-commit-msg message |"]),
    "include": (W.edit, [], "commit -i a -m m", ["pre-commit |", "prepare-commit-msg message |"]),
    "path": (W.edit, [], "commit a -m m", ["pre-commit |", "prepare-commit-msg message |"]),
    "patch": (W.edit, [], "commit -p -m m", ["pre-commit |", "prepare-commit-msg message |"]),
    "editor": (W.stage, [], "commit", ["pre-commit |", "prepare-commit-msg |"]),
    "amend": (W.stage, [], "commit --amend --no-edit", ["pre-commit |", "prepare-commit-msg commit HEAD |"]),
    "amend-with-message": (W.stage, [], "commit --amend -m m", ["pre-commit |", "prepare-commit-msg message |"]),
    "reuse": (W.stage, [], "commit -C HEAD", ["pre-commit |", "prepare-commit-msg commit HEAD |"]),
    "no-verify": (W.stage, [], "commit --no-verify -m m", ["prepare-commit-msg message |"]),
    "merge": (W.apart, [], "merge side", ["pre-merge-commit |", f"prepare-commit-msg merge | {MERGING}"]),
    "merge-no-ff": (
        lambda w: w.on_side("c", "c\n"), [], "merge --no-ff side",
        ["pre-merge-commit |", f"prepare-commit-msg merge | {MERGING}"],
    ),
    "merge-no-verify": (W.apart, [], "merge --no-verify side", [f"prepare-commit-msg merge | {MERGING}"]),
    "merge-conflict-commit": (
        W.against, ["merge side"], "commit --no-edit",
        [f"pre-commit | {MERGING}", f"prepare-commit-msg merge | {MERGING}"],
    ),
    "merge-conflict-commit-message": (
        W.against, ["merge side"], "commit -m m",
        [f"pre-commit | {MERGING}", f"prepare-commit-msg message | {MERGING}"],
    ),
    "merge-conflict-continue": (
        W.against, ["merge side"], "merge --continue",
        [f"pre-commit | {MERGING}", f"prepare-commit-msg merge | {MERGING}"],
    ),
    "merge-conflict-no-verify": (
        W.against, ["merge side"], "commit -n --no-edit", [f"prepare-commit-msg merge | {MERGING}"],
    ),
    "squash": (
        W.apart, ["merge --squash side"], "commit --no-edit",
        ["pre-commit | SQUASH_MSG", "prepare-commit-msg squash | SQUASH_MSG"],
    ),
    "squash-message": (
        W.apart, ["merge --squash side"], "commit -m m",
        ["pre-commit | SQUASH_MSG", "prepare-commit-msg message | SQUASH_MSG"],
    ),
    "cherry-pick": (W.apart, [], "cherry-pick side", [f"prepare-commit-msg message | {PICKED}"]),
    "cherry-pick-editor": (W.apart, [], "cherry-pick -e side", [f"prepare-commit-msg merge | {PICKED}"]),
    "cherry-pick-two": (
        W.two_apart, [], "cherry-pick main..side", [f"prepare-commit-msg message | {PICKED} sequencer"] * 2,
    ),
    "cherry-pick-conflict-commit": (
        W.against, ["cherry-pick side"], "commit --no-edit",
        [f"pre-commit | {PICKED}", f"prepare-commit-msg merge | {PICKED}"],
    ),
    "cherry-pick-conflict-commit-message": (
        W.against, ["cherry-pick side"], "commit -m m",
        [f"pre-commit | {PICKED}", f"prepare-commit-msg message | {PICKED}"],
    ),
    "cherry-pick-conflict-continue": (
        W.against, ["cherry-pick side"], "cherry-pick --continue",
        [f"pre-commit | {PICKED}", f"prepare-commit-msg merge | {PICKED}"],
    ),
    "cherry-pick-no-commit": (
        W.apart, ["cherry-pick -n side"], "commit -m m",
        ["pre-commit | MERGE_MSG", "prepare-commit-msg message | MERGE_MSG"],
    ),
    "revert": (W.two_commits, [], "revert --no-edit HEAD", ["prepare-commit-msg message | MERGE_MSG"]),
    "revert-editor": (W.two_commits, [], "revert -e HEAD", ["prepare-commit-msg merge | MERGE_MSG"]),
    "revert-two": (
        W.two_commits, [], "revert --no-edit HEAD~2..HEAD", ["prepare-commit-msg message | MERGE_MSG sequencer"] * 2,
    ),
    "revert-no-commit": (
        W.two_commits, ["revert -n HEAD"], "commit -m m",
        ["pre-commit | MERGE_MSG REVERT_HEAD", "prepare-commit-msg message | MERGE_MSG REVERT_HEAD"],
    ),
    "revert-conflict-commit": (
        W.overtaken, ["revert --no-edit HEAD~1"], "commit --no-edit",
        ["pre-commit | MERGE_MSG REVERT_HEAD", "prepare-commit-msg merge | MERGE_MSG REVERT_HEAD"],
    ),
    "revert-conflict-continue": (
        W.overtaken, ["revert --no-edit HEAD~1"], "revert --continue",
        ["pre-commit | MERGE_MSG REVERT_HEAD", "prepare-commit-msg merge | MERGE_MSG REVERT_HEAD"],
    ),
    "rebase": (W.two_apart_on_side, [], "rebase main", PICK_IN_REBASE * 2),
    "rebase-reword": (
        W.two_apart_on_side, [], "-c sequence.editor=sed\\ -i.bak\\ 1s/^pick/reword/ rebase -i main",
        [
            *PICK_IN_REBASE, "pre-commit | rebase-merge", "prepare-commit-msg commit HEAD | rebase-merge",
            *PICK_IN_REBASE,
        ],
    ),
    "rebase-squash": (
        W.two_apart_on_side, [], "-c sequence.editor=sed\\ -i.bak\\ 2s/^pick/squash/ rebase -i main",
        [*PICK_IN_REBASE, "prepare-commit-msg message | MERGE_MSG SQUASH_MSG rebase-merge"],
    ),
    "rebase-exec": (
        W.two_apart_on_side, [], "rebase HEAD~2 --exec git\\ commit\\ --allow-empty\\ -m\\ x",
        ["pre-commit | rebase-merge", "prepare-commit-msg message | rebase-merge"] * 2,
    ),
    "rebase-conflict-continue": (
        W.against_on_side, ["rebase main"], "rebase --continue",
        ["prepare-commit-msg message | MERGE_MSG rebase-merge"],
    ),
    "rebase-conflict-commit": (
        W.against_on_side, ["rebase main"], "commit --no-edit",
        ["pre-commit | MERGE_MSG rebase-merge", "prepare-commit-msg merge | MERGE_MSG rebase-merge"],
    ),
    "rebase-apply": (W.two_apart_on_side, [], "rebase --apply main", []),
}  # fmt: skip


def _words(command: str) -> list[str]:
    return [word.replace("\0", " ") for word in command.replace("\\ ", "\0").split(" ")]


@pytest.mark.parametrize("name", TABLE)
def test_what_a_hook_is_told_is_what_the_page_says(witnessed: Witnessed, name: str) -> None:
    begin, before, command, expected = TABLE[name]
    begin(witnessed)
    for step in before:
        witnessed.repo.git(*_words(step), check=False)
        if "conflict" in name:
            witnessed.settle()
    witnessed.watch()
    sights = witnessed.sights(*_words(command))
    interesting = ("pre-commit", "pre-merge-commit", "prepare-commit-msg")
    if name == "rebase-exec":  # commits that stay where they are, are not made again
        sights = [sight for sight in sights if "MERGE_MSG" not in sight["files"]]
    assert [told(sight) for sight in sights if sight["hook"] in interesting] == expected


ONE_COMMAND = ["plain", "all", "include", "path", "patch", "amend", "merge", "merge-conflict-commit"]


@pytest.mark.parametrize("name", ONE_COMMAND)
def test_a_hook_finds_the_index_as_the_first_hook_left_it_and_the_same_parent(
    witnessed: Witnessed, name: str
) -> None:
    begin, before, command, _ = TABLE[name]
    begin(witnessed)
    for step in before:
        witnessed.repo.git(*_words(step), check=False)
        witnessed.settle()
    witnessed.watch()
    first, prepare, *rest = witnessed.sights(*_words(command))
    assert (first["index"], first["stat"]) == (prepare["index"], prepare["stat"])
    assert {sight["parent"] for sight in (prepare, *rest)} == {first["parent"]}
    assert first["locked"] == (name in ("all", "include", "path", "patch"))
    last = rest[-1]
    assert last["hook"] == ("post-merge" if name == "merge" else "post-commit")
    assert (last["stat"] == first["stat"]) == (name != "path")


def test_a_hook_of_a_pick_has_the_process_of_the_whole_command_as_its_parent(witnessed: Witnessed) -> None:
    witnessed.two_apart()
    witnessed.watch()
    sights = witnessed.sights("cherry-pick", "main..side")
    assert [sight["hook"] for sight in sights] == ["prepare-commit-msg", "post-commit"] * 2
    assert len({sight["parent"] for sight in sights}) == 1
    assert sights[0]["stat"] != sights[2]["stat"]


def test_a_hook_before_a_merge_sees_the_other_parent_only_in_the_environment(witnessed: Witnessed) -> None:
    witnessed.apart()
    witnessed.watch()
    first, *_ = witnessed.sights("merge", "side")
    assert first["hook"] == "pre-merge-commit"
    assert first["heads"] == [witnessed.repo.git("rev-parse", "side").out.strip()]
    assert "MERGE_HEAD" not in first["files"]


def test_a_hook_sees_only_those_heads_that_become_parents(witnessed: Witnessed) -> None:
    witnessed.two_apart()
    witnessed.watch()
    first, *_ = witnessed.sights("merge", "side~1", "side")
    assert first["heads"] == witnessed.repo.git("rev-parse", "HEAD^2").lines


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "zsh"])
def test_a_shell_hook_can_compare_times_within_a_second(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    for name, nanoseconds in (("old", 100_000_000), ("new", 900_000_000)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, ns=(nanoseconds, 10**18 + nanoseconds))
    script = "[ new -nt old ] && ! [ old -nt new ] && ! [ old -nt old ] && ! [ absent -nt old ]"
    assert subprocess.run([shell, "-c", script], cwd=tmp_path, check=False).returncode == 0


# -- the way back from a refused command


def _content(repo: Repo) -> tuple[str, str, str]:
    return (repo.git("rev-parse", "HEAD", "HEAD^{tree}").out, repo.git("status", "--porcelain").out, repo.read("b"))


REFUSED: dict[str, tuple[Begin, list[str], str, str, Operation]] = {
    "merge": (W.apart, [], "merge side", "pre-merge-commit", Operation("merge", "git merge --abort")),
    "merge-at-the-second-net": (
        W.apart, [], "merge -n side", "prepare-commit-msg", Operation("merge", "git merge --abort"),
    ),
    "merge-no-verify": (
        W.apart, [], "merge --no-verify side", "prepare-commit-msg", Operation("merge", "git merge --abort"),
    ),
    "cherry-pick": (
        W.apart, [], "cherry-pick side", "prepare-commit-msg", Operation("cherry-pick", "git cherry-pick --abort"),
    ),
    "cherry-pick-two": (
        W.two_apart, [], "cherry-pick main..side", "prepare-commit-msg",
        Operation("cherry-pick", "git cherry-pick --abort"),
    ),
    "cherry-pick-conflict": (
        W.against, ["cherry-pick side"], "commit --no-edit", "pre-commit",
        Operation("cherry-pick", "git cherry-pick --abort"),
    ),
    "revert": (
        W.two_commits, [], "revert --no-edit HEAD", "prepare-commit-msg", Operation("revert", "git reset --merge"),
    ),
    "revert-editor": (
        W.two_commits, [], "revert -e HEAD", "prepare-commit-msg", Operation("revert", "git reset --merge"),
    ),
    "cherry-pick-editor": (
        W.apart, [], "cherry-pick -e side", "prepare-commit-msg",
        Operation("cherry-pick", "git cherry-pick --abort"),
    ),
    "revert-by-reference": (
        W.two_commits, [], "revert --no-edit --reference HEAD", "prepare-commit-msg",
        Operation("revert", "git reset --merge"),
    ),
    "revert-two": (
        W.two_commits, [], "revert --no-edit HEAD~2..HEAD", "prepare-commit-msg",
        Operation("revert", "git revert --abort"),
    ),
    "revert-no-commit": (
        W.two_commits, ["revert -n HEAD"], "commit -m m", "pre-commit", Operation("revert", "git revert --abort"),
    ),
    "revert-conflict": (
        W.overtaken, ["revert --no-edit HEAD~1"], "commit --no-edit", "pre-commit",
        Operation("revert", "git revert --abort"),
    ),
    "rebase": (
        W.two_apart_on_side, [], "-c rebase.autostash=true rebase main", "prepare-commit-msg",
        Operation("rebase", "git rebase --abort"),
    ),
    "rebase-conflict": (
        W.against_on_side, ["-c rebase.autostash=true rebase main"], "commit --no-edit", "pre-commit",
        Operation("rebase", "git rebase --abort"),
    ),
    "rebase-apply": (
        W.against_on_side, ["-c rebase.autostash=true rebase --apply main"], "commit -m m", "pre-commit",
        Operation("rebase", "git rebase --abort"),
    ),
    "squash": (
        W.apart, ["merge --squash side"], "commit --no-edit", "pre-commit", Operation("squash", "git reset --merge"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_the_escape_takes_a_refused_command_back_and_spares_other_edits(witnessed: Witnessed, name: str) -> None:
    begin, before, command, hook, expected = REFUSED[name]
    repo = witnessed.repo
    begin(witnessed)
    repo.write("b", "somebody's edit\n")
    start = _content(repo)
    for step in before:
        repo.git(*_words(step), check=False)
        if "conflict" in name or "apply" in name:
            witnessed.settle()
    witnessed.watch()
    sights = witnessed.sights(*_words(command), env={"REFUSE": hook})
    assert sights[-1]["hook"] == hook
    found = operation(witnessed.git_dir)
    assert found == expected
    assert found.escape
    repo.git(*found.escape.split()[1:])
    assert _content(repo) == start
    assert operation(witnessed.git_dir) == Operation("none")


@pytest.mark.parametrize("refused", ["applypatch-msg", "pre-applypatch"])
def test_the_escape_takes_a_refused_patch_back(witnessed: Witnessed, refused: str) -> None:
    witnessed.apart()
    repo = witnessed.repo
    patch = repo.git("format-patch", "-1", "side", "-o", "..").out.strip()
    start = _content(repo)
    witnessed.watch()
    witnessed.sights("am", patch, env={"REFUSE": refused})
    found = operation(witnessed.git_dir)
    assert found == Operation("am", "git am --abort")
    repo.git("am", "--abort")
    assert _content(repo) == start


@pytest.mark.parametrize("abort", ["revert --abort", "cherry-pick --abort", "merge --abort"])
def test_no_abort_takes_a_refused_single_revert_back(witnessed: Witnessed, abort: str) -> None:
    witnessed.two_commits()
    witnessed.watch()
    witnessed.sights("revert", "--no-edit", "HEAD", env={"REFUSE": "prepare-commit-msg"})
    witnessed.repo.git(*abort.split(), check=False).ended(128)
    assert witnessed.repo.git("status", "--porcelain").out == "D  e\n"


def test_a_refused_single_revert_is_completed_by_a_commit(witnessed: Witnessed) -> None:
    witnessed.two_commits()
    witnessed.watch()
    witnessed.sights("revert", "--no-edit", "HEAD", env={"REFUSE": "prepare-commit-msg"})
    assert [told(sight) for sight in witnessed.sights("commit", "--no-edit")][:2] == [
        "pre-commit | MERGE_MSG",
        "prepare-commit-msg merge | MERGE_MSG",
    ]


# -- what git is in the middle of


def test_a_quiet_repository_is_in_the_middle_of_nothing(repo: Repo) -> None:
    assert operation(str(repo.path / ".git")) == Operation("none")


def test_leftovers_of_an_operation_that_has_ended_mean_nothing(witnessed: Witnessed) -> None:
    witnessed.against()
    witnessed.repo.git("merge", "side", check=False)
    witnessed.settle()
    witnessed.repo.git("commit", "--no-edit")
    witnessed.on_side("c", "c\n")
    witnessed.repo.git("cherry-pick", "side")
    for name in ("AUTO_MERGE", "REBASE_HEAD", "ORIG_HEAD"):
        (witnessed.repo.path / ".git" / name).write_text(witnessed.repo.head + "\n")
    assert operation(witnessed.git_dir).kind == "none"


def test_a_rebase_wins_over_the_pick_inside_it(witnessed: Witnessed) -> None:
    witnessed.two_apart_on_side()
    witnessed.watch()
    witnessed.sights("rebase", "main", env={"REFUSE": "prepare-commit-msg"})
    assert (witnessed.repo.path / ".git/CHERRY_PICK_HEAD").exists()
    assert operation(witnessed.git_dir).kind == "rebase"


def test_a_rebase_wins_over_the_merge_inside_it(witnessed: Witnessed) -> None:
    witnessed.apart()
    repo = witnessed.repo
    repo.git("checkout", "-q", "-b", "topic", "main~1")
    repo.commit("t", {"t": "t\n"})
    repo.git("merge", "-q", "--no-ff", "--no-edit", "side")
    refuses_merges = repo.write(".git/hooks/prepare-commit-msg", "#!/bin/sh\n[ ! -e .git/MERGE_HEAD ]\n")
    refuses_merges.chmod(0o755)
    repo.git("rebase", "-r", "main", check=False).ended(1)
    assert (repo.path / ".git/MERGE_HEAD").exists()
    assert operation(witnessed.git_dir) == Operation("rebase", "git rebase --abort")


def test_a_bisection_has_nothing_to_take_back(witnessed: Witnessed) -> None:
    witnessed.two_commits()
    witnessed.repo.git("bisect", "start", "HEAD", "HEAD~2")
    assert operation(witnessed.git_dir) == Operation("bisect")


def test_a_pick_without_a_commit_is_a_plain_change(witnessed: Witnessed) -> None:
    witnessed.apart()
    witnessed.repo.git("cherry-pick", "-n", "side")
    assert operation(witnessed.git_dir) == Operation("none")


def test_the_pause_between_two_picks_is_still_a_pick(witnessed: Witnessed) -> None:
    witnessed.on_side("a", "side\n")
    witnessed.two_apart()
    witnessed.repo.commit("main: a", {"a": "main\n"})
    witnessed.repo.git("cherry-pick", "main..side", check=False)
    witnessed.settle()
    witnessed.repo.git("commit", "--no-edit")
    assert not (witnessed.repo.path / ".git/CHERRY_PICK_HEAD").exists()
    assert operation(witnessed.git_dir) == Operation("cherry-pick", "git cherry-pick --abort")


def test_each_worktree_is_in_the_middle_of_its_own(witnessed: Witnessed) -> None:
    witnessed.against()
    there = witnessed.repo.worktree("there")
    there.git("merge", "side", check=False)
    git_dir = there.git("rev-parse", "--absolute-git-dir").out.strip()
    assert operation(git_dir).kind == "merge"
    assert operation(witnessed.git_dir).kind == "none"


def test_a_git_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError):
        operation(str(tmp_path / "absent"))
