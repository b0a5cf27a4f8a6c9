"""The lines by which a hook manager asks us, in that manager's own language, and the files where they belong.

They go between two marks, so that a person sees whose they are. Each line passes where git-lock is not installed: the
files are a project's own, and a colleague without git-lock must be able to commit.
"""

import os
import re

from gitlock.domain.value import Value
from gitlock.git.hooks.managers import read_script
from gitlock.git.hooks.stub import GATES, calls_us

MANAGERS = ("husky", "lefthook", "overcommit", "pre-commit", "prek", "hooks-path", "global")
MARKS = ("# git-lock: begin (git lock uninstall takes these lines out)", "# git-lock: end")

READS_INPUT = ("pre-push",)  # the hook of ours that is given something to read, and must hand it on
WARNS = ("post-checkout", "post-merge")  # those that only warn
WITH_FILE = ("prepare-commit-msg", "commit-msg")  # those that are given the message's file

_LEFTHOOK = ("lefthook-local.yml", "lefthook-local.yaml", ".lefthook-local.yml", ".lefthook-local.yaml")
_LEFTHOOK_ALL = (*_LEFTHOOK, "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml", "lefthook.toml",
                 "lefthook-local.toml", "lefthook.json", "lefthook-local.json")  # fmt: skip
_CONFIGS = {
    "lefthook": _LEFTHOOK_ALL,
    "overcommit": (".overcommit.yml", ".local-overcommit.yml"),
    "pre-commit": (".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml"),
}

# The ids that .pre-commit-hooks.yaml offers.
_IDS = {
    "pre-commit": "git-lock", "pre-merge-commit": "git-lock-merge", "prepare-commit-msg": "git-lock-prepare-msg",
    "commit-msg": "git-lock-msg", "pre-push": "git-lock-push", "post-checkout": "git-lock-checkout",
    "post-merge": "git-lock-post-merge", "post-rewrite": "git-lock-post-rewrite",
}  # fmt: skip

AFTERWARDS = {
    "lefthook": ("lefthook install",),
    "overcommit": ("overcommit --install", "overcommit --sign"),
    "pre-commit": ("pre-commit install {types}",),
    "prek": ("prek install {types}",),
}


class Addition(Value):
    """Lines for one file: under ``keys`` of a YAML file, or at the top of a script where there are none."""

    __slots__ = ("hooks", "keys", "lines", "path")

    def __init__(self, path: str, lines: tuple[str, ...], hooks: tuple[str, ...], keys: tuple[str, ...] = ()) -> None:
        self.path = path
        self.lines = lines
        self.hooks = hooks
        self.keys = keys


def additions(name: str, hooks: tuple[str, ...], top: str, folder: str) -> tuple[Addition, ...]:
    """What the manager called ``name`` needs; ``folder`` is the hooks folder that git uses now."""
    if name == "husky":
        return tuple(_script(os.path.join(top, ".husky", hook), hook) for hook in hooks)
    if name in ("hooks-path", "global"):
        return tuple(_script(os.path.join(folder, hook), hook) for hook in hooks)
    if name == "lefthook":
        path = _first(top, _LEFTHOOK)
        return tuple(Addition(path, _lefthook(hook), (hook,), (hook, "commands")) for hook in hooks)
    if name == "overcommit":
        known = [hook for hook in hooks if hook != "pre-merge-commit"]  # it has no such hook
        path = os.path.join(top, ".overcommit.yml")
        return tuple(Addition(path, _overcommit(hook), (hook,), (_camel(hook),)) for hook in known)
    path = _first(top, _CONFIGS["pre-commit"][:2])
    return (Addition(path, _framework(hooks), hooks, ("repos",)),)


def other_form(name: str, top: str) -> str | None:
    """The manager's configuration in a form that we don't write, where it stands in place of the one that we do."""
    forms = {
        "lefthook": tuple(f"{dot}lefthook-local.{form}" for dot in ("", ".") for form in ("toml", "json", "jsonc")),
        "prek": ("prek.toml",),
    }
    paths = [os.path.join(top, one) for one in forms.get(name, ())]
    return next((path for path in paths if os.path.lexists(path)), None)


def afterwards(name: str, hooks: tuple[str, ...]) -> tuple[str, ...]:
    """The commands that make the manager see it."""
    types = " ".join(f"-t {hook}" for hook in hooks)
    return tuple(command.replace("{types}", types) for command in AFTERWARDS.get(name, ()))


def asked_by(manager: str, top: str, hook: str) -> str | None:
    """The manager's own file that asks us for this hook, if one of them says so."""
    for name in _CONFIGS.get(manager, ()):
        path = os.path.join(top, name)
        data = read_script(path)
        if calls_us(data, hook) or (manager == "pre-commit" and _names_id(data, hook)):
            return path
    return None


def _names_id(data: bytes, hook: str) -> bool:
    name = _IDS.get(hook)
    if name is None:
        return False
    return re.search(rb"(?m)^\s*(?:-\s+)?id:\s*['\"]?" + re.escape(name).encode() + rb"['\"]?\s*$", data) is not None


def _first(top: str, names: tuple[str, ...]) -> str:
    paths = [os.path.join(top, name) for name in names]
    return next((path for path in paths if os.path.lexists(path)), paths[0])


def _script(path: str, hook: str) -> Addition:
    if hook in READS_INPUT:
        lines: tuple[str, ...] = (
            "if ! command -v git-lock >/dev/null 2>&1; then echo 'git-lock: not found, so not checked' >&2",
            f"elif [ -t 0 ]; then git-lock hook {hook} \"$@\" || exit",
            "else",
            "    gl_input=$(cat)",
            f"    git-lock hook {hook} \"$@\" <<gl_end || exit",
            "$gl_input",
            "gl_end",
            "    [ -z \"$gl_input\" ] || exec <<gl_end",
            "$gl_input",
            "gl_end",
            "fi",
        )
    elif hook not in GATES:
        # Nothing to miss where git-lock is not, nothing to fail; and `checkout FILE` is done all the time.
        when = '[ "${3-}" != 0 ] && ' if hook == "post-checkout" else ""
        lines = (f'if {when}command -v git-lock >/dev/null 2>&1; then git-lock hook {hook} "$@" || :; fi',)
    else:
        lines = (
            f'if command -v git-lock >/dev/null 2>&1; then git-lock hook {hook} "$@" || exit',
            "else echo 'git-lock: not found, so not checked' >&2; fi",
        )
    return Addition(path, lines, (hook,))


def _guarded(hook: str, words: str) -> str:
    passes = "" if hook in GATES else " || exit 0"
    return f"command -v git-lock >/dev/null 2>&1 || exit 0; git-lock hook {hook}{words}{passes}"


def _lefthook(hook: str) -> tuple[str, ...]:
    words = "" if hook in ("pre-commit", "pre-merge-commit", "post-commit") else " {0}"
    reads = ("  use_stdin: true",) if hook in READS_INPUT else ()
    return ("git-lock:", f"  run: {_guarded(hook, words)}", *reads)


def _overcommit(hook: str) -> tuple[str, ...]:
    script = _guarded(hook, ' "$@"').replace("'", "''")
    return (
        "GitLock:",
        "  enabled: true",
        "  description: 'Ask git-lock'",
        "  required_executable: 'sh'",
        f"  command: ['sh', '-c', '{script}', 'git-lock']",
    )


def _framework(hooks: tuple[str, ...]) -> tuple[str, ...]:
    lines = ["- repo: local", "  hooks:"]
    for hook in hooks:
        script = _guarded(hook, ' --framework "$@"')
        lines += [
            f"  - id: {_IDS.get(hook, 'git-lock-' + hook)}",
            "    name: git-lock",
            f"    entry: sh -c '{script}' git-lock",
            "    language: system",
            f"    stages: [{hook}]",
            "    always_run: true",
            f"    pass_filenames: {'true' if hook in WITH_FILE else 'false'}",
            "    require_serial: true",
        ]
        if hook in WARNS:
            lines.append("    verbose: true")  # it hides what a hook says that does not fail
    return tuple(lines)


def _camel(hook: str) -> str:
    return "".join(part.capitalize() for part in hook.split("-"))
