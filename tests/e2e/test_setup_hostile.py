"""Settings that somebody has made to harm, and what happens to settings while nobody looks: nothing is lost, nothing
hangs, nothing ends in a traceback."""

import os
from pathlib import Path

import pytest

from gitlock.domain.programs import PROGRAMS
from gitlock.stores.files.setups import SetupBook
from gitlock.usecases.settings import setting
from gitlock.usecases.settings.places import USER, Spot
from tests.kit.repo import Repo

LOCAL = ".claude/settings.local.json"
ENTRY = '{"hooks": {"PreToolUse": [{"matcher": "%s", "hooks": [{"type": "command", "command": "%s"}]}]}}'


@pytest.fixture
def managed(repo: Repo) -> Repo:
    """git-lock has something to say here."""
    repo.lock("claim", "README.md").ok()
    return repo


HOSTILE = {
    "words that can be read in many ways": (LOCAL, ENTRY % ("Edit", "git-lock agent-hook" + " -a" * 200 + " !")),
    "a matcher that takes for ever": (LOCAL, ENTRY % ("(((.?){60}){60}){60}Z", "git-lock agent-hook")),
    "a matcher with a huge count": (LOCAL, ENTRY % ("a{99999999999999999999}", "git-lock agent-hook")),
    "a matcher of brackets": (LOCAL, ENTRY % ("(" * 5000 + ")" * 5000, "git-lock agent-hook")),
    "TOML of brackets": (".codex/config.toml", "a = " + "[" * 5000 + "]" * 5000),
    "TOML of dots": (".codex/config.toml", ".".join("a" * 300_000) + " = 1\n"),
}


@pytest.mark.parametrize("case", HOSTILE.values(), ids=HOSTILE)
def test_doctor_comes_to_an_end(managed: Repo, case: tuple[str, str]) -> None:
    path, text = case
    managed.write(path, text)
    assert managed.json("doctor", "--here", agent=None)["data"]["findings"]


@pytest.mark.parametrize("odd", [r"\u0000", r"\ud800"])
def test_a_command_that_no_command_line_can_hold_is_found_out(managed: Repo, tmp_path: Path, odd: str) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "settings.json").write_text(ENTRY % ("Edit", f"git-lock agent-hook {odd}"))
    found = managed.json("doctor", "--here", agent=None, env={"CLAUDE_CONFIG_DIR": str(own)})["data"]["findings"]
    assert [one for one in found if one["about"] == "claude" and one["state"] == "bad" and "can't start" in one["what"]]


def test_a_folder_that_a_variable_names_by_a_relative_path_is_named(repo: Repo) -> None:
    result = repo.lock("setup", "codex", "--user", agent=None, env={"CODEX_HOME": "here"})
    assert result.code == 17 and "CODEX_HOME is 'here'" in result.err and "unset CODEX_HOME" in result.err


def test_in_a_repository_that_was_moved_everything_of_ours_is_taken_away(repo: Repo, tmp_path: Path) -> None:
    repo.lock("setup", "claude", "cursor", "copilot", agent=None).ok()
    moved = tmp_path / "elsewhere" / "moved"
    moved.parent.mkdir()
    os.rename(repo.path, moved)
    there = Repo(moved)
    there.lock("setup", "claude", "cursor", "copilot", "--remove", agent=None).ok()
    assert not [name for name in (".claude", ".cursor", ".github") if (moved / name).exists()]


def test_a_worktree_on_a_disk_that_is_away_is_nothing_that_failed(repo: Repo, tmp_path: Path) -> None:
    away = tmp_path / "away"
    repo.git("worktree", "add", "-q", "--lock", str(away))
    os.rename(away, tmp_path / "gone")
    result = repo.lock("setup", "claude", agent=None).ok()
    assert str(away) not in result.err and not away.exists()


def book(tmp_path: Path) -> setting.Ground:
    return setting.Ground(SetupBook(str(tmp_path / "state")))


def spot(path: Path) -> Spot:
    program = PROGRAMS["claude"]
    return Spot(program, program.user, USER, str(path), str(path.parent), None)


def test_what_is_remembered_of_a_file_that_was_written_anew_does_not_count(tmp_path: Path) -> None:
    file, ground = tmp_path / "settings.json", book(tmp_path)
    setting.set_up(ground, PROGRAMS["claude"], spot(file))
    file.write_text("{ }")
    setting.set_up(ground, PROGRAMS["claude"], spot(file))
    setting.take_away(ground, PROGRAMS["claude"], [spot(file)], everywhere=True)
    assert file.read_text() == "{ }"


def test_what_a_later_version_remembers_is_not_written_over(managed: Repo) -> None:
    book = managed.store / "setup.json"
    book.write_text('{"format":2,"programs":["claude"]}\n')
    refused = managed.lock("setup", "claude", agent=None).ended(20)
    assert "later git-lock" in refused.err and not (managed.path / LOCAL).exists()
    assert managed.git("status", "--short", "--ignored").out == ""
    assert book.read_text() == '{"format":2,"programs":["claude"]}\n'


def test_a_memory_that_can_t_be_read_is_kept_beside_the_new_one(managed: Repo) -> None:
    book = managed.store / "setup.json"
    book.write_text("{not json")
    managed.lock("setup", "claude", agent=None).ok()
    assert (managed.store / "setup.json.unread").read_text() == "{not json"
    assert managed.lock("setup", "claude", "--check", agent=None).code == 0


def test_what_could_not_be_written_is_not_hidden_from_git(repo: Repo) -> None:
    file = repo.write(LOCAL, "{}")
    file.chmod(0o400)
    assert repo.lock("setup", "claude", agent=None).code == 17
    assert LOCAL in repo.git("status", "--short", "-uall").out


def test_what_could_not_be_taken_out_is_not_shown_to_git(repo: Repo) -> None:
    repo.lock("setup", "claude", agent=None).ok()
    file = repo.path / LOCAL
    file.write_text(file.read_text()[:-3])
    assert repo.lock("setup", "claude", "--remove", agent=None).code == 17
    assert LOCAL not in repo.git("status", "--short", "-uall").out


def test_a_plugin_that_git_checked_out_with_cr_lf_is_still_ours(repo: Repo) -> None:
    repo.lock("setup", "opencode", agent=None).ok()
    file = repo.path / ".opencode/plugins/git-lock.ts"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    repo.lock("setup", "opencode", "--remove", agent=None).ok()
    assert not file.exists()


def test_entries_of_an_event_that_is_there_twice_are_left_alone(repo: Repo) -> None:
    runs = '[{"hooks": [{"type": "command", "command": "%s"}]}]'
    ours, mine = runs % "git-lock agent-hook", runs % "mine"
    before = f'{{"hooks": {{"Stop": {ours}, "Stop": {mine}, "Notification": {ours}}}}}'
    file = repo.write(LOCAL, before)
    result = repo.lock("setup", "claude", "--remove", agent=None)
    assert result.code == 17 and "'Stop' is there twice (line 1)" in result.err and file.read_text() == before
