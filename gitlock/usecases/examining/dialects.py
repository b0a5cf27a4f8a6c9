"""How each agent program tells of an edit that is about to happen, and what it takes for a refusal.

This is written by the programs' rules, not by our adapters': doctor feeds the one to the hook that is set up, and reads
the answer by the other, so that a refusal in the wrong shape is found out, as the program itself would pass it over.
"""

from gitlock import jsontext
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Record = dict[str, object]
    Payload = Callable[[str, str], Record]

REFUSED, SILENT, ODD = "refused", "silent", "odd"

SESSION = "0d0c702f-0001-4000-8000-000000000001"  # of the made-up payloads
CALL = "doctor-1"


class Heard(Value):
    """What a program makes of an answer: ``refused`` (``text`` is what its agent reads), ``silent`` (the edit happens,
    as after no opinion), or ``odd``: it is nothing that the program knows, and the edit most likely happens."""

    __slots__ = ("kind", "text")

    def __init__(self, kind: str, text: str = "") -> None:
        self.kind = kind
        self.text = text


class Dialect(Value):
    """``payloads`` names what the program calls the moment before an edit, with what makes that which it writes to a
    hook before ``tools[0]`` edits a path, standing in a folder; where one has two names, the usual one comes first.

    ``tools`` are those that edit. ``hear`` reads exit code and both streams as the program does. ``environ`` is what it
    sets for its hooks (``{folder}`` stands for where it was started). ``events`` are names that it knows beside those
    that we ask for; one that ``is_strict`` passes over a whole file for one that it does not know, one that
    ``matches`` nothing runs every hook for every tool.
    """

    __slots__ = ("environ", "events", "hear", "is_strict", "matches", "payloads", "tools")

    def __init__(
        self,
        payloads: "dict[str, Payload]",
        tools: tuple[str, ...],
        hear: "Callable[[int, str, str], Heard]",
        environ: "dict[str, str] | None" = None,
        *,
        events: frozenset[str] = frozenset(),
        is_strict: bool = False,
        matches: bool = True,
    ) -> None:
        self.payloads = payloads
        self.tools = tools
        self.hear = hear
        self.environ = environ or {}
        self.events = events
        self.is_strict = is_strict
        self.matches = matches


def _claude(path: str, folder: str) -> "Record":
    return {
        "session_id": SESSION, "prompt_id": "8d1f", "transcript_path": f"{folder}/none.jsonl", "cwd": folder,
        "permission_mode": "default", "effort": {"level": "high"}, "hook_event_name": "PreToolUse",
        "tool_name": "Edit", "tool_use_id": CALL,
        "tool_input": {"file_path": path, "old_string": "a", "new_string": "b", "replace_all": False},
    }  # fmt: skip


def _codex(path: str, folder: str) -> "Record":
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch"
    return {
        "session_id": SESSION, "turn_id": "01a0", "transcript_path": None, "cwd": folder,
        "hook_event_name": "PreToolUse", "model": "made-up", "permission_mode": "default", "tool_name": "apply_patch",
        "tool_use_id": CALL, "tool_input": {"command": patch},
    }  # fmt: skip


def _gemini(path: str, folder: str) -> "Record":
    return {
        "session_id": SESSION, "transcript_path": f"{folder}/none.json", "cwd": folder,
        "hook_event_name": "BeforeTool", "timestamp": "2026-01-01T00:00:00.000Z", "tool_name": "replace",
        "tool_input": {"file_path": path, "old_string": "a", "new_string": "b"},
    }  # fmt: skip


def _cursor(path: str, folder: str) -> "Record":
    return {
        "conversation_id": SESSION, "generation_id": "g-1", "model": "made-up", "hook_event_name": "preToolUse",
        "cursor_version": "3.1.0", "workspace_roots": [folder], "transcript_path": None, "tool_name": "Write",
        "tool_input": {"file_path": path, "content": "b"}, "tool_use_id": CALL, "cwd": folder,
    }  # fmt: skip


def _copilot(path: str, folder: str) -> "Record":
    given = jsontext.dumps({"path": path, "old_str": "a", "new_str": "b"})
    return {"sessionId": SESSION, "timestamp": 1767225600000, "cwd": folder, "toolName": "edit", "toolArgs": given}


def _vscode(path: str, folder: str) -> "Record":
    return {
        "sessionId": SESSION, "hookEventName": "PreToolUse", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": folder,
        "tool_name": "editFiles", "tool_use_id": CALL, "tool_input": {"files": [path]},
    }  # fmt: skip


def _opencode(path: str, folder: str) -> "Record":
    return {
        "event": "tool.execute.before", "sessionID": SESSION, "callID": CALL, "tool": "edit", "cwd": folder,
        "args": {"filePath": path, "oldString": "a", "newString": "b"},
    }  # fmt: skip


def _windsurf(path: str, _: str) -> "Record":
    return {
        "agent_action_name": "pre_write_code", "trajectory_id": SESSION, "execution_id": "e-1",
        "timestamp": "2026-01-01T00:00:00Z",
        "tool_info": {"file_path": path, "edits": [{"old_string": "a", "new_string": "b"}]},
    }  # fmt: skip


def _devin(path: str, _: str) -> "Record":
    return {
        "session_id": SESSION, "hook_event_name": "PreToolUse", "tool_name": "edit",
        "tool_input": {"file_path": path, "old_string": "a", "new_string": "b"},
    }  # fmt: skip


def _object(out: str) -> "Record | None":
    """The one JSON object that standard output is; None where it is anything else."""
    try:
        found = jsontext.loads(out)
    except ValueError:
        return None
    return found if type(found) is dict else None


def _text(record: "Record", name: str) -> str:
    value = record.get(name)
    return value if type(value) is str else ""


def _hears_claude(code: int, out: str, err: str) -> Heard:
    """By ``hookSpecificOutput`` with the event's name; exit 2 refuses as well, anything else lets the tool run."""
    if code == 2:
        return Heard(REFUSED, err)
    if code != 0:
        return Heard(ODD)
    if not out.strip():
        return Heard(SILENT)
    said = _object(out) if out[:1] == "{" else None
    inside = said.get("hookSpecificOutput") if said is not None else None
    if said is None or (inside is not None and type(inside) is not dict):
        return Heard(ODD)
    if type(inside) is not dict or inside.get("hookEventName") != "PreToolUse":
        return Heard(ODD if inside else SILENT)
    if inside.get("permissionDecision") == "deny":
        return Heard(REFUSED, _text(inside, "permissionDecisionReason"))
    return Heard(SILENT if "permissionDecision" not in inside else ODD)


_CODEX_KNOWS = frozenset(("hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext"))


def _hears_codex(code: int, out: str, err: str) -> Heard:
    """As Claude Code, but on exit 0 alone, and with no key that it does not know."""
    said = _object(out) if out.strip() else {}
    if code != 0 or said is None or set(said) - {"hookSpecificOutput"}:
        return Heard(ODD)
    inside = said.get("hookSpecificOutput")
    if type(inside) is dict and set(inside) - _CODEX_KNOWS:
        return Heard(ODD)
    heard = _hears_claude(0, out, err)
    return Heard(ODD) if heard.kind == REFUSED and not heard.text.strip() else heard


def _hears_gemini(code: int, out: str, err: str) -> Heard:
    """By ``decision`` at the top; any code above 1 that comes with text refuses as well."""
    text = out.strip() or err.strip()
    if code > 1 and text:
        return Heard(REFUSED, text)
    if code != 0:
        return Heard(ODD)
    if not text:
        return Heard(SILENT)
    said = _object(text)
    if said is None:
        return Heard(ODD)
    if said.get("decision") in ("deny", "block"):
        return Heard(REFUSED, _text(said, "reason"))
    return Heard(SILENT if set(said) <= {"systemMessage"} else ODD)


def _hears_cursor(code: int, out: str, err: str) -> Heard:
    """By ``permission``; it wants an object whatever there is to say. Exit 2 refuses as well."""
    if code == 2:
        return Heard(REFUSED, err)
    said = _object(out)
    if code != 0 or said is None:
        return Heard(ODD)
    if said.get("permission") == "deny":
        return Heard(REFUSED, _text(said, "agent_message"))
    return Heard(SILENT if "permission" not in said else ODD)


def _hears_copilot(code: int, out: str, err: str) -> Heard:
    """By ``permissionDecision`` at the top; every code but 0 refuses."""
    if code != 0:
        return Heard(REFUSED, err)
    if not out.strip():
        return Heard(SILENT)
    said = _object(out)
    if said is None:
        return Heard(ODD)
    if said.get("permissionDecision") == "deny":
        return Heard(REFUSED, _text(said, "permissionDecisionReason"))
    return Heard(SILENT if "permissionDecision" not in said else ODD)


def _hears_opencode(code: int, out: str, _: str) -> Heard:
    """Our plugin throws what ``deny`` says."""
    said = _object(out)
    if code != 0 or said is None:
        return Heard(ODD)
    return Heard(REFUSED, _text(said, "deny")) if said.get("deny") else Heard(SILENT)


def _hears_code(code: int, out: str, err: str) -> Heard:
    """Exit 2 refuses, with what stands on standard error."""
    if code == 2:
        return Heard(REFUSED, err)
    return Heard(SILENT if code == 0 and not out.strip() else ODD)


_CLAUDE_KNOWS = frozenset((
    "PermissionDenied", "PostToolBatch", "Elicitation", "ElicitationResult", "StopFailure", "PreCompact", "PostCompact",
    "CwdChanged", "WorktreeCreate", "WorktreeRemove", "FileChanged", "ConfigChange",
))  # fmt: skip
_CODEX_KNOWS_TOO = frozenset(("PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Interrupt"))
_GEMINI_KNOWS = frozenset(("BeforeModel", "AfterModel", "BeforeToolSelection", "PreCompress"))
_CURSOR_KNOWS = frozenset((
    "postToolUseFailure", "subagentStart", "beforeShellExecution", "afterShellExecution", "beforeMCPExecution",
    "afterMCPExecution", "beforeReadFile", "preCompact", "afterAgentResponse", "afterAgentThought", "beforeTabFileRead",
    "afterTabFileEdit",
))  # fmt: skip
_WINDSURF_KNOWS = frozenset(("pre_read_code", "post_read_code", "pre_mcp_tool_use", "post_mcp_tool_use"))

_COPILOT_KNOWS = frozenset((  # the same in another spelling, which brings another dialect with it
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest",
    "Notification", "SubagentStart", "SubagentStop", "Stop", "PreCompact", "SessionEnd",
))  # fmt: skip

DIALECTS = {
    "claude": Dialect(
        {"PreToolUse": _claude}, ("Edit", "Write"), _hears_claude,
        {"CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": "{folder}"}, events=_CLAUDE_KNOWS,
    ),
    "codex": Dialect({"PreToolUse": _codex}, ("apply_patch",), _hears_codex, events=_CODEX_KNOWS_TOO),
    "gemini": Dialect(
        {"BeforeTool": _gemini}, ("replace", "write_file"), _hears_gemini,
        {"GEMINI_PROJECT_DIR": "{folder}", "CLAUDE_PROJECT_DIR": "{folder}", "GEMINI_CWD": "{folder}",
         "GEMINI_SESSION_ID": SESSION}, events=_GEMINI_KNOWS,
    ),
    "cursor": Dialect(
        {"preToolUse": _cursor}, ("Write", "Delete"), _hears_cursor,
        {"CURSOR_PROJECT_DIR": "{folder}", "CURSOR_VERSION": "3.1.0", "CLAUDE_PROJECT_DIR": "{folder}"},
        events=_CURSOR_KNOWS, is_strict=True,
    ),
    "copilot": Dialect(
        {"preToolUse": _copilot, "PreToolUse": _claude}, ("edit", "create"), _hears_copilot, events=_COPILOT_KNOWS
    ),
    "vscode": Dialect(
        {"preToolUse": _vscode, "PreToolUse": _vscode}, ("editFiles",), _hears_claude, events=_COPILOT_KNOWS,
        matches=False,
    ),
    "opencode": Dialect({"tool.execute.before": _opencode}, ("edit", "write"), _hears_opencode),
    "windsurf": Dialect({"pre_write_code": _windsurf}, ("pre_write_code",), _hears_code, events=_WINDSURF_KNOWS),
    "devin": Dialect(
        {"PreToolUse": _devin}, ("edit", "write"), _hears_code, {"DEVIN_PROJECT_DIR": "{folder}"}, events=_CLAUDE_KNOWS
    ),
}  # fmt: skip
