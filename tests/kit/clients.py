"""The real agent programs, each with a made-up model at the other end of its line.

    client = CLIENTS["codex"]
    with client.plays(repo, home, [*client.edits("src/a.py", "old", "new"), "done"]) as session:
        assert "is held by" in session.models.heard()

They run only where ``GITLOCK_CLIENTS`` names a folder with ``node_modules/.bin`` in it, into which npm has put them.
Each has a home of its own, no account, and no network but the model's; its hooks are what ``git lock setup`` writes.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.kit.models import Call, Models, Turn
from tests.kit.processes import start
from tests.kit.program import child_environment, program
from tests.kit.repo import Repo
from tests.kit.result import Result

# Read once: the seal takes it away before each test.
FOLDER = os.environ.get("GITLOCK_CLIENTS", "")
BIN = Path(FOLDER, "node_modules", ".bin").absolute()
PATIENCE = 240.0  # seconds for one session; only there to end a hang


class Session(NamedTuple):
    """A session that is over: what the program said, and what its model was told."""

    result: Result
    models: Models


class Client(NamedTuple):
    """One program. ``edit`` makes the turns that edit a file (absolute path, old and new content), ``shell`` the one
    that runs a command; ``settle`` writes the files of a home and answers the variables and the words that it is
    started with. ``asks_last`` says that it goes on when git-lock asks something at the end of a turn."""

    name: str
    edit: Callable[[str, str, str], list[Turn]]
    shell: Callable[[str], Turn]
    settle: Callable[[Path, Path, str], tuple[dict[str, str], list[str]]]
    asks_last: bool = True

    def edits(self, repo: Repo, path: str, old: str, new: str) -> list[Turn]:
        """The model edits a file of the repository."""
        return self.edit(str(repo.path / path), old, new)

    @contextmanager
    def plays(
        self, repo: Repo, home: Path, turns: list[Turn], *, missing: bool = False
    ) -> Iterator[Session]:
        """One session from its start to its end. ``missing`` takes git-lock off the program's PATH."""
        home.mkdir(exist_ok=True)
        with Models(*turns) as models:
            variables, words = self.settle(home, repo.path, models.url)
            env = _environment(home, variables, missing=missing)
            repo.lock("setup", self.name, env=dict(env) if not missing else {"HOME": str(home)}, agent=None).ok()
            with start([str(BIN / self.name), *words], cwd=repo.path, env=env) as running:
                result = running.wait(timeout=PATIENCE)
            yield Session(result, models)


def _environment(home: Path, variables: Mapping[str, str], *, missing: bool) -> dict[str, str]:
    own = child_environment()
    folders = ["/usr/local/bin", "/usr/bin", "/bin", str(BIN)]
    if not missing:
        folders.insert(0, str(program().parent))
    path = os.pathsep.join(folders)
    (home / ".profile").write_text(f"export PATH='{path}'\n")  # of programs whose shells are login shells
    (home / ".gitconfig").write_text(Path(own["GIT_CONFIG_GLOBAL"]).read_text())
    kept = {name: text for name, text in own.items() if name in ("LANG", "LC_ALL", "TZ", "TERM", "TMPDIR")}
    return {**kept, "HOME": str(home), "PATH": path, "SHELL": "/bin/bash", "USER": "dana", **variables}


def _write(home: Path, path: str, content: object) -> None:
    file = home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))


# -- each program


def _claude_edit(path: str, old: str, new: str) -> list[Turn]:
    edit = {"file_path": path, "old_string": old, "new_string": new}
    return [Call("Read", {"file_path": path}), Call("Edit", edit)]  # it edits nothing that it has not read


def _claude(home: Path, repo: Path, url: str) -> tuple[dict[str, str], list[str]]:
    _write(home, ".claude.json", {"projects": {str(repo): {"hasTrustDialogAccepted": True}}})
    words = ["-p", "go", "--permission-mode", "acceptEdits", "--allowedTools", "Bash", "Edit"]
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1"}, words  # fmt: skip


def _codex_edit(path: str, old: str, new: str) -> list[Turn]:
    return [Call("apply_patch", f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch")]


CODEX_MODEL = "gpt-5.5"  # one of those that its program offers apply_patch


def _codex(home: Path, repo: Path, url: str) -> tuple[dict[str, str], list[str]]:
    _write(home, ".codex/config.toml", f"""\
model = "{CODEX_MODEL}"
model_provider = "made-up"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.made-up]
name = "made-up"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "MADE_UP_KEY"
[projects."{repo}"]
trust_level = "trusted"
""")
    return {"MADE_UP_KEY": "x"}, ["exec", "--dangerously-bypass-hook-trust", "go"]


def _gemini_edit(path: str, old: str, new: str) -> list[Turn]:
    return [Call("replace", {"file_path": path, "old_string": old, "new_string": new, "instruction": "x"})]


def _gemini(home: Path, _: Path, url: str) -> tuple[dict[str, str], list[str]]:
    _write(home, ".gemini/settings.json", {
        "security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    })  # fmt: skip
    words = ["--approval-mode", "yolo", "-m", "gemini-2.5-flash", "-p", "go"]
    return {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}, words


def _copilot_edit(path: str, old: str, new: str) -> list[Turn]:
    return [Call("edit", {"path": path, "old_str": old, "new_str": new})]


def _copilot(_: Path, __: Path, url: str) -> tuple[dict[str, str], list[str]]:
    variables = {"COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_API_KEY": "x", "COPILOT_MODEL": "made-up",
                 "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}  # fmt: skip
    return variables, ["--trust-folder", "--allow-all-tools", "-p", "go"]


def _opencode_edit(path: str, old: str, new: str) -> list[Turn]:
    return [Call("edit", {"filePath": path, "oldString": old, "newString": new})]


def _opencode(home: Path, _: Path, url: str) -> tuple[dict[str, str], list[str]]:
    model = {"name": "made-up", "tool_call": True, "limit": {"context": 100_000, "output": 1_000}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "made-up", "models": {"made-up": model},
                "options": {"baseURL": f"{url}/v1", "apiKey": "x"}}  # fmt: skip
    _write(home, ".config/opencode/opencode.json", {
        "autoupdate": False, "share": "disabled", "model": "made-up/made-up", "small_model": "made-up/made-up",
        "provider": {"made-up": provider},
    })  # fmt: skip
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}, ["run", "go"]


def _shell(tool: str, field: str = "command") -> Callable[[str], Turn]:
    return lambda command: Call(tool, {field: command, "description": "x"})


CLIENTS = {
    client.name: client
    for client in (
        Client("claude", _claude_edit, _shell("Bash"), _claude),
        Client("codex", _codex_edit, lambda command: Call("exec_command", {"cmd": command}), _codex),
        Client("gemini", _gemini_edit, _shell("run_shell_command"), _gemini),
        Client("copilot", _copilot_edit, _shell("bash"), _copilot),
        # `opencode run` ends with the turn; what git-lock asks then is answered where the program goes on.
        Client("opencode", _opencode_edit, _shell("bash"), _opencode, asks_last=False),
    )
}
