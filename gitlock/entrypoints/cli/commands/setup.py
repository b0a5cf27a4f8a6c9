"""``git lock setup``: agent programs are told to ask us, and not to."""

import os

from gitlock.domain.programs import PROGRAMS
from gitlock.domain.registering import ABSENT, BY_PLUGIN, SET_UP
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli import setupwords
from gitlock.entrypoints.cli.fitting import fitted
from gitlock.entrypoints.cli.options import Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, hint, warning
from gitlock.entrypoints.cli.scene import Scene
from gitlock.entrypoints.cli.setupwords import BY_PROJECT, Report
from gitlock.entrypoints.wording import visible
from gitlock.errors import GitlockError, UnsafeError, UsageError
from gitlock.usecases.settings.documents import by_hand
from gitlock.usecases.settings.looking import is_effective
from gitlock.usecases.settings.places import PRIVATE, SHARED, USER, in_worktree, traces
from gitlock.usecases.settings.setting import UNCHANGED, Done, set_up, take_away

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.programs import Program

ALL = "all"
LIST, SETTING, CHECK, REMOVE, PRINT = "list", "set-up", "check", "remove", "print"


def answer(given: Given) -> Answer:
    """One of the things that can be done, for every program that was named."""
    action = _action(given)
    names = _names(given, action)
    scene = Scene(given, needs_site=action in (SETTING, REMOVE) and not given.flag("user"))
    if not names and action in (LIST, CHECK):
        names = tuple(PROGRAMS)
    if names == (ALL,):
        names = _all(scene, action)
    if action == PRINT:
        return _print(scene, names)
    reports = [_done(scene, PROGRAMS[name], action) for name in names]
    if action in (SETTING, REMOVE):
        _look_again(scene, reports)
    answered = _answered(scene, action, reports, is_list=given.arguments in ([], [ALL]))
    return answered.replace(lines=fitted(answered.lines, 1))


def _action(given: Given) -> str:
    chosen = [name for name in (CHECK, REMOVE, PRINT) if given.flag(name)]
    if len(chosen) > 1:
        name = given.arguments[0] if given.arguments else ALL
        raise UsageError(f"--{chosen[0]} and --{chosen[1]} are two things", hint=f"git lock setup {name} --{chosen[0]}")
    if given.flag("user") and given.flag("shared"):
        raise UsageError("--user is for you alone, --shared for everybody", hint="git lock setup -h")
    if chosen:
        return chosen[0]
    return SETTING if given.arguments else LIST


def _names(given: Given, action: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(given.arguments))
    for name in names:
        if name != ALL and name not in PROGRAMS:
            raise UsageError(
                f"'{name}' is no program that git-lock knows: {', '.join(PROGRAMS)}",
                hint="git lock run --presence -- CMD (for a program without hooks)",
            )
    if ALL in names and len(names) > 1:
        raise UsageError("'all' stands alone", hint="git lock setup all")
    scope = next((f"--{name}" for name in ("user", "shared") if given.flag(name)), "")
    if not names and action == LIST and scope:
        raise UsageError(
            f"say which program, or --check for what is set up already: {', '.join(PROGRAMS)}",
            hint=f"git lock setup claude {scope}, or git lock setup {scope} --check",
        )
    if not names and action in (REMOVE, PRINT):
        raise UsageError(f"say which program: {', '.join(PROGRAMS)}", hint=f"git lock setup claude --{action}")
    return names


def _all(scene: Scene, action: str) -> tuple[str, ...]:
    """Every program, as far as that makes sense: those of this machine, or those that are set up."""
    if action in (LIST, CHECK, PRINT):
        return tuple(PROGRAMS)
    if action == REMOVE:
        there = {one.program.name for one in scene.registrations() if one.state != ABSENT}
        return tuple(name for name in PROGRAMS if name in there)
    found = tuple(name for name, program in PROGRAMS.items() if traces(program, scene.environ))
    if not found:
        raise UnsafeError(
            "none of the agent programs that git-lock knows was found on this machine",
            hint="git lock setup (lists them)", id="no-programs",
        )  # fmt: skip
    return found


def _done(scene: Scene, program: "Program", action: str) -> Report:
    """What was done for one program; what stopped it is in it, so that the others have their turn."""
    report = Report(program, found=traces(program, scene.environ))
    try:
        if action == SETTING and (already := _already(scene, program)):
            report.changes = [Done(scene.spot(program), UNCHANGED, why=already)]
        elif action == SETTING:
            others = scene.tops[1:] if scene.scope == PRIVATE else ()
            report.changes = set_up(scene.ground(), program, scene.spot(program), others)
        elif action == REMOVE:
            report.changes = _taken_away(scene, program)
            report.failure = next((one.failed for one in report.changes if one.failed is not None), None)
    except GitlockError as error:
        report.failure = error
    if action not in (SETTING, REMOVE):
        report.registrations = scene.registrations((program.name,))
        report.is_effective = is_effective(report.registrations, program.name, scene.top)
    return report


def _already(scene: Scene, program: "Program") -> str:
    """What makes the program ask us here although this scope of it was not set up, and would be the same twice: our
    plugin, or what the project shares. Empty where nothing does."""
    here = [one for one in scene.registrations((program.name,)) if one.worktree in (scene.top, None)]
    for one in here:
        if one.why == BY_PLUGIN:
            return f"{BY_PLUGIN}: {one.plugin or one.file}"
    mine = any(one.state != ABSENT and one.scope == PRIVATE for one in here)
    if scene.scope == PRIVATE and program.private is not None and not mine:
        shared = (one.file for one in here if one.state == SET_UP and one.scope == SHARED)
        return next((f"{BY_PROJECT}: {setupwords.shown_file(file, scene.top)}" for file in shared), "")
    return ""


def _taken_away(scene: Scene, program: "Program") -> list[Done]:
    if scene.scope == PRIVATE:
        spots = [in_worktree(program, top, PRIVATE) for top in scene.tops]
    else:
        spots = [scene.spot(program)]
    return take_away(scene.ground(), program, spots, everywhere=scene.scope != SHARED)


def _look_again(scene: Scene, reports: list[Report]) -> None:
    found = scene.registrations()
    for report in reports:
        name = report.program.name
        report.registrations = [one for one in found if one.program.name == name]
        report.is_effective = is_effective(report.registrations, name, scene.top)
        report.fellows = [
            other.title for other in PROGRAMS.values()
            if (other.name in report.program.reads or name in other.reads)
            and other.project.path != report.program.project.path
            and any(one.program == other and one.state == SET_UP and one.worktree == scene.top for one in found)
        ]  # fmt: skip


def _print(scene: Scene, names: tuple[str, ...]) -> Answer:
    """What would be written into a project that has nothing yet, for whoever adds it by hand."""
    if len(names) != 1:
        raise UsageError("--print shows one program's settings", hint="git lock setup claude --print")
    program = PROGRAMS[names[0]]
    place = program.user if scene.scope == USER else None
    place = place or (program.private if scene.scope == PRIVATE and program.private else program.project)
    text = by_hand(program, place)
    data = _data(PRINT, [], text)
    return Answer(raw=text.encode(), data=data, notes=[hint(f"this belongs into {place.path}")])


def _answered(scene: Scene, action: str, reports: list[Report], *, is_list: bool) -> Answer:
    data = _data(action, reports, None)
    if action == LIST or (action == CHECK and is_list):
        code, fault = _judged(scene, reports, everything=True) if action == CHECK else (exitcodes.DONE, None)
        lines, notes = setupwords.table(reports, scene.top), setupwords.after_table(reports, scene.top)
        return Answer(code, lines=lines, notes=notes, data=data, fault=fault)
    if action == CHECK:
        code, fault = _judged(scene, reports, everything=False)
        return Answer(code, lines=setupwords.states(reports, scene.top), data=data, fault=fault)
    lines, notes = [], []
    for report in reports:
        said, told = setupwords.told(report, action == REMOVE, scene.top)
        lines += said
        notes += told
    asking = [report for report in reports if setupwords.switch(report, scene.top) is None]
    if any(change.became != UNCHANGED for report in asking for change in report.changes) and action == SETTING:
        lines += setupwords.meaning()
    if action == SETTING:
        notes += _surroundings(scene, reports)
    failures = [report.failure for report in reports if report.failure is not None]
    if not reports:
        lines.append("nothing to do: no program is set up here")
    if not failures:
        return Answer(lines=lines, notes=notes, data=data)
    if len(reports) == 1:
        failure = failures[0]
        fault = envelope.error(failure.id, visible(failure.message), visible(failure.hint) if failure.hint else None)
    else:
        names = ", ".join(report.program.name for report in reports if report.failure is not None)
        fault = envelope.error(failures[0].id, f"not done for {names}", None)
        for report in reports:
            if report.failure is not None:
                notes.append(warning(f"{report.program.name}: {visible(report.failure.message)}"))
                notes += [hint(visible(report.failure.hint))] if report.failure.hint else []
    return Answer(exitcodes.code_of(failures[0]), lines=lines, notes=notes, data=data, fault=fault)


def _judged(scene: Scene, reports: list[Report], *, everything: bool) -> "tuple[int, dict[str, object] | None]":
    """0 where the programs that were named run us here; of all programs, those that are on this machine or were set
    up."""
    lacking = []
    for report in reports:
        was_begun = any(one.state != ABSENT for one in report.registrations)
        fine = report.is_effective if scene.scope == PRIVATE else _is_in(report, scene)
        if not fine and (not everything or report.found or was_begun):
            lacking.append(report)
    if not lacking:
        return exitcodes.DONE, None
    switches = {report.program.name: setupwords.switch(report, scene.top) for report in lacking}
    off = {name: found for name, found in switches.items() if found is not None}
    if len(off) == len(lacking):  # set up as they are: to do it once more would change nothing
        what = "; ".join(f"{name}: {how}" for name, (_, how) in off.items())
        files = ", ".join(dict.fromkeys(setupwords.shown_file(file, scene.top) for file, _ in off.values()))
        fault = envelope.error("not-set-up", f"hooks are switched off: {what}", f"switch them on in {files}")
        return exitcodes.ERROR, fault
    names = [report.program.name for report in lacking]
    where = {USER: "for you", SHARED: "for the project"}.get(scene.scope, "here")
    flag = {USER: " --user", SHARED: " --shared"}.get(scene.scope, " --user" if scene.top is None else "")
    what = f"not set up {where}, or not in full: {', '.join(names)}"
    return exitcodes.ERROR, envelope.error("not-set-up", what, f"git lock setup {' '.join(names)}{flag}")


def _is_in(report: Report, scene: Scene) -> bool:
    """Whether it is set up in just the scope that was asked about."""
    return any(
        one.state == SET_UP and one.scope == scene.scope and one.worktree in (scene.top, None)
        for one in report.registrations
    )


def _surroundings(scene: Scene, reports: list[Report]) -> list[str]:
    """What keeps it from working all the same, and what it does not do."""
    import shutil

    notes: list[str] = []
    if not any(change.became != UNCHANGED for report in reports for change in report.changes):
        return notes
    if shutil.which("git-lock", path=scene.environ.get("PATH", os.defpath)) is None:
        notes.append(warning("git-lock is not on the PATH, where agent programs look for it"))
    if scene.site is not None and scene.site.repository.top is not None:
        from gitlock.entrypoints.cli.commands.overview import enforcement

        if not enforcement(scene.site)[0]:
            notes.append(hint("git lock install (commits are not checked here yet)"))
    if scene.scope == USER and not notes:
        notes.append(hint("it works in repositories where git-lock is at work: git lock install"))
    return notes


def _data(action: str, reports: list[Report], text: str | None) -> dict[str, object]:
    return {"action": action, "programs": [report.json() for report in reports], "text": text}


COMMAND = Command(
    "setup",
    "make an agent program ask before it edits",
    answer,
    text=(
        "Adds git-lock's hooks to the settings of agent programs, so that a session asks before it edits, and its "
        "leases follow what it does. Everything else in these files stays byte for byte as it is. By default the "
        "settings are this clone's own: every worktree of it gets them, new ones by `git lock spawn` as well, and git "
        "does not see them. Without a program it lists them; `all` means those that are on this machine. docs/setup.md "
        "says what is written where, and what each program still wants of you."
    ),
    arguments="[PROGRAM]...",
    options=(
        Option("--user", help="In your own settings, for all repositories, instead of in this clone."),
        Option("--shared", help="In the project's settings, to be committed: safe for those without git-lock."),
        Option("--check", help="Change nothing; 0 if it is set up here in full, else 1."),
        Option("--remove", help="Take it out again, byte for byte."),
        Option("--print", help="Show what would be written, to be added by hand."),
    ),
    codes=(exitcodes.DONE, exitcodes.ERROR, exitcodes.USAGE, exitcodes.REFUSED, exitcodes.UNCHECKED),
    examples=(
        "git lock setup", "git lock setup claude", "git lock setup codex --user", "git lock setup all --check",
        "git lock setup cursor --remove",
    ),
)  # fmt: skip
