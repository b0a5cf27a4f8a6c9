"""Which agent programs are at work here, whether their hooks were ever heard of, and what those could not answer."""

import os
import re
from calendar import timegm
from time import strptime

from gitlock.domain.duration import show_duration
from gitlock.domain.guarding import BROKEN, NONE
from gitlock.domain.programs import PROGRAMS
from gitlock.domain.quoting import word
from gitlock.usecases.examining.finding import BAD, NOTE, OK, Finding
from gitlock.usecases.examining.programs import set_up, shown_path
from gitlock.usecases.settings.places import USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitlock.domain.session import Session
    from gitlock.usecases.guarded import Guarded
    from gitlock.usecases.settings.reading import Registration

RECENT = 3600.0  # seconds: what could not be answered since then is wrong now, and not history
KEPT = 7 * 86400.0  # seconds after which it is of no interest any more
_LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) (\S+) (.*)", re.DOTALL)

# What shows in a worktree that a program is used there, beside its settings file. A folder that others use as well,
# or that says nothing of an agent (.vscode, .github), is none.
_TRACES = {
    "claude": (".claude", "CLAUDE.md"), "codex": (".codex",), "gemini": (".gemini", "GEMINI.md"),
    "cursor": (".cursor",), "copilot": (".github/copilot-instructions.md", ".github/hooks"),
    "opencode": (".opencode", "opencode.json"), "windsurf": (".windsurf",), "devin": (".devin",),
}  # fmt: skip


def heard_of(
    setup: "list[Registration]", sessions: "Iterable[Session]", guards: "Iterable[Guarded]", wall: float
) -> list[Finding]:
    """When a hook of each program that is set up was last seen, and its sessions that nothing guards."""
    known, live = list(sessions), list(guards)
    findings: list[Finding] = []
    for name, program in PROGRAMS.items():
        if not set_up(setup, name):
            continue
        seen = max((one.hook_at for one in known if one.program == name and one.hook_at is not None), default=None)
        if seen is not None:
            ago = show_duration(max(0.0, wall - seen))
            findings.append(Finding(name, OK, f"a hook of {program.title} was last seen here {ago} ago"))
        elif name != "vscode":  # whose file is Copilot's
            todo = f". {program.todo[0]}" if program.todo else ""
            findings.append(Finding(name, NOTE, f"no hook of {program.title} was ever seen here{todo}"))
        own = [one for one in live if one.session.program == name]
        broken = [one.session.agent for one in own if one.guard == BROKEN]
        if broken:
            are = "has" if len(broken) == 1 else "have"
            what = f"{', '.join(broken)} {are} edited what was refused: {program.title} does not heed its hooks"
            findings.append(Finding(name, BAD, what, "git lock history"))
        unseen = [one.session.agent for one in own if one.guard == NONE]
        if unseen:
            edit = "edits" if len(unseen) == 1 else "edit"
            what = f"{', '.join(unseen)} {edit}, and no hook is seen of that. {' '.join(program.todo[:1])}"
            findings.append(Finding(name, BAD, what, "git lock agents"))
    return findings


def not_set_up(
    setup: "list[Registration]", guards: "Iterable[Guarded]", top: str, around: str | None
) -> list[Finding]:
    """Programs that are plainly used here, and ask nobody. ``around`` is the one in whose shell we run."""
    findings = []
    live: dict[str, list[str]] = {}
    for one in guards:
        live.setdefault(one.session.program or "", []).append(one.session.agent)
    for name, program in PROGRAMS.items():
        if set_up(setup, name) or any(set_up(setup, other) for other in program.reads):
            continue
        trace = next((path for path in _TRACES.get(name, ()) if os.path.exists(os.path.join(top, path))), None)
        if name in live:
            why = f"{program.title} is at work here ({', '.join(live[name][:3])})"
        elif name == around:
            why = f"this is a shell of {program.title}"
        elif trace is not None:
            why = f"{program.title} seems to be used here ('{trace}')"
        else:
            continue
        what = f"{why}, and is not set up: its edits are not stopped before they happen"
        findings.append(Finding(name, NOTE, what, f"git lock setup {name}"))
    return findings


def missing(setups: "Mapping[str, list[Registration]]", asked: "Iterable[str]") -> list[Finding]:
    """Those of the worktrees ``asked`` that lack the settings file which another one of the clone has: git carries over
    what is tracked. ``setups`` has what was read in each worktree."""
    findings = []
    for name, program in PROGRAMS.items():
        if name == "vscode" or any(one.scope == USER for setup in setups.values() for one in set_up(setup, name)):
            continue  # whose file is Copilot's; or a person's own, which counts everywhere
        having = {top: own for top, setup in setups.items() if (own := set_up(setup, name))}
        for top in asked if having else ():
            if top in having or any(set_up(setups[top], other) for other in program.reads):
                continue
            where, own = next(iter(having.items()))
            what = (
                f"'{shown_path(own[0].file, where)}' is in '{where}' and not in this worktree, so {program.title} asks "
                "nobody before it edits here"
            )
            findings.append(Finding(name, NOTE, what, f"git -C {word(top)} lock setup {name}", top))
    return findings


def could_not_answer(rows: list[str], wall: float) -> list[Finding]:
    """What the log of our hooks says, of the last days: wrong now, or a thing of the past."""
    found = []
    for row in rows:
        match = _LINE.fullmatch(row)
        if match is None:
            continue
        at = timegm(strptime(match[1], "%Y-%m-%dT%H:%M:%SZ"))
        if 0 <= wall - at < KEPT:
            found.append((at, match[2], match[3]))
    if not found:
        return []
    at, name, last = found[-1]
    recent = [one for one in found if wall - one[0] < RECENT]
    count, since = (len(recent), recent[0][0]) if recent else (len(found), found[0][0])
    times = f"{count} hook{'' if count == 1 else 's'} of agent programs could not answer"
    age = show_duration(max(0.0, wall - since))
    what = f"{times} in the last {age}; the latest, {show_duration(max(0.0, wall - at))} ago ({name}): {last}"
    return [Finding("agent-hook", BAD if recent else NOTE, what, None)]
