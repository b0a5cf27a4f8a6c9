"""``git lock install`` and ``git lock uninstall``."""

import os
import sys

from gitlock.domain.policy import MODES
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.commands.native import Native, manager_of
from gitlock.entrypoints.cli.commands.overview import enforcement
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, hint, warning
from gitlock.entrypoints.wording import visible
from gitlock.git.config import is_true
from gitlock.git.hooks import HOOKS, MANAGERS, InstallOutcome, find_folder, install, uninstall
from gitlock.templates import read_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site

OPT_OUT = "gitlock.installhooks"
WIDTH = 76  # characters of a line


def start_file() -> str:
    """The file that a stub starts, in this very installation."""
    import gitlock

    return os.path.join(os.path.dirname(os.path.abspath(gitlock.__file__)), "entrypoints", "hooks", "start.py")


def program_file() -> str | None:
    """The ``git-lock`` program of this installation, for the day on which the interpreter has moved."""
    own = os.path.join(os.path.dirname(sys.executable), "git-lock")
    if os.access(own, os.X_OK):
        return own
    import shutil

    return shutil.which("git-lock")


def install_here(site: "Site", hooks: tuple[str, ...] = HOOKS, *, rehearse: bool = False) -> InstallOutcome:
    """Makes git's hooks of this clone ask this very installation."""
    return install(
        site.repository,
        template=read_template("hook.sh"),
        interpreter=sys.executable,
        start=start_file(),
        program=program_file(),
        hooks=hooks,
        rehearse=rehearse,
    )


def answer_install(given: Given) -> Answer:
    """Makes the gates work in this clone and all its worktrees."""
    site = site_of(given)
    site.repository.require_top()
    wanted = given.text("hooks")
    hooks = tuple(name.strip() for name in wanted.split(",") if name.strip()) if wanted else HOOKS
    named = given.text("print")
    if named is not None and not given.flag("write"):
        native = Native(site.repository, named, hooks)
        return Answer(lines=native.shown(), data={**_nothing(site), "native": native.json()})
    setting = site.settings.get(OPT_OUT)
    rehearse = setting is not None and not is_true(setting)
    if not rehearse:
        site.store.layout.make()
    outcome = install_here(site, hooks, rehearse=rehearse)
    name = (named or manager_of(outcome.folder)) if given.flag("write") else None
    lines, notes = _done(outcome, "would install" if rehearse else "installed")
    added: list[str] = []
    if name is not None:
        native = Native(site.repository, name, hooks)
        if not rehearse:
            written, had = native.write()
            added = [native.place(path) for path in written]
            lines += [f"added lines to {visible(path)}" for path in added]
            lines += [f"the lines are in {visible(native.place(path))} already" for path in had]
        else:
            lines += [f"would add lines to {visible(native.place(path))}" for path in native.texts()]
        # What could not be done by ourselves, the manager does now.
        notes = [warning(f"{hook}: {name} has no such hook") for hook in native.missing]
        lines += [f"then run: {command}" for command in native.afterwards]
    elif outcome.advice and manager_of(outcome.folder) is None:
        lines += [visible(row) for row in outcome.advice]
    mode = given.text("mode")
    if mode is not None and not rehearse:
        site.repository.git.run("config", "gitlock.mode", mode)
        lines.append(f"mode {mode}, for this clone (git config gitlock.mode)")
        site = site_of(given)
    if rehearse:
        notes.append(warning("nothing was written: git config gitlock.installHooks is false"))
        data = _data(site, outcome, added)
        return Answer(lines=lines, notes=notes, data={**data, "rehearsed": True})
    return _judged(site, outcome, lines, notes, added)


def _done(outcome: InstallOutcome, verb: str) -> tuple[list[str], list[str]]:
    lines = []
    if outcome.written:
        lines += [f"{verb} in {visible(outcome.folder.path)}:", *_rows(outcome.written)]
    if outcome.configured:
        lines += [f"{verb} in git's configuration (agentlocks-hooks/git.config):", *_rows(outcome.configured)]
    if outcome.unchanged and not outcome.written and not outcome.configured:
        lines.append("nothing to do: already installed")
    reasons = dict.fromkeys(reason for _, reason in outcome.skipped)
    notes = [
        warning(f"{', '.join(name for name, why in outcome.skipped if why == reason)}: {visible(reason)}")
        for reason in reasons
    ]
    return lines, notes


def _rows(names: tuple[str, ...]) -> list[str]:
    """Names of hooks, on lines that fit a terminal."""
    rows = [""]
    for name in names:
        fits = len(rows[-1]) + len(name) < WIDTH
        rows = [*rows[:-1], f"{rows[-1]} {name}"] if fits else [*rows, f" {name}"]
    return [" " + row for row in rows]


def _judged(site: "Site", outcome: InstallOutcome, lines: list[str], notes: list[str], added: list[str]) -> Answer:
    """What was done, and whether it is enforced now: looked up, not concluded from what was done."""
    enforced, because, advice = enforcement(site)
    data = _data(site, outcome, added)
    if not enforced:
        if advice:
            notes.append(hint(visible(advice)))
        fault = envelope.error("not-enforced", f"NOT enforced here, because {because}", None)
        return Answer(exitcodes.REFUSED, lines=lines, notes=notes, data=data, fault=fault)
    lines.append(f"enforced here by: {', '.join(enforced)}")
    if because is not None:
        notes.append(warning(f"not fully enforced here, because {because}"))
    return Answer(lines=lines, notes=notes, data=data)


def _data(site: "Site", outcome: InstallOutcome, added: list[str]) -> dict[str, object]:
    enforced, because, _ = enforcement(site)
    return {
        "written": list(outcome.written),
        "configured": list(outcome.configured),
        "unchanged": list(outcome.unchanged),
        "skipped": [{"hook": name, "reason": reason} for name, reason in outcome.skipped],
        "folder": envelope.name(outcome.folder.path),
        "added": [envelope.name(path) for path in added],
        "enforced": list(enforced),
        "not_enforced_because": because,
        "native": None,
        "rehearsed": False,
    }


def _nothing(site: "Site") -> dict[str, object]:
    folder = find_folder(site.repository, HOOKS)
    return _data(site, InstallOutcome(folder, (), (), ()), [])


def answer_uninstall(given: Given) -> Answer:
    """Gives back the exact bytes of what was there."""
    site = site_of(given)
    outcome = uninstall(site.repository)
    lines = [f"gave back {visible(path)}" for path in outcome.restored]
    lines += [f"removed {visible(path)}" for path in outcome.removed]
    notes = [warning(f"left {visible(path)}: {reason}") for path, reason in outcome.left]
    data = {
        "restored": list(outcome.restored),
        "removed": list(outcome.removed),
        "left": [{"path": path, "reason": reason} for path, reason in outcome.left],
    }
    if not lines and not notes:
        lines = ["nothing to do: not installed"]
    elif not outcome.left:
        lines.append("the leases are kept; without hooks nothing enforces them here")
    return Answer(lines=lines, notes=notes, data=data)


INSTALL = Command(
    "install",
    "make commits in this clone ask first",
    answer_install,
    text=(
        "Puts a small hook beside whatever is there, for this clone and all its worktrees. A hook that was there still "
        "runs, after ours. Git 2.54 and later are asked through their configuration as well, whatever core.hooksPath "
        "says. Where a hook manager owns the folder, nothing of its is written: --print NAME shows the lines to add, "
        "and --write adds them. git config gitlock.installHooks false makes it say only what it would do."
    ),
    options=(
        Option("--mode", kind=VALUE, metavar="MODE", help="enforce or warn, for this clone only.", choices=MODES),
        Option("--hooks", kind=VALUE, metavar="NAMES", help=f"Only these, with commas between: {', '.join(HOOKS)}."),
        Option("--print", kind=VALUE, metavar="NAME", choices=MANAGERS,
               help=f"Show the lines for a hook manager: {', '.join(MANAGERS)}."),
        Option("--write", help="Add those lines to the manager's own files."),
    ),
    codes=(exitcodes.DONE, exitcodes.ERROR, exitcodes.USAGE, exitcodes.REFUSED),
    examples=("git lock install", "git lock install --mode warn", "git lock install --print husky"),
)  # fmt: skip
UNINSTALL = Command(
    "uninstall",
    "take our hooks away again",
    answer_uninstall,
    text="Takes our hooks away and gives back the exact bytes of what was there before.",
    codes=(exitcodes.DONE, exitcodes.ERROR),
    examples=("git lock uninstall",),
)
