"""The plugin that ``git lock setup opencode`` writes, run by node, as OpenCode runs it, against the real program."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.kit.program import child_environment
from tests.kit.repo import Repo

NODE = shutil.which("node")
PLUGIN = ".opencode/plugins/git-lock.ts"

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

# Loads the plugin, by one of its two entrances, and does what it is told: a list of [hook, input, output]; prints what
# each one threw, and the outputs as they are then.
ONE = """
import { readFileSync } from "node:fs"
import plugin from %(plugin)s
const steps = JSON.parse(readFileSync(0, "utf8"))
const asked = []
const client = { session: { promptAsync: async (what) => { asked.push(what) } } }
const hooks = await plugin.server({ client, directory: %(folder)s, worktree: %(folder)s })
const done = []
for (const [name, input, output] of steps) {
  let thrown = null
  try { await hooks[name](input, output) } catch (error) { thrown = error.message }
  done.push({ thrown, output, asked: asked.splice(0) })
}
console.log(JSON.stringify(done))
"""
TWO = """
import { readFileSync } from "node:fs"
import plugin from %(plugin)s
const steps = JSON.parse(readFileSync(0, "utf8"))
const hooks = {}, events = []
let wake
const hook = (kind) => ({ hook: async (name, does) => { hooks[kind + "." + name] = does } })
const ctx = {
  location: { directory: %(folder)s }, tool: hook("tool"), session: hook("session"),
  event: { subscribe: ({ signal }) => (async function* () {
    while (!signal.aborted) { while (events.length) yield events.shift(); await new Promise((r) => { wake = r }) }
  })() },
}
const over = await plugin.setup(ctx)
const done = []
for (const [name, input] of steps) {
  let thrown = null
  if (name === "event") { events.push(input); wake?.(); await new Promise((r) => setTimeout(r, %(pause)d)) }
  else try { await hooks[name](input) } catch (error) { thrown = error.message }
  done.push({ thrown, output: input })
}
over(); wake?.()
console.log(JSON.stringify(done))
"""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/b.py": "1\n"})
    repo.lock("claim", "src/a.py", "-m", "mine").ok()
    repo.lock("setup", "opencode", agent=None).ok()
    return repo


def played(repo: Repo, *steps: list[Any], entrance: str = ONE, path: str | None = None) -> list[dict[str, Any]]:
    """What came of each step."""
    code = repo.path / ".git/plugin.mjs"  # node takes the ending at its word
    shutil.copy(repo.path / PLUGIN, code)
    script = entrance % {"plugin": json.dumps(str(code)), "folder": json.dumps(str(repo.path)), "pause": 0}
    env = child_environment({"PATH": path} if path is not None else {})
    done = subprocess.run(
        [str(NODE), "--input-type=module", "-e", script], input=json.dumps(steps), cwd=repo.path, env=env, text=True,
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0 and done.stderr == "", done
    found = json.loads(done.stdout)
    assert isinstance(found, list)
    return found


def edit(path: str, session: str = "ses_1", call: str = "c1") -> list[Any]:
    return ["tool.execute.before", {"tool": "edit", "sessionID": session, "callID": call}, {"args": {"filePath": path}}]


def edited(path: str, session: str = "ses_1", call: str = "c1") -> list[Any]:
    call_of_it = {"tool": "edit", "sessionID": session, "callID": call, "args": {"filePath": path}}
    return ["tool.execute.after", call_of_it, {"title": "", "output": "done", "metadata": {}}]


def holders(repo: Repo) -> dict[str, str]:
    return {key: lease["agent"] for lease in repo.json("list")["data"]["leases"] for key in lease["keys"]}


def sessions(repo: Repo) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((repo.store / "sessions").glob("*.json"))]


@needs_node
def test_an_edit_of_what_another_holds_is_thrown_back(repo: Repo) -> None:
    refused, free = played(repo, edit("src/a.py"), edit("src/b.py", call="c2"))
    assert "alice" in refused["thrown"] and "src/a.py" in refused["thrown"]
    assert free["thrown"] is None


@needs_node
def test_an_edit_that_is_free_is_claimed_for_the_session(repo: Repo) -> None:
    before, after = played(repo, edit("src/b.py"), edited("src/b.py"))
    assert (before["thrown"], after["thrown"]) == (None, None)
    assert after["output"]["output"].startswith("done\n\ngit-lock: in this repository you are ")
    assert holders(repo)["file:src/b.py"].startswith("opencode-")


@needs_node
def test_what_is_asked_of_the_session_is_read_with_the_next_output(repo: Repo) -> None:
    played(repo, edit("src/b.py"), edited("src/b.py"))
    repo.lock("request", "src/b.py", "-m", "ten minutes").ok()
    _, after = played(repo, edit("src/b.py", call="c2"), edited("src/b.py", call="c2"))
    assert after["output"]["output"].startswith("done\n\n") and "ten minutes" in after["output"]["output"]


def prompt(text: str, session: str = "ses_1") -> list[Any]:
    message = {"id": "msg_1", "sessionID": session, "agent": "plan", "model": {"providerID": "p", "modelID": "m"}}
    return ["chat.message", {"sessionID": session}, {"message": message, "parts": [{"type": "text", "text": text}]}]


def idle(session: str = "ses_1") -> list[Any]:
    return ["event", {"event": {"type": "session.idle", "properties": {"sessionID": session}}}]


@needs_node
def test_the_first_words_are_read_with_the_first_prompt(repo: Repo) -> None:
    first, second = played(repo, prompt("hello"), prompt("more"))
    (_, ours) = first["output"]["parts"]
    assert ours["synthetic"] and ours["text"].startswith("git-lock: in this repository you are opencode-ses_1")
    assert len(second["output"]["parts"]) == 1


@needs_node
def test_what_a_prompt_has_no_room_for_is_read_after_the_next_tool(repo: Repo) -> None:
    _, _, after = played(repo, ["chat.message", {"sessionID": "ses_1"}], edit("src/b.py"), edited("src/b.py"))
    assert "in this repository you are" in after["output"]["output"]


@needs_node
def test_at_the_end_of_its_turn_it_is_asked_in_its_own_voice_and_once(repo: Repo) -> None:
    played(repo, prompt("hello"), edit("src/b.py"), edited("src/b.py"))
    repo.lock("request", "src/b.py", "-m", "please", agent="bob").ok()
    _, first, second = played(repo, prompt("go on"), idle(), idle())
    (asked,) = first["asked"]
    assert asked["path"] == {"id": "ses_1"} and asked["body"]["agent"] == "plan"
    assert "please" in asked["body"]["parts"][0]["text"] and second["asked"] == []


@needs_node
def test_its_shells_know_who_they_are(repo: Repo) -> None:
    created = ["event", {"event": {"type": "session.created", "properties": {"info": {"id": "ses_1"}}}}, None]
    _, shell = played(repo, created, ["shell.env", {"cwd": str(repo.path), "sessionID": "ses_1"}, {"env": {}}])
    assert shell["output"]["env"]["GITLOCK_SESSION"]


@needs_node
def test_events_of_the_session_are_told(repo: Repo) -> None:
    def event(kind: str, **properties: Any) -> list[Any]:
        return ["event", {"event": {"type": kind, "properties": properties}}, None]

    played(
        repo, ["chat.message", {"sessionID": "ses_1"}, {}], edit("src/b.py"),
        event("permission.asked", sessionID="ses_1", title="Run ls?"), event("message.updated", sessionID="ses_1"),
    )  # fmt: skip
    assert [one["state"] for one in sessions(repo)] == ["waiting"]
    played(repo, event("session.created", info={"id": "ses_1"}), event("session.idle", sessionID="ses_1"))
    assert [one["state"] for one in sessions(repo)] == ["idle"]
    played(repo, event("session.deleted", info={"id": "ses_1"}))
    assert [one["state"] for one in sessions(repo)] in ([], ["done"])


@needs_node
def test_a_session_that_works_for_another_is_no_stranger_to_it(repo: Repo) -> None:
    child = ["event", {"event": {"type": "session.created", "properties": {"info": {"id": "s2", "parentID": "s1"}}}}, 0]
    (*_, last) = played(
        repo, edit("src/b.py", session="s1"), edited("src/b.py", session="s1"), child, edit("src/b.py", session="s2"),
    )  # fmt: skip
    assert last["thrown"] is None


@needs_node
def test_the_second_version_of_the_plugin_api_is_served_too(repo: Repo) -> None:
    call = {"sessionID": "ses_1", "callID": "c1", "tool": "edit", "input": {"filePath": "src/a.py"}}
    free = {**call, "callID": "c2", "input": {"filePath": "src/b.py"}}
    done = played(
        repo, ["session.prompt", {"sessionID": "ses_1"}], ["tool.execute.before", call], ["tool.execute.before", free],
        ["tool.execute.after", {**free, "output": "done"}], entrance=TWO,
    )  # fmt: skip
    assert [bool(one["thrown"]) for one in done] == [False, True, False, False]
    assert done[3]["output"]["output"].startswith("done\n\ngit-lock: ")
    assert holders(repo)["file:src/b.py"].startswith("opencode-")


def shell_only(tmp_path: Path, script: str | None) -> str:
    """A PATH with a git-lock of that text, or with none."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "sleep", "cat"):
        (folder / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    if script is not None:
        (folder / "git-lock").write_text(script)
        (folder / "git-lock").chmod(0o755)
    return str(folder)


@needs_node
@pytest.mark.parametrize(
    "script",
    [
        None, "#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 2\n", "#!/bin/sh\necho no json\n", "#!/bin/sh\necho '[1]'\n",
        "#!/bin/sh\necho '{\"deny\": 1}'\n", "#!/no/such/interpreter\n", "#!/bin/sh\nkill -9 $$\n",
        "#!/bin/sh\necho null\n",
    ],
    ids=["missing", "1", "2", "no json", "no object", "no text", "not started", "killed", "null"],
)  # fmt: skip
def test_a_git_lock_that_is_missing_or_broken_stops_no_edit(repo: Repo, tmp_path: Path, script: str | None) -> None:
    before, after = played(repo, edit("src/a.py"), edited("src/a.py"), path=shell_only(tmp_path, script))
    assert (before["thrown"], after["thrown"], after["output"]["output"]) == (None, None, "done")


@needs_node
def test_odd_input_stops_nothing(repo: Repo) -> None:
    done = played(
        repo, ["tool.execute.before", {}, None], ["tool.execute.before", {"tool": "edit"}, {"args": None}],
        ["tool.execute.after", {"tool": "edit"}, {"output": None}], ["shell.env", {}, {}],
        ["event", {"event": {"type": "session.idle"}}, None], ["event", {"event": {"type": 1}}, None],
    )  # fmt: skip
    assert {one["thrown"] for one in done} == {None}


def about_opencode(repo: Repo, **more: Any) -> dict[str, list[str]]:
    """What doctor says of it, by how it stands."""
    found = repo.json("doctor", "--here", agent=None, **more)["data"]["findings"]
    ours = [one for one in found if one["about"] == "opencode"]
    return {state: [one["what"] for one in ours if one["state"] == state] for state in ("ok", "note", "bad")}


def test_doctor_feeds_what_the_plugin_runs(repo: Repo) -> None:
    said = about_opencode(repo)
    assert said["bad"] == [] and "a refused edit was answered as OpenCode wants it" in " ".join(said["ok"])
    assert PLUGIN in " ".join(said["ok"])


@needs_node
@pytest.mark.parametrize("script", [None, "#!/bin/sh\nexit 0\n"], ids=["ours", "silent"])
def test_what_doctor_says_of_the_plugin_is_what_it_does(repo: Repo, tmp_path: Path, script: str | None) -> None:
    path = None if script is None else shell_only(tmp_path, script) + os.pathsep + os.environ["PATH"]
    (refused,) = played(repo, edit("src/a.py"), path=path)
    said = about_opencode(repo, env={"PATH": path} if path is not None else {})
    assert bool(refused["thrown"]) is bool(said["ok"]) is (script is None)
    assert bool(said["bad"]) is (script is not None)


def test_a_plugin_that_somebody_has_changed_is_noticed_and_kept(repo: Repo) -> None:
    file = repo.path / PLUGIN
    changed = file.read_text().replace("10_000", "5_000")
    file.write_text(changed)
    assert "changed by hand" in repo.lock("setup", "opencode", agent=None).ok().out
    assert repo.lock("setup", "opencode", "--remove", agent=None).code == 17
    assert file.read_text() == changed


def test_a_plugin_of_another_version_is_brought_up_to_date(repo: Repo) -> None:
    import hashlib

    file = repo.path / PLUGIN
    current = file.read_text()
    head, _, body = current.partition("\n")
    older = body.replace("10_000", "9_000")
    mark, _, _ = head.rpartition(" ")
    file.write_text(f"{mark} {hashlib.sha256(older.encode()).hexdigest()}\n{older}")
    assert repo.lock("setup", "opencode", "--check", agent=None).code == 1
    repo.lock("setup", "opencode", agent=None).ok()
    assert file.read_text() == current


def test_a_file_that_is_not_ours_is_not_written_over(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path)
    file = repo.write(PLUGIN, "export default {}\n")
    result = repo.lock("setup", "opencode", agent=None)
    assert result.code == 17 and "did not write" in result.err
    assert file.read_text() == "export default {}\n" and os.listdir(file.parent) == [file.name]
