"""Set-up commands of a repository run only where a person has approved exactly these, at a terminal."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitlock.domain.agent import Agent
from gitlock.wiring.bystanders import MARKERS, why_no_person
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits
from tests.kit.terminal import bash

MAP = 'version = 1\n[spawn]\nsetup = ["sh tools/setup.sh", "echo again >> made"]\n'
SCRIPT = 'echo "$GITLOCK_AGENT $GITLOCK_SLOT $GITLOCK_PORT_BASE ${GIT_DIR-none}" > made; echo said; echo loud >&2\n'


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, {".gitlock.toml": MAP, "tools/setup.sh": SCRIPT, ".gitignore": "made\n"})


def approve(repo: Repo, *args: str, answer: str = "yes", shows: str = "trusted 2 set-up commands") -> str:
    """A person at a terminal; what the terminal showed."""
    above = why_no_person(Agent("dana@example.com", "human", "user.email"), os.environ)
    if above is not None:
        pytest.skip(f"no person runs these tests: {above}")
    with bash(repo.path, "", agent=None) as shell:
        shell.types(f"git-lock trust {' '.join(args)}\r").shows("to trust them")
        shell.types(f"{answer}\r").shows(shows)
        return shell.screen


def setup_of(repo: Repo, agent: str, *args: str) -> tuple[str, Path]:
    """How the set-up of a new worktree went, and where it would have left its mark."""
    worktree = repo.json("spawn", agent, *args)["data"]["worktree"]
    return worktree["setup"], Path(worktree["path"]) / "made"


# -- who may approve


def test_untrusted_commands_do_not_run_and_a_person_is_told_how(repo: Repo) -> None:
    done = repo.lock("spawn", "fix").ok()
    assert "2 set-up commands of .gitlock.toml did not run" in done.err
    assert f"git lock trust --at {repo.head[:10]}" in done.err
    assert not (repo.path.parent / "repo.agents/fix/made").exists()


def test_trusted_commands_run_in_the_worktree_as_its_agent(repo: Repo) -> None:
    approve(repo)
    state, made = setup_of(repo, "fix")
    assert (state, made.read_text()) == ("ok", "fix 1 20010 none\nagain\n")


def test_what_the_commands_say_is_no_answer_of_ours(repo: Repo) -> None:
    approve(repo)
    done = repo.lock("spawn", "fix", "--json").ok()
    assert json.loads(done.out)["data"]["worktree"]["setup"] == "ok"
    assert "said\nloud\n" in done.err


def test_anything_but_yes_approves_nothing(repo: Repo) -> None:
    approve(repo, answer="y", shows="nothing was trusted")
    assert setup_of(repo, "fix")[0] == "untrusted"


def test_without_a_terminal_nobody_is_asked(repo: Repo) -> None:
    answer = repo.json("trust", agent=None, input="yes\n")
    assert (answer["code"], answer["error"]["id"]) == (17, "no-terminal")


@pytest.mark.parametrize(
    ("agent", "env"),
    [
        ("alice", {}),
        (None, {"CLAUDECODE": "1"}),
        (None, {"CODEX_SANDBOX": "seatbelt"}),
        (None, {"GITLOCK_KIND": "bot"}),
        (None, {"CI": "true", "GITLOCK_KIND": "human"}),
        ("alice", {"GEMINI_CLI": "1", "GITLOCK_KIND": "human"}),
    ],
)
def test_an_agent_cannot_approve(repo: Repo, agent: str | None, env: dict[str, str]) -> None:
    answer = repo.json("trust", agent=agent, env=env)
    assert (answer["code"], answer["error"]["id"]) == (17, "not-a-person")


def test_every_variable_of_an_agent_program_counts() -> None:
    person = Agent("dana@example.com", "human", "user.email")
    assert [name for name in MARKERS if why_no_person(person, {name: "1"}) is None] == []


@pytest.mark.parametrize("script", ["claude", "gemini.js"])
def test_an_agent_program_above_cannot_hide(repo: Repo, tmp_path: Path, script: str, python: str) -> None:
    file = tmp_path / script
    file.write_text("import subprocess, sys; sys.exit(subprocess.run(['git-lock', 'trust']).returncode)\n")
    done = repo.run(python, str(file), env={"CLAUDECODE": None}).ended(17)
    assert f"the agent program {script.removesuffix('.js')} is above" in done.err


# -- what is approved


@pytest.mark.parametrize(
    "change",
    [
        {".gitlock.toml": MAP.replace("again", "agaim")},
        {".gitlock.toml": MAP.replace('"sh tools/setup.sh", ', "")},
        {"tools/setup.sh": SCRIPT + "#\n"},
    ],
)
def test_one_changed_byte_is_untrusted_again(repo: Repo, change: dict[str, str]) -> None:
    approve(repo)
    repo.commit("changed", change)
    assert setup_of(repo, "new")[0] == "untrusted"
    assert setup_of(repo, "old", "--base", "HEAD~1")[0] == "ok"


def test_other_files_may_change(repo: Repo) -> None:
    approve(repo)
    repo.commit("other", {"README.md": "x\n", ".gitlock.toml": MAP + "\n[policy]\nmode = 'warn'\n"})
    assert setup_of(repo, "fix")[0] == "ok"


def test_a_file_behind_a_link_is_part_of_it(repo: Repo) -> None:
    os.symlink("tools", repo.path / "bin")
    repo.commit("link", {".gitlock.toml": MAP.replace("tools/", "./bin/")})
    repo.git("add", "bin")
    repo.git("commit", "-q", "--amend", "-m", "link")
    assert "bin/setup.sh  (git cat-file" in approve(repo)
    repo.commit("changed", {"tools/setup.sh": SCRIPT + "#\n"})
    assert setup_of(repo, "fix")[0] == "untrusted"


def test_a_file_that_is_changed_by_what_goes_along_does_not_run(repo: Repo) -> None:
    approve(repo)
    repo.write("tools/setup.sh", "echo pwned > made\n")
    state, made = setup_of(repo, "fix", "--with-changes")
    assert (state, made.exists()) == ("untrusted", False)


def test_a_copied_clone_is_another_one(repo: Repo) -> None:
    approve(repo)
    copy = Repo(repo.path.parent / "copy")
    shutil.copytree(repo.path, copy.path, symlinks=True)
    assert setup_of(copy, "fix")[0] == "untrusted"


def test_the_address_of_the_remote_is_shown_and_means_nothing(repo: Repo) -> None:
    repo.git("remote", "add", "origin", "https://dana:secret@example.com/o/r.git")
    screen = approve(repo)
    assert "example.com/o/r.git" in screen and "secret" not in screen
    repo.git("remote", "set-url", "origin", "https://elsewhere.example/o/r.git")
    assert setup_of(repo, "fix")[0] == "ok"


def test_what_is_approved_is_shown_without_what_a_terminal_obeys(repo: Repo) -> None:
    hidden = MAP.replace("echo again", "echo \\u001b[2K\\u202egniht rehtona")
    repo.commit("hide", {".gitlock.toml": hidden})
    screen = approve(repo)
    wants = screen[screen.index("wants these") : screen.index("Clone:")]
    assert "\x1b" not in wants and "\u202e" not in wants and "gniht" in wants


@pytest.mark.parametrize("spoil", [lambda file: file.chmod(0o666), lambda file: file.write_text("{}")])
def test_an_approval_that_others_could_have_written_counts_for_nothing(
    repo: Repo, spoil: Callable[[Path], object]
) -> None:
    approve(repo)
    (file,) = (repo.store / "trusted").rglob("*.json")
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    spoil(file)
    assert setup_of(repo, "fix")[0] == "untrusted"


# -- afterwards


def test_a_command_that_fails_is_a_warning_and_the_worktree_stays(repo: Repo) -> None:
    repo.commit("fails", {"tools/setup.sh": "exit 7\n"})
    approve(repo)
    done = repo.lock("spawn", "fix").ok()
    assert "'sh tools/setup.sh' of .gitlock.toml failed (it ended with 7)" in done.err
    assert not (repo.path.parent / "repo.agents/fix/made").exists()


def test_a_command_that_hangs_is_stopped_with_all_that_it_has_started(repo: Repo) -> None:
    repo.commit("hangs", {"tools/setup.sh": "sleep 31415 & sleep 31415\n"})
    approve(repo)
    done = repo.lock("spawn", "fix", "--timeout", "1s").ok()
    assert "was not done within 1 s, and was stopped" in done.err
    assert "sleep 31415" not in repo.run("ps", "-o", "args", "-A").out


def test_an_approval_can_be_seen_and_taken_back(repo: Repo) -> None:
    approve(repo)
    listed = repo.json("trust", "--list", agent=None)
    assert_fits("trust", listed)
    (one,) = listed["data"]["trusted"]
    assert (one["by"], one["commands"]) == ("dana@example.com", ["sh tools/setup.sh", "echo again >> made"])
    assert repo.json("trust", agent=None)["data"]["state"] == "already"
    gone = repo.json("trust", "--revoke", one["digest"][:10])
    assert_fits("trust", gone)
    assert (gone["data"]["trusted"], gone["data"]["revoked"]) == ([], one["digest"])
    assert setup_of(repo, "fix")[0] == "untrusted"


def test_where_there_is_nothing_to_approve_nobody_is_asked(repo: Repo) -> None:
    repo.commit("none", {".gitlock.toml": "version = 1\n"})
    answer = repo.json("trust", agent=None)
    assert_fits("trust", answer)
    assert (answer["code"], answer["data"]["state"]) == (0, "none")


def test_a_map_file_that_cannot_be_read_runs_nothing(repo: Repo) -> None:
    repo.commit("broken", {".gitlock.toml": "version = 9\n"})
    repo.write(".gitlock.toml", "version = 1\n")
    state, made = setup_of(repo, "fix")
    assert (state, made.exists()) == ("partial", False)


def test_before_the_first_commit_it_says_what_counts(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "unborn")
    repo.path.mkdir()
    repo.git("init", "--quiet")
    error = repo.json("trust", agent=None)["error"]
    assert (error["id"], error["next"]) == ("unborn", "git add .gitlock.toml && git commit")
