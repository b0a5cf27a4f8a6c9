"""``git lock setup``: a program that was set up asks before it edits, and nothing else in its settings changes."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitlock.domain.programs import NESTED, PLUGIN, PROGRAMS, TWO_SHELLS, Program
from tests.kit.program import ROOT, child_environment
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits

GOLDEN = ROOT / "tests" / "agents" / "settings"
WITH_JSON = [program for program in PROGRAMS.values() if program.shape != PLUGIN]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, files={"src/a.py": "1\n"})


def file_of(repo: Repo, program: Program, *, shared: bool = False) -> Path:
    place = program.project if shared or program.private is None else program.private
    return repo.path / place.path


def user_file(tmp_home: Path, program: Program) -> Path:
    return tmp_home / program.user.path


def every_file(folder: Path) -> dict[str, bytes]:
    """All files below, but for what git and git-lock keep for themselves."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {".git", "git-lock"} & set(path.relative_to(folder).parts)
    }


def answered(repo: Repo, *words: str, code: int = 0, **more: Any) -> dict[str, Any]:
    """An answer that fits its schema: of the one program that was named."""
    answer = repo.json("setup", *words, agent=None, **more)
    assert_fits("setup", answer)
    assert answer["code"] == code, answer
    return answer


# -- what is written


@pytest.mark.parametrize("program", WITH_JSON, ids=lambda one: one.name)
def test_an_empty_project_gets_exactly_this_file(repo: Repo, program: Program) -> None:
    repo.lock("setup", program.name, agent=None).ok()
    golden = GOLDEN / f"{'copilot' if program.shape == TWO_SHELLS else program.name}.json"
    assert file_of(repo, program).read_text() == golden.read_text()
    assert repo.git("status", "--porcelain", "--untracked-files=all").out == ""


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=lambda one: one.name)
def test_what_was_set_up_is_taken_away_without_a_trace(repo: Repo, program: Program) -> None:
    exclude = (repo.common_dir / "info/exclude").read_bytes()
    before = every_file(repo.path)
    repo.lock("setup", program.name, agent=None).ok()
    assert repo.lock("setup", program.name, "--check", agent=None).code == 0
    removed = answered(repo, program.name, "--remove")["data"]["programs"][0]["changes"]
    assert [one["became"] for one in removed] == ["removed"]
    assert every_file(repo.path) == before
    assert not [path for path in repo.path.iterdir() if path.name not in (".git", "src")]
    assert (repo.common_dir / "info/exclude").read_bytes() == exclude
    assert not (repo.store / "setup.json").exists()


def test_a_second_run_changes_nothing_and_says_so(repo: Repo) -> None:
    repo.lock("setup", "claude", agent=None).ok()
    before = every_file(repo.path), (repo.common_dir / "info/exclude").read_bytes()
    result = repo.lock("setup", "claude", agent=None).ok()
    assert "already" in result.out
    assert (every_file(repo.path), (repo.common_dir / "info/exclude").read_bytes()) == before


def test_a_persons_own_settings_are_for_every_repository(repo: Repo, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home), "XDG_CONFIG_HOME": None, "XDG_STATE_HOME": None}
    repo.git("config", "--global", "x.y", "z", env=env)
    before = every_file(home)
    for program in PROGRAMS.values():
        repo.lock("setup", program.name, "--user", agent=None, env=env).ok()
        assert user_file(home, program).exists()
        assert repo.lock("setup", program.name, "--check", agent=None, env=env, cwd="src").code == 0
    assert repo.git("status", "--porcelain", "--ignored").out == ""
    outside = Repo(tmp_path)
    assert outside.lock("setup", "claude", "--user", "--check", agent=None, env=env).code == 0
    outside.lock("setup", "all", "--user", "--remove", agent=None, env=env).ok()
    assert every_file(home) == before
    assert not (home / ".local/state/git-lock").exists()


@pytest.mark.parametrize(
    ("name", "variable", "path"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("copilot", "COPILOT_HOME", "hooks/git-lock.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugins/git-lock.ts"),
    ],
)
def test_a_home_that_was_moved_is_found(repo: Repo, tmp_path: Path, name: str, variable: str, path: str) -> None:
    moved = tmp_path / "moved"
    repo.lock("setup", name, "--user", agent=None, env={variable: str(moved)}).ok()
    assert (moved / path).is_file()


# -- that it works


def as_program(program: Program, path: str, folder: Path) -> dict[str, Any]:
    """What the program writes to the hook before it edits a path."""
    case = next(
        case for case in json.loads((ROOT / f"tests/agents/{program.name}.json").read_text())
        if case["expect"].get("kind") == "before" and case["expect"].get("tool_kind") == "edit"
    )  # fmt: skip
    text = json.dumps(case["input"])
    for old in case["expect"].get("paths", []):
        text = text.replace(json.dumps(json.dumps(old))[1:-1].strip('"\\'), path)
    found = json.loads(text)
    assert isinstance(found, dict)
    found.update({name: str(folder) for name in ("cwd",) if name in found})
    if "workspace_roots" in found:
        found["workspace_roots"] = [str(folder)]
    return found


@pytest.mark.parametrize("program", WITH_JSON, ids=lambda one: one.name)
def test_the_command_line_that_was_written_refuses_what_another_holds(repo: Repo, program: Program) -> None:
    repo.lock("claim", "src/a.py", "-m", "mine").ok()
    repo.lock("setup", program.name, agent=None).ok()
    document = json.loads(file_of(repo, program).read_text())
    events = document
    for name in (program.private or program.project).within:
        events = events[name]
    event = next(one.event for one in program.events if one.event.lower().startswith(("pre", "before"))
                 and "prompt" not in one.event.lower() and "submit" not in one.event.lower()
                 and "agent" not in one.event.lower())  # fmt: skip
    (entry,) = events[event]
    handler = entry["hooks"][0] if program.shape == NESTED else entry
    payload = as_program(program, str(repo.path / "src/a.py"), repo.path)
    done = subprocess.run(
        ["/bin/sh", "-c", handler.get("command") or handler["bash"]], input=json.dumps(payload), text=True,
        cwd=repo.path, capture_output=True, env=child_environment({"DEVIN_PROJECT_DIR": str(repo.path)}), check=False,
    )  # fmt: skip
    assert "src/a.py" in done.stdout + done.stderr and "alice" in done.stdout + done.stderr, done
    assert done.returncode == (2 if program.name in ("windsurf", "devin") else 0)


@pytest.mark.parametrize(
    ("speaks", "reads"), [("cursor", "claude"), ("vscode", "claude"), ("vscode", "copilot"), ("copilot", "claude"),
                          ("devin", "claude")],
)  # fmt: skip
def test_a_program_that_runs_the_entries_of_another_is_answered_in_its_own_words(
    repo: Repo, speaks: str, reads: str
) -> None:
    repo.lock("claim", "src/a.py").ok()
    payload = json.dumps(as_program(PROGRAMS[speaks], str(repo.path / "src/a.py"), repo.path))
    event = ("--event", "preToolUse") if "copilot" in (speaks, reads) else ()
    env = {"DEVIN_PROJECT_DIR": str(repo.path)} if speaks == "devin" else {}
    own, foreign = (
        repo.lock("agent-hook", "--harness", name, *event, agent=None, input=payload, env=env)
        for name in (speaks, reads)
    )
    assert "alice" in own.out + own.err and "alice" in foreign.out + foreign.err
    assert (foreign.code, _keys(foreign.out)) == (own.code, _keys(own.out))


def _keys(answer: str) -> list[str]:
    """The shape of an answer: its keys, with those inside them."""
    found = json.loads(answer) if answer else {}
    return [*found, *(key for inner in found.values() if isinstance(inner, dict) for key in inner)]


@pytest.mark.parametrize("program", WITH_JSON, ids=lambda one: one.name)
def test_what_a_team_shares_does_no_harm_where_there_is_no_git_lock(
    repo: Repo, tmp_path: Path, program: Program
) -> None:
    repo.lock("setup", program.name, "--shared", agent=None).ok()
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("sh", "cat"):
        (bare / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    for command in set(_commands(json.loads(file_of(repo, program, shared=True).read_text()))):
        done = subprocess.run(["/bin/sh", "-c", command], input="{}", text=True, cwd=repo.path, capture_output=True,
                              env={"PATH": str(bare)}, check=False)  # fmt: skip
        if program.looks_first:
            assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        else:
            assert done.returncode == 127  # no opinion there: "not found" stops nothing


def _commands(found: Any) -> list[str]:
    if isinstance(found, dict):
        own = [found[name] for name in ("command", "bash") if name in found]
        return own + [one for value in found.values() for one in _commands(value)]
    return [one for value in found for one in _commands(value)] if isinstance(found, list) else []


# -- shared and private


def test_what_is_shared_is_there_to_be_committed(repo: Repo) -> None:
    result = repo.lock("setup", "claude", "--shared", agent=None).ok()
    assert "git add .claude/settings.json" in result.out
    assert repo.git("status", "--porcelain", "--untracked-files=all").out == "?? .claude/settings.json\n"
    repo.lock("setup", "claude", "--shared", "--remove", agent=None).ok()
    assert repo.git("status", "--porcelain").out == ""


def test_private_settings_become_shared_ones_in_the_same_file(repo: Repo) -> None:
    repo.lock("setup", "cursor", agent=None).ok()
    repo.lock("setup", "cursor", "--shared", agent=None).ok()
    assert repo.git("status", "--porcelain", "--untracked-files=all").out == "?? .cursor/hooks.json\n"


def test_a_file_of_the_project_is_not_changed_for_one_person(repo: Repo) -> None:
    repo.commit("hooks", files={".cursor/hooks.json": '{"version": 1, "hooks": {}}\n'})
    answer = answered(repo, "cursor", code=17)
    assert answer["error"]["id"] == "settings-tracked"
    assert "--user" in answer["error"]["next"] and "--shared" in answer["error"]["next"]
    assert repo.git("status", "--porcelain").out == ""


def test_what_the_project_has_already_is_enough(repo: Repo) -> None:
    repo.lock("setup", "cursor", "--shared", agent=None).ok()
    repo.git("add", ".cursor")
    repo.commit("hooks")
    assert "set up already, for the project: .cursor/" in repo.lock("setup", "cursor", agent=None).ok().out
    assert repo.lock("setup", "cursor", "--check", agent=None).code == 0
    assert answered(repo, "cursor", "--remove", code=17)["error"]["id"] == "settings-tracked"
    assert repo.git("status", "--porcelain").out == ""


def test_two_programs_that_read_one_file_have_it_once(repo: Repo) -> None:
    repo.lock("setup", "copilot", agent=None).ok()
    shown = repo.lock("setup", "vscode", agent=None).ok().out
    assert "already" in shown and all(sentence.split()[0] in shown for sentence in PROGRAMS["vscode"].todo)
    assert "reads the same file" in repo.lock("setup", "copilot", "--remove", agent=None).ok().out
    assert repo.lock("setup", "vscode", "--check", agent=None).code == 0
    repo.lock("setup", "vscode", "--remove", agent=None).ok()
    assert not (repo.path / ".github").exists()


# -- looking


def test_check_writes_nothing_and_answers_by_its_code(repo: Repo) -> None:
    assert repo.lock("setup", "claude", "--check", agent=None).code == 1
    assert answered(repo, "claude", "--check", code=1)["error"]["id"] == "not-set-up"
    assert not (repo.path / ".claude").exists() and not repo.store.exists()
    repo.lock("setup", "claude", agent=None).ok()
    before = every_file(repo.path)
    (report,) = answered(repo, "claude", "--check")["data"]["programs"]
    assert report["effective"] and every_file(repo.path) == before
    assert {one["state"] for one in report["registrations"]} == {"set-up", "absent"}


def test_check_of_what_is_shared_is_about_the_project_alone(repo: Repo) -> None:
    repo.lock("setup", "claude", agent=None).ok()
    missing = answered(repo, "claude", "--check", "--shared", code=1)["error"]
    assert missing["next"] == "git lock setup claude --shared"
    repo.lock("setup", "claude", "--shared", agent=None).ok()
    assert repo.lock("setup", "claude", "--check", "--shared", agent=None).code == 0


def test_hooks_that_are_switched_off_are_not_to_be_set_up_once_more(repo: Repo) -> None:
    repo.write(".claude/settings.local.json", '{"disableAllHooks": true}')
    repo.lock("setup", "claude", agent=None).ok()
    error = answered(repo, "claude", "--check", code=1)["error"]
    assert "disableAllHooks is true" in error["message"] and error["next"].endswith(" .claude/settings.local.json")


def test_what_is_not_in_the_project_yet_is_said_again(repo: Repo) -> None:
    for _ in range(2):
        assert "git add .windsurf/hooks.json" in repo.lock("setup", "windsurf", "--shared", agent=None).ok().out
    assert repo.lock("setup", "windsurf", "--check", "--shared", agent=None).code == 1


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ('{"hooks": {"Stop": [{"hooks": [{"command": "git-lock agent-hook --harness claude"}]}]}}', "incomplete"),
        ('{"hooks": {', "broken"),
        ("\xff", "broken"),
    ],
)
def test_check_tells_what_is_incomplete_from_what_is_broken(repo: Repo, text: str, state: str) -> None:
    repo.write(".claude/settings.local.json", text.encode("latin-1"))
    (report,) = answered(repo, "claude", "--check", code=1)["data"]["programs"]
    assert [one["state"] for one in report["registrations"] if one["scope"] == "private"] == [state]


def test_hooks_that_are_switched_off_are_no_guard(repo: Repo) -> None:
    repo.write(".claude/settings.json", '{"disableAllHooks": true}\n')
    result = repo.lock("setup", "claude", agent=None).ok()
    assert "switched off: disableAllHooks is true in" in result.err and "switch them on in .claude/s" in result.err
    assert result.out.startswith("Claude Code asks nobody, since hooks are switched off; it is set up for this clone")
    assert "Before an edit" not in result.out
    assert repo.lock("setup", "claude", "--check", agent=None).code == 1


def test_codex_s_own_switch_is_seen_in_its_other_file(repo: Repo) -> None:
    repo.lock("setup", "codex", agent=None).ok()
    repo.write(".codex/config.toml", "[features]\nhooks = false\n")
    (report,) = answered(repo, "codex", "--check", code=1)["data"]["programs"]
    assert [one["state"] for one in report["registrations"] if one["scope"] == "private"] == ["off"]


def test_a_link_is_followed_to_look_as_programs_do(repo: Repo, tmp_path: Path) -> None:
    settings = file_of(repo, PROGRAMS["claude"])
    repo.lock("setup", "claude", agent=None).ok()
    settings.rename(tmp_path / "dotfiles.json")
    settings.symlink_to(tmp_path / "dotfiles.json")
    assert repo.lock("setup", "claude", "--check", agent=None).code == 0


def test_without_a_name_the_programs_are_listed(repo: Repo, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "codex").write_text("#!/bin/sh\n")
    (tools / "codex").chmod(0o755)
    path = child_environment()["PATH"]
    env = {"PATH": f"{tools}:{path}"}
    result = repo.lock("setup", agent=None, env=env).ok()
    assert "codex" in result.out and "hint: git lock setup codex" in result.err
    assert repo.lock("setup", "--check", agent=None, env=env).code == 1
    repo.lock("setup", "all", agent=None, env=env).ok()
    assert file_of(repo, PROGRAMS["codex"]).exists() and not file_of(repo, PROGRAMS["cursor"]).exists()
    assert repo.lock("setup", "--check", agent=None, env=env).code == 0


def test_what_is_written_is_shown_for_whoever_adds_it_by_hand(repo: Repo) -> None:
    result = repo.lock("setup", "gemini", "--print", agent=None).ok()
    assert result.out == (GOLDEN / "gemini.json").read_text()
    assert not (repo.path / ".gemini").exists()
    answered(repo, "gemini", "--print")


def test_our_plugin_is_enough(repo: Repo) -> None:
    settings = repo.write(".claude/settings.json", '{"enabledPlugins": {"git-lock@git-lock": true}}\n')
    assert repo.lock("setup", "claude", "--check", agent=None).code == 0
    assert "plugin" in repo.lock("setup", "claude", agent=None).ok().out
    assert [path.name for path in settings.parent.iterdir()] == ["settings.json"]


def test_what_the_project_shares_is_not_added_a_second_time(repo: Repo) -> None:
    repo.lock("setup", "claude", "--shared", agent=None).ok()
    assert "by the project's settings" in repo.lock("setup", "claude", agent=None).ok().out
    assert not file_of(repo, PROGRAMS["claude"]).exists()


def test_a_program_that_may_run_the_hooks_of_another_is_named(repo: Repo) -> None:
    assert "twice" not in repo.lock("setup", "claude", agent=None).ok().err
    assert "Cursor and Claude Code" in repo.lock("setup", "cursor", agent=None).ok().err


def test_two_registrations_of_one_program_are_said(repo: Repo, tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path / "home")}
    repo.lock("setup", "cursor", "--user", agent=None, env=env).ok()
    assert "runs twice" in repo.lock("setup", "cursor", agent=None, env=env).ok().err


@pytest.mark.parametrize(
    "words",
    [["nonsense"], ["claude", "--user", "--shared"], ["claude", "--check", "--remove"], ["--remove"], ["all", "claude"],
     ["--print"], ["claude", "codex", "--print"], ["--user"], ["--shared"]],
    ids=" ".join,
)  # fmt: skip
def test_words_that_make_no_sense_change_nothing(repo: Repo, words: list[str]) -> None:
    assert repo.lock("setup", *words, agent=None).code == 2
    assert not repo.store.exists()


def test_outside_of_a_repository_only_ones_own_settings_can_be_written(tmp_path: Path) -> None:
    for words in (["claude"], ["claude", "--check"]):
        result = Repo(tmp_path).lock("setup", *words, agent=None)
        assert result.code == 1 and "--user" in result.err


def test_outside_of_a_repository_a_removal_is_not_answered_with_a_set_up(tmp_path: Path) -> None:
    result = Repo(tmp_path).lock("setup", "claude", "--remove", agent=None)
    assert result.code == 1 and "hint: git lock setup claude --user --remove" in result.err


def test_an_option_without_a_program_is_told_which_command_lists(repo: Repo) -> None:
    error = answered(repo, "--user", code=2)["error"]
    assert "git lock setup --user --check" in error["next"]
    assert "claude" in repo.lock("setup", "--user", "--check", agent=None).out
