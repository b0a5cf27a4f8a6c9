"""What ``git lock setup`` says: for a person, and as JSON."""

import os

from gitlock.domain.programs import PROGRAMS
from gitlock.domain.quoting import word
from gitlock.domain.registering import ABSENT, BY_PLUGIN, INCOMPLETE, OFF, SET_UP
from gitlock.entrypoints import envelope
from gitlock.entrypoints.cli.output import hint, warning
from gitlock.entrypoints.wording import visible
from gitlock.usecases.settings.documents import BROKEN
from gitlock.usecases.settings.places import PRIVATE, SHARED, USER
from gitlock.usecases.settings.setting import CHANGED, CLEARED, CREATED, REMOVED, UNCHANGED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.programs import Program
    from gitlock.errors import GitlockError
    from gitlock.usecases.settings.reading import Registration
    from gitlock.usecases.settings.setting import Done

WIDTH = 79

BY_PROJECT = "by the project's settings"

_SCOPES = {PRIVATE: "this clone", SHARED: "the project", USER: "you"}
_STATES = {SET_UP: "set up", ABSENT: "not set up", INCOMPLETE: "not complete", OFF: "switched off", BROKEN: "broken"}


class Report:
    """What was found and done for one program."""

    def __init__(self, program: "Program", *, found: tuple[str, ...]) -> None:
        self.program = program
        self.found = found
        self.changes: list[Done] = []
        self.registrations: list[Registration] = []
        self.is_effective = False
        self.fellows: list[str] = []  # programs that read this one's files or the other way, and are set up here
        self.failure: GitlockError | None = None

    def json(self) -> dict[str, object]:
        """The same for a program."""
        return {
            "name": self.program.name,
            "title": self.program.title,
            "found": [envelope.name(path) for path in self.found],
            "effective": self.is_effective,
            "registrations": [
                {
                    "scope": one.scope,
                    "file": envelope.name(one.file),
                    "worktree": envelope.name(one.worktree),
                    "state": one.state,
                    "why": envelope.name(one.why) or None,
                    **envelope.raw([one.file, one.worktree]),
                }
                for one in self.registrations
            ],
            "changes": [
                {
                    "scope": one.spot.scope,
                    "file": envelope.name(one.spot.path),
                    "worktree": envelope.name(one.spot.top),
                    "became": one.became,
                    "why": envelope.name(one.failed.message if one.failed is not None else one.why) or None,
                    "failed": one.failed is not None,
                    **envelope.raw([one.spot.path, one.spot.top]),
                }
                for one in self.changes
            ],
            "todo": list(self.program.todo),
            "error": _error(self.failure),
        }


def _error(failure: "GitlockError | None") -> dict[str, object] | None:
    if failure is None:
        return None
    return envelope.error(failure.id, visible(failure.message), visible(failure.hint) if failure.hint else None)


def table(reports: list[Report], top: str | None) -> list[str]:
    """Every program: is it on this machine, is it set up, and where."""
    rows = [("program", "found", "set up")]
    for report in reports:
        rows.append((report.program.name, "yes" if report.found else "-", _summary(report, top)))
    widths = [max(len(row[at]) for row in rows) for at in (0, 1)]
    return [f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}".rstrip() for row in rows]


def _summary(report: Report, top: str | None) -> str:
    here = [one for one in report.registrations if one.worktree in (top, None) and one.state != ABSENT]
    parts = [
        f"for {_SCOPES[one.scope]}" if one.state == SET_UP else f"{_STATES[one.state]} ({_SCOPES[one.scope]})"
        for one in here
    ]
    missing = _lacking(report, top)
    if missing:
        parts.append(f"not in {missing} other worktree{'' if missing == 1 else 's'}")
    return ", ".join(parts) or "no"


def _lacking(report: Report, top: str | None) -> int:
    """How many other worktrees lack what this one has of the clone's own."""
    mine = [one for one in report.registrations if one.scope == PRIVATE and one.worktree == top]
    if not any(one.state == SET_UP for one in mine):
        return 0
    there = {one.worktree for one in report.registrations if one.worktree not in (top, None)}
    fine = {one.worktree for one in report.registrations if one.state == SET_UP}
    return len(there - fine)


MEANING = (
    "Before an edit it asks git-lock: a free file is claimed for the session, one that another agent holds in the same "
    "worktree is not edited."
)


def meaning() -> list[str]:
    """What a program does from now on, whichever it is."""
    return _wrapped(MEANING, "")


def after_table(reports: list[Report], top: str | None) -> list[str]:
    """What one would do next; without a worktree (``top`` is None) that can only be for oneself."""
    lacking = [
        report.program.name for report in reports
        if report.found and not report.is_effective and switch(report, top) is None
    ]  # fmt: skip
    if not lacking:
        return []
    flag = " --user" if top is None else ""
    return [hint(f"git lock setup {lacking[0] if len(lacking) == 1 else 'all'}{flag}")]


def switch(report: Report, top: str | None) -> tuple[str, str] | None:
    """The file that switches the hooks off which are set up here, and how; None where nothing does."""
    here = [one for one in report.registrations if one.worktree in (top, None)]
    if not any(one.state == OFF for one in here):
        return None
    return next((one.switch for one in here if one.switch is not None), None)


def states(reports: list[Report], top: str | None) -> list[str]:
    """Each file of the programs that were named, and what it says of us."""
    lines = []
    for report in reports:
        shown = [one for one in report.registrations if one.state != ABSENT]
        head = "runs git-lock here" if report.is_effective else "does not run git-lock here"
        lines.append(f"{report.program.title} {head}")
        for one in shown:
            why = f": {visible(one.why)}" if one.why else ""
            lines.append(f"  {_STATES[one.state]:<12}  {shown_file(one.file, top)}{why}")
    return lines


def told(report: Report, removing: bool, top: str | None) -> tuple[list[str], list[str]]:
    """What became of one program, and what should be known about that."""
    if report.failure is not None and not report.changes:
        return [], []
    return _removed(report, top) if removing else _set_up(report, top)


def _set_up(report: Report, top: str | None) -> tuple[list[str], list[str]]:
    program, (first, *others) = report.program, report.changes
    name = shown_file(first.spot.path, top)
    whose = {PRIVATE: "for this clone", SHARED: "for the project", USER: "for you, in every repository"}
    off = switch(report, top) is not None
    lead = f"{program.title} asks nobody, since hooks are switched off; it" if off else program.title
    moved = [one for one in others if one.failed is None and one.became in (CREATED, CHANGED)]
    notes = [
        warning(f"not in the worktree '{visible(one.spot.top or '')}': {visible(one.failed.message)}")
        for one in others if one.failed is not None
    ]  # fmt: skip
    if first.became == UNCHANGED and not moved:
        if first.why.startswith((BY_PLUGIN, BY_PROJECT)):
            return [f"{program.title} asks git-lock already, {visible(first.why)}"], notes
        here = [one for one in report.registrations if one.file == first.spot.path]
        is_part = any(one.scope == SHARED for one in here)
        lines = [f"{lead} is set up already, {whose[SHARED if is_part else first.spot.scope]}: {name}"]
        lines += [f"  {visible(first.why)}"] if first.why else []
        if first.spot.scope == SHARED and not is_part:
            lines += _to_share(first)
        if any(other.project.path == program.project.path for other in PROGRAMS.values() if other != program):
            lines += _todo(program)  # it may have been set up for the other one alone, whose person was told
        return lines, notes + _doubles(report, top)
    lines = [f"{lead} is set up {whose[first.spot.scope]}: {name}"]
    if others:
        count = len([one for one in others if one.failed is None])
        lines += _wrapped(f"the same in {count} other worktree{'' if count == 1 else 's'} of this clone", "  ")
    if first.spot.scope == SHARED:
        lines += _to_share(first)
    if program.limits:
        lines += _wrapped(f"its limits: {program.limits}", "  ")
    return lines + _todo(program), notes + _doubles(report, top)


def _to_share(done: "Done") -> list[str]:
    path = word(done.spot.place.path)
    return _wrapped(f"to share it: git add {path}, and commit; without git-lock it does nothing", "  ")


def _todo(program: "Program") -> list[str]:
    lines = ["what is left for you:"]
    for sentence in program.todo:
        lines += _wrapped(sentence, "  - ", "    ")
    return lines


def _doubles(report: Report, top: str | None) -> list[str]:
    """Other files that make the program run us a second time."""
    program = report.program
    notes = []
    own = {one.scope for one in report.registrations if one.state == SET_UP and one.worktree in (top, None)}
    if len(own) > 1:
        where = " and ".join(f"for {_SCOPES[scope]}" for scope in (PRIVATE, SHARED, USER) if scope in own)
        notes.append(warning(f"{program.title} is set up {where}: each hook runs twice, with the same answer"))
    if report.fellows and any(one.became != UNCHANGED for one in report.changes):
        notes.append(
            warning(f"of {program.title} and {', '.join(report.fellows)}, one may run the other's hooks too: then each "
                    "runs twice, with the same answer")
        )  # fmt: skip
    switched = [one for one in report.registrations if one.state == OFF and one.worktree in (top, None)]
    notes += [warning(f"hooks are switched off: {visible(one.why)}") for one in switched[:1]]
    off = switch(report, top)
    notes += [hint(f"switch them on in {shown_file(off[0], top)}")] if off is not None else []
    return notes


def _removed(report: Report, top: str | None) -> tuple[list[str], list[str]]:
    program = report.program
    done = [one for one in report.changes if one.became in (REMOVED, CLEARED)]
    notes = [
        warning(f"left in '{visible(one.spot.path)}': {visible(one.failed.message)}")
        for one in report.changes if one.failed is not None and one.failed is not report.failure
    ]  # fmt: skip
    kept = [one for one in report.changes if one.became == UNCHANGED and one.why]
    lines = [f"left {shown_file(one.spot.path, top)}: {one.why}" for one in kept]
    if done:
        verb = {REMOVED: "removed", CLEARED: "taken out of"}
        lines += [f"{verb[one.became]} {shown_file(one.spot.path, top)}" for one in done]
    elif not kept and report.failure is None:
        lines.append(f"nothing to do: {program.title} is not set up {_where(report)}")
    rest = [one for one in report.registrations if one.state != ABSENT and one.worktree in (top, None)]
    for one in rest:
        flag = {USER: " --user", SHARED: " --shared", PRIVATE: ""}[one.scope]
        if not kept and report.failure is None:
            still = f"it is still in {shown_file(one.file, top)}"
            notes.append(hint(f"git lock setup {program.name}{flag} --remove ({still})"))
    return lines, notes


def _where(report: Report) -> str:
    scope = report.changes[0].spot.scope if report.changes else PRIVATE
    return {PRIVATE: "in this clone", SHARED: "in the project", USER: "for you"}[scope]


def shown_file(path: str, top: str | None) -> str:
    """A file below the worktree by its path in it."""
    root = os.path.realpath(top) + os.sep if top is not None else ""
    return word(path.removeprefix(root) if root and path.startswith(root) else path)


def _wrapped(text: str, first: str, then: str | None = None) -> list[str]:
    import textwrap

    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=then if then is not None else first,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
