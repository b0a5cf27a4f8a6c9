"""``git lock doctor`` about agent programs: what is set up is run as it is written, and what it answers is judged as
its program would."""

import json
import os
import select
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitlock.domain.programs import PROGRAMS
from tests.kit.processes import until
from tests.kit.program import program
from tests.kit.repo import Repo

GUARD = "command -v git-lock >/dev/null 2>&1 || exit 0; "


def nested(event: str, matcher: str, command: str, **more: object) -> dict[str, Any]:
    """Claude Code's shape, and Codex's, Gemini's, Devin's."""
    return {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command, **more}]}]}


def ours(name: str) -> str:
    return f"git-lock agent-hook --harness {name}"


FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "claude": (".claude/settings.local.json", {"hooks": nested("PreToolUse", "Edit|Write|Bash", ours("claude"))}),
    "codex": (".codex/hooks.json", {"hooks": nested("PreToolUse", "apply_patch|Edit|Bash", ours("codex"))}),
    "gemini": (".gemini/settings.json", {"hooks": nested("BeforeTool", "write_file|replace", GUARD + ours("gemini"))}),
    "cursor": (
        ".cursor/hooks.json",
        {"version": 1, "hooks": {"preToolUse": [{"command": ours("cursor"), "matcher": "Write|Delete|Shell"}]}},
    ),
    "copilot": (
        ".github/hooks/git-lock.json",
        {"version": 1, "hooks": {"preToolUse": [
            {"type": "command", "matcher": "edit|create", "bash": GUARD + ours("copilot") + " --event preToolUse"}
        ]}},
    ),
    "windsurf": (".windsurf/hooks.json", {"hooks": {"pre_write_code": [{"command": ours("windsurf")}]}}),
    "devin": (".devin/hooks.v1.json", nested("PreToolUse", "edit|write|exec", GUARD + ours("devin"))),
}  # fmt: skip


def put(repo: Repo, name: str, document: object | None = None) -> str:
    path, healthy = FILES[name]
    repo.write(path, json.dumps(healthy if document is None else document))
    return path


def put_own(home: Path, command: str) -> None:
    """The person's own settings of Claude Code ask for this before an edit."""
    file = home / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"hooks": nested("PreToolUse", "Edit", command)}))


def findings(repo: Repo, *words: str, env: dict[str, str | None] | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = repo.json("doctor", "--here", *words, agent=None, env=env)["data"]["findings"]
    return found


def about(found: list[dict[str, Any]], name: str, state: str) -> list[str]:
    return [one["what"] for one in found if one["about"] == name and one["state"] == state]


@pytest.fixture
def managed(repo: Repo) -> Repo:
    """git-lock has something to say here."""
    repo.lock("claim", "README.md").ok()
    return repo


@pytest.fixture(scope="module")
def well(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """All programs set up at once, and looked at once; Codex with a path that nobody has to look for."""
    repo = Repo.new(tmp_path_factory.mktemp("well"))
    for name in FILES:
        put(repo, name)
    here = f"{program().parent}/{ours('codex')}"
    put(repo, "codex", {"hooks": nested("PreToolUse", "apply_patch|Edit|Bash", here)})
    return findings(repo)


@pytest.mark.parametrize("name", [*FILES, "vscode"])
def test_a_program_that_is_set_up_well_is_fed_and_found_well(well: list[dict[str, Any]], name: str) -> None:
    assert not about(well, name, "bad")
    assert any(one.startswith("a refused edit was answered as ") for one in about(well, name, "ok"))


def test_what_a_bare_path_does_not_find_is_said(well: list[dict[str, Any]]) -> None:
    (note,) = [one for one in about(well, "programs", "note") if "with a bare PATH" in one]
    assert "Claude Code" in note and PROGRAMS["codex"].title not in note


def test_what_a_bare_path_finds_of_both_programs_is_shown(well: list[dict[str, Any]]) -> None:
    (command,) = [one["next"] for one in well if "with a bare PATH" in one["what"]]
    beside = command.replace("PATH=/usr/bin:/bin", f"PATH={program().parent}:/usr/bin:/bin")
    shown = subprocess.run(["/bin/sh", "-c", beside], capture_output=True, text=True, check=False).stdout
    assert [os.path.basename(line) for line in shown.splitlines()] == ["git", "git-lock"]


def test_what_is_not_as_setup_would_write_it_is_said(well: list[dict[str, Any]]) -> None:
    assert any("nothing asks us at SessionStart" in one for one in about(well, "claude", "note"))


def test_what_a_person_has_to_do_is_said_until_a_hook_was_seen(well: list[dict[str, Any]]) -> None:
    codex = PROGRAMS["codex"]
    assert f"no hook of {codex.title} was ever seen here. {codex.todo[0]}" in about(well, "codex", "note")


def script(folder: Path, text: str) -> str:
    """A program that is called as ours is, outside of every repository, and does something else."""
    file = folder / "elsewhere" / "git-lock"
    file.parent.mkdir()
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


DENIES = (
    'echo \'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
    '"permissionDecisionReason":"no"}}\''
)


@pytest.mark.parametrize(
    ("does", "found"),
    [
        ("cat >/dev/null; echo hello", "would not take the answer for a refusal: 'hello'"),
        ("exit 3", "would not take the answer for a refusal: exit 3, nothing"),
        ("exit 0", "would edit a file that another holds: the hook said nothing"),
        (DENIES, "something refuses the edit, and it is not git-lock"),
        ("rm -f \"$0\"; exec \"$0\"", "can't start the hook, and edits go unchecked: exit 127"),
    ],
    ids=["prints junk", "exits 3", "says nothing", "refuses everything", "is missing"],
)
def test_a_hook_that_does_not_hold_is_found_out(
    managed: Repo, home: Path, tmp_path: Path, does: str, found: str
) -> None:
    put_own(home, f"{script(tmp_path, does)} agent-hook --harness claude")
    bad = about(findings(managed), "claude", "bad")
    assert len(bad) == 1 and found in bad[0]


def test_a_hook_that_hangs_keeps_nobody_and_is_ended(managed: Repo, home: Path, tmp_path: Path) -> None:
    put_own(home, f"{script(tmp_path, f'echo $$ >>{tmp_path}/pids; exec sleep 600')} agent-hook --harness claude")
    bad = about(findings(managed), "claude", "bad")
    assert ["the hook gave no answer within 5 s, and then Claude Code goes on" in one for one in bad] == [True]
    assert all(has_ended(int(pid)) for pid in (tmp_path / "pids").read_text().split())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_doctor_that_is_told_to_end_leaves_nothing_running_nor_lying_about(
    managed: Repo, home: Path, tmp_path: Path, number: int
) -> None:
    pids, scratch = tmp_path / "pids", tmp_path / "scratch"
    scratch.mkdir()
    put_own(home, f"{script(tmp_path, f'echo $$ >>{pids}; exec sleep 600')} agent-hook --harness claude")
    with managed.start("doctor", "--here", agent=None, env={"TMPDIR": str(scratch)}) as doctor:
        until(lambda: pids.exists() and pids.read_text().endswith("\n"))
        assert doctor.signal(number).wait().code == 128 + number
    assert all(has_ended(int(pid)) for pid in pids.read_text().split())
    assert list(scratch.iterdir()) == []


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or becomes so at once: it was killed, and its new parent has to notice."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select((watch,), (), (), 10.0)[0])
    finally:
        os.close(watch)


def test_an_answer_in_another_programs_words_is_found_out(managed: Repo) -> None:
    put(managed, "gemini", {"hooks": nested("BeforeTool", "replace", ours("claude"))})
    assert about(findings(managed), "gemini", "bad")


def test_a_matcher_that_passes_over_edits_is_found_out(managed: Repo) -> None:
    put(managed, "claude", {"hooks": nested("PreToolUse", "Bash", ours("claude"))})
    assert "does not ask before its tool Edit edits a file" in about(findings(managed), "claude", "bad")[0]


def test_one_event_that_cursor_does_not_know_voids_its_file(managed: Repo) -> None:
    document = json.loads(json.dumps(FILES["cursor"][1]))
    document["hooks"]["PreToolUse"] = [{"command": "true"}]
    put(managed, "cursor", document)
    bad = about(findings(managed), "cursor", "bad")
    assert "no event 'PreToolUse'" in bad[0] and "passes over the whole file" in bad[0]


def test_hooks_that_are_switched_off_are_bad(managed: Repo) -> None:
    put(managed, "claude")
    managed.write(".claude/settings.json", '{"disableAllHooks": true}')
    found = findings(managed)
    assert about(found, "claude", "bad") == [
        "Claude Code asks nobody: disableAllHooks is true in '.claude/settings.json'"
    ]
    (bad,) = [one for one in found if one["about"] == "claude" and one["state"] == "bad"]
    assert bad["next"] == f"switch hooks on in {managed.path}/.claude/settings.json"


def test_codex_switches_its_hooks_off_in_another_file(managed: Repo) -> None:
    put(managed, "codex")
    managed.write(".codex/config.toml", "[features]\nhooks = false\n")
    bad = about(findings(managed), "codex", "bad")
    assert any("features.hooks is false in '.codex/config.toml'" in one for one in bad)


def test_a_file_that_is_no_json_is_bad(managed: Repo) -> None:
    managed.write(".claude/settings.json", '{"hooks": git-lock agent-hook')
    (said,) = [one for one in findings(managed) if "may pass over all that it says" in one["what"]]
    assert (said["state"], said["next"]) == ("bad", "git lock setup claude --shared")


@pytest.mark.parametrize(
    "command",
    ["./bin/git-lock", "touch {mark}; git-lock", "{repo}/bin/git-lock", "{there}/bin/git-lock", "{link}",
     "env git-lock"],
)  # fmt: skip
def test_what_a_repository_brings_is_not_run(managed: Repo, tmp_path: Path, command: str) -> None:
    mark, link = tmp_path / "ran", tmp_path / "git-lock"
    there = managed.worktree("there")
    for repo in (managed, there):
        repo.write("bin/git-lock", f"#!/bin/sh\ntouch {mark}\n").chmod(0o755)
    link.symlink_to(managed.path / "bin/git-lock")
    line = command.format(mark=mark, repo=managed.path, there=there.path, link=link)
    put(managed, "claude", {"hooks": nested("PreToolUse", "Edit", f"{line} agent-hook --harness claude")})
    found = findings(managed)
    assert any("so it was not tried" in one for one in about(found, "claude", "note"))
    assert not mark.exists()


def test_a_persons_own_file_is_run_as_it_is(managed: Repo, home: Path, tmp_path: Path) -> None:
    put_own(home, f"touch {tmp_path}/ran; {ours('claude')}")
    assert "(~/.claude/settings.json)" in about(findings(managed), "claude", "ok")[0]
    assert (tmp_path / "ran").exists()


def test_the_exec_form_is_run_without_a_shell(managed: Repo) -> None:
    words = {"args": ["agent-hook", "--harness", "claude"]}
    put(managed, "claude", {"hooks": nested("PreToolUse", "Edit", "git-lock", **words)})
    found = findings(managed)
    assert about(found, "claude", "ok") and not about(found, "claude", "bad")


def test_two_files_that_ask_for_the_same_are_said(managed: Repo) -> None:
    put(managed, "claude")
    managed.write(".claude/settings.json", json.dumps({"hooks": nested("PreToolUse", "Edit", GUARD + ours("claude"))}))
    assert any("asks twice for each edit" in one for one in about(findings(managed), "claude", "note"))


def test_a_plugin_beside_what_setup_has_written_is_said(managed: Repo) -> None:
    path, document = FILES["claude"]
    managed.write(path, json.dumps({**document, "enabledPlugins": {"git-lock@git-lock": True}}))
    (said,) = [one for one in findings(managed) if "asks twice for each edit" in one["what"]]
    assert "by the plugin git-lock" in said["what"] and said["next"] == "git lock setup claude --remove"


def test_a_plugin_of_claude_counts_as_set_up_and_is_fed(managed: Repo) -> None:
    managed.write(".claude/settings.json", json.dumps({"enabledPlugins": {"git-lock@git-lock": True}}))
    found = findings(managed)
    assert [one for one in about(found, "claude", "ok") if ".claude/settings.json" in one]
    assert not about(found, "claude", "bad")


def own_codex(home: Path, text: str) -> dict[str, str | None]:
    """A person whose Codex has this in its ``config.toml``."""
    (home / "codex").mkdir()
    (home / "codex/config.toml").write_text(text)
    return {"CODEX_HOME": str(home / "codex")}


OUR_PLUGIN = '[plugins."git-lock@git-lock"]\n'


@pytest.mark.parametrize("more", ["enabled = true\n", ""])
def test_codexs_plugin_counts_as_set_up_and_is_fed(managed: Repo, tmp_path: Path, more: str) -> None:
    found = findings(managed, env=own_codex(tmp_path, OUR_PLUGIN + more))
    assert [one for one in about(found, "codex", "ok") if "codex/config.toml" in one]
    assert not about(found, "codex", "bad")


@pytest.mark.parametrize("text", [OUR_PLUGIN + "enabled = false\n", "[features]\nplugins = false\n" + OUR_PLUGIN])
def test_codexs_plugin_that_is_off_does_not(managed: Repo, tmp_path: Path, text: str) -> None:
    assert not about(findings(managed, env=own_codex(tmp_path, text)), "codex", "ok")


def test_codexs_plugin_beside_what_setup_has_written_is_said(managed: Repo, tmp_path: Path) -> None:
    put(managed, "codex")
    found = findings(managed, env=own_codex(tmp_path, OUR_PLUGIN))
    (said,) = [one for one in found if "asks twice for each edit" in one["what"]]
    assert "by the plugin git-lock" in said["what"] and said["next"] == "git lock setup codex --remove"


@pytest.mark.parametrize("name", ["hooks", "codex_hooks"])
def test_a_persons_codex_that_runs_no_hook_is_bad(managed: Repo, tmp_path: Path, name: str) -> None:
    put(managed, "codex")
    bad = about(findings(managed, env=own_codex(tmp_path, f"[features]\n{name} = false\n")), "codex", "bad")
    assert any(f"asks nobody: features.{name} is false in" in one for one in bad)


def test_a_plugin_of_codex_is_enough_for_setup(managed: Repo, tmp_path: Path) -> None:
    env = own_codex(tmp_path, OUR_PLUGIN)
    assert managed.lock("setup", "codex", "--check", agent=None, env=env).code == 0
    said = managed.lock("setup", "codex", agent=None, env=env).ok().out
    assert "by its git-lock plugin" in said and "config.toml" in said
    assert not (managed.path / ".codex").exists()


def test_the_persons_own_store_and_settings_are_not_touched(managed: Repo, tmp_path: Path) -> None:
    put(managed, "claude")
    managed.git("config", "--global", "gitlock.store", f"files:{tmp_path}/shared")
    managed.git("config", "--global", "gitlock.mode", "off")
    before = managed.state()
    around = {"CLAUDE_CODE_SESSION_ID": "5b0cf1e2", "GITLOCK_SESSION": "claude-5b0cf1e2"}
    found = findings(managed, env={**around, "XDG_STATE_HOME": f"{tmp_path}/own"})
    assert not about(found, "claude", "bad")
    assert managed.state() == before
    assert not (tmp_path / "own/git-lock/sessions").exists()
    assert not (managed.store / "sessions").exists() and not (tmp_path / "shared").exists()


# -- who is at work


def test_a_program_that_is_used_and_not_set_up_is_named(managed: Repo) -> None:
    managed.write("GEMINI.md", "be nice\n")
    found = findings(managed, env={"CODEX_THREAD_ID": "77aa55cc"})
    assert any(f"this is a shell of {PROGRAMS['codex'].title}" in one for one in about(found, "codex", "note"))
    assert any("seems to be used here ('GEMINI.md')" in one for one in about(found, "gemini", "note"))
    assert {one["next"] for one in found if one["about"] == "codex"} == {"git lock setup codex"}


@pytest.fixture
def logged(managed: Repo) -> Callable[[str], list[dict[str, Any]]]:
    def look(stamp: str) -> list[dict[str, Any]]:
        (managed.store / "agent-hook.log").write_text(f"{stamp} claude PreToolUse: OSError: no\n")
        return findings(managed)

    return look


def test_what_hooks_could_not_answer_long_ago_is_history(logged: Callable[[str], list[dict[str, Any]]]) -> None:
    assert not [one for one in logged("2020-01-02T03:04:05Z") if one["about"] == "agent-hook"]


def test_what_hooks_could_not_answer_just_now_is_bad(managed: Repo) -> None:
    managed.lock("agent-hook", "--harness", "claude", agent=None, input="not json").ok()
    bad = about(findings(managed), "agent-hook", "bad")
    assert "1 hook of agent programs could not answer" in bad[0]


def test_a_worktree_without_the_private_settings_file_is_named(managed: Repo) -> None:
    put(managed, "claude")
    there = managed.worktree("other")
    for found in (managed.json("doctor", agent=None)["data"]["findings"], findings(there)):
        missing = [one for one in found if one["worktree"] == str(there.path) and one["about"] == "claude"]
        assert f"'.claude/settings.local.json' is in '{managed.path}' and not in this" in missing[0]["what"]
