"""``git lock install`` and ``git lock uninstall``."""

import os
import sys

from gitlock.domain.policy import MODES
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.commands.overview import enforcement
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, hint, warning
from gitlock.entrypoints.wording import visible
from gitlock.git.hooks import HOOKS, install, uninstall
from gitlock.templates import read_template


def start_file() -> str:
    """The file that a stub starts, in this very installation."""
    import gitlock.entrypoints.hooks

    return os.path.join(os.path.dirname(os.path.abspath(gitlock.entrypoints.hooks.__file__)), "start.py")


def program_file() -> str | None:
    """The ``git-lock`` program of this installation, for the day on which the interpreter has moved."""
    own = os.path.join(os.path.dirname(sys.executable), "git-lock")
    if os.access(own, os.X_OK):
        return own
    import shutil

    return shutil.which("git-lock")


def answer_install(given: Given) -> Answer:
    """Makes the gates work in this clone and all its worktrees."""
    site = site_of(given)
    site.repository.require_top()
    wanted = given.text("hooks")
    hooks = tuple(name.strip() for name in wanted.split(",") if name.strip()) if wanted else HOOKS
    outcome = install(
        site.repository,
        template=read_template("hook.sh"),
        interpreter=sys.executable,
        start=start_file(),
        program=program_file(),
        hooks=hooks,
    )
    site.store.layout.make()
    mode = given.text("mode")
    if mode is not None:
        site.repository.git.run("config", "gitlock.mode", mode)
        site = site_of(given)
    enforced, because, advice = enforcement(site)
    lines = [f"installed {name} in {visible(outcome.folder.path)}" for name in outcome.written]
    if outcome.unchanged and not outcome.written:
        lines.append("nothing to do: already installed")
    notes = [warning(f"{name}: {reason}") for name, reason in outcome.skipped]
    if outcome.advice:
        lines += [visible(row) for row in outcome.advice]
    if mode is not None:
        lines.append(f"mode {mode}, for this clone (git config gitlock.mode)")
    data = {
        "written": list(outcome.written),
        "unchanged": list(outcome.unchanged),
        "skipped": [{"hook": name, "reason": reason} for name, reason in outcome.skipped],
        "folder": envelope.name(outcome.folder.path),
        "enforced": list(enforced),
        "not_enforced_because": because,
    }
    if not enforced:
        if advice:
            notes.append(hint(visible(advice)))
        fault = envelope.error("not-enforced", f"NOT enforced here, because {because}", None)
        return Answer(exitcodes.REFUSED, lines=lines, notes=notes, data=data, fault=fault)
    lines.append(f"enforced here by: {', '.join(enforced)}")
    if because is not None:
        notes.append(warning(f"not fully enforced here, because {because}"))
    return Answer(lines=lines, notes=notes, data=data)


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
        "runs, after ours. Where a hook manager owns the folder, nothing is written and the line to add is printed."
    ),
    options=(
        Option("--mode", kind=VALUE, metavar="MODE", help="enforce or warn, for this clone only.", choices=MODES),
        Option("--hooks", kind=VALUE, metavar="NAMES", help=f"Only these, with commas between: {','.join(HOOKS)}."),
    ),
    codes=(exitcodes.DONE, exitcodes.ERROR, exitcodes.USAGE, exitcodes.REFUSED),
    examples=("git lock install", "git lock install --mode warn"),
)
UNINSTALL = Command(
    "uninstall",
    "take our hooks away again",
    answer_uninstall,
    text="Takes our hooks away and gives back the exact bytes of what was there before.",
    codes=(exitcodes.DONE, exitcodes.ERROR),
    examples=("git lock uninstall",),
)
