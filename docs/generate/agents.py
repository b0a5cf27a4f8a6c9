"""Makes what agent programs install from this repository: the plugins under plugins/, with their hooks and skills, and
the marketplace files by which `claude plugin marketplace add` and `codex plugin marketplace add` find them.

    python docs/generate/agents.py            writes them
    python docs/generate/agents.py --check    ends with 1 if one of them is not what it would write, or is one too many

The skills are those of `git lock guide --skills`, the hooks those of `git lock setup`; neither is written twice.
tests/architecture/test_agents.py holds the files to it.
"""

import json
import sys
from pathlib import Path

from gitlock import __version__
from gitlock.domain.programs import PROGRAMS, Place
from gitlock.domain.registering import fresh
from gitlock.entrypoints.cli.guidance import SKILL_FILE, skills

ROOT = Path(__file__).resolve().parents[2]

OWNER = "the git-lock authors"
HOOKS = {"claude": "hooks/hooks.json", "codex": "hooks/codex.json"}  # Claude Code looks under the first name by itself

PLUGINS = {
    "git-lock": (
        "Leases on files and named keys: an edit of what another agent or person holds is stopped before it happens, "
        "and what you edit is claimed for you. With the skills for working under leases and for watching them."
    ),
    "git-lock-mcp": (
        "git-lock's leases as MCP tools, for agents whose shell can't write to git's folder, or that have none. Needs "
        "git-lock with its extra, mcp."
    ),
}
TITLES = {"git-lock": "git-lock", "git-lock-mcp": "git-lock tools (MCP)"}


def pages() -> dict[Path, str]:
    """Every file that is made here, with its text."""
    found: dict[Path, str] = {
        ROOT / ".claude-plugin/marketplace.json": _text(_claude_marketplace()),
        ROOT / ".agents/plugins/marketplace.json": _text(_codex_marketplace()),
    }
    for name in PLUGINS:
        folder = ROOT / "plugins" / name
        found[folder / ".claude-plugin/plugin.json"] = _text(_manifest(name))
        found[folder / ".codex-plugin/plugin.json"] = _text(_manifest(name) | _parts(name))
    main, tools = (ROOT / "plugins" / name for name in PLUGINS)
    for program, place in HOOKS.items():
        found[main / place] = fresh(PROGRAMS[program], Place(place))
    for skill in skills():
        found[main / "skills" / skill.name / SKILL_FILE] = skill.text
    found[tools / ".mcp.json"] = _text({"mcpServers": {"git-lock": {"command": "git-lock", "args": ["mcp"]}}})
    return found


def _manifest(name: str) -> dict[str, object]:
    return {
        "name": name,
        "version": __version__,
        "description": PLUGINS[name],
        "author": {"name": OWNER},
        "license": "MIT",
        "keywords": ["git", "lock", "lease", "agents", "worktree", "coordination"],
    }


def _parts(name: str) -> dict[str, object]:
    """What Codex is told of the folder; Claude Code finds it by itself."""
    if name == "git-lock-mcp":
        parts: dict[str, object] = {"mcpServers": "./.mcp.json"}
    else:
        parts = {"skills": "./skills/", "hooks": f"./{HOOKS['codex']}"}
    shown = {"displayName": TITLES[name], "shortDescription": PLUGINS[name].partition(":")[0].partition(",")[0]}
    return parts | {"interface": shown | {"category": "Coding"}}


def _claude_marketplace() -> dict[str, object]:
    return {
        "name": "git-lock",
        "owner": {"name": OWNER},
        "metadata": {"description": "Leases for agents and people who share a git repository"},
        "plugins": [
            {"name": name, "source": f"./plugins/{name}", "description": text, "category": "development"}
            for name, text in PLUGINS.items()
        ],
    }


def _codex_marketplace() -> dict[str, object]:
    return {
        "name": "git-lock",
        "interface": {"displayName": "git-lock"},
        "plugins": [
            {
                "name": name,
                "source": {"source": "local", "path": f"./plugins/{name}"},
                "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                "category": "Coding",
            }
            for name in PLUGINS
        ],
    }


def _text(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def main(words: list[str]) -> int:
    """Writes the files, or compares them."""
    made = pages()
    if words != ["--check"]:
        for path, text in made.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    code = 0
    for path in sorted({*made, *(path for path in (ROOT / "plugins").rglob("*") if path.is_file())}):
        if path not in made:
            print(f"{path.relative_to(ROOT)} is not made here: take it away", file=sys.stderr)
        elif not path.exists() or path.read_text(encoding="utf-8") != made[path]:
            print(f"{path.relative_to(ROOT)} is old: make docs", file=sys.stderr)
        else:
            continue
        code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
