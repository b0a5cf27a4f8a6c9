"""``git lock check``."""

import os

from gitlock.domain.change import Change
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import site_of, told
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, hint, warning
from gitlock.entrypoints.wording import finding_line, held_by, next_for, title, visible
from gitlock.errors import UsageError
from gitlock.git.changes import changed_in_range, finish_staged, start_staged, worktree_changes
from gitlock.usecases.check import Checked, check
from gitlock.usecases.places import literal_place
from gitlock.wiring.begun import git_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Child
    from gitlock.wiring.site import Site


def answer(given: Given) -> Answer:
    """May I change these? Answers 20, whatever the policy, where that could not be told."""
    named = given.arguments or any(given.values.get(key) for key in ("worktree", "range", "stdin", "z"))
    started = None if named else start_staged(git_here())  # git answers this one beside the questions of the site
    site = site_of(given)
    changes = _changes(given, site, started)
    checked = check(
        site.store,
        changes,
        agent=site.agent,
        policy=site.policy,
        fold=site.fold,
        facts=site.facts,
        git=site.repository.git,
        holder=site.holder,
        take=False,
        seat_of=site.seat_of,
    )
    return _worded(site, changes, checked)


def _changes(given: Given, site: "Site", started: "Child | None") -> list[Change]:
    git = site.repository.git
    sources = [given.flag("worktree"), given.text("range") is not None, given.flag("stdin"), bool(given.arguments)]
    if sum(sources) > 1:
        raise UsageError("name paths, or --worktree, or --range, or --stdin: one of them")
    if given.flag("z") and not given.flag("stdin"):
        raise UsageError("-z says how --stdin is read: give it as well")
    if given.flag("worktree"):
        return worktree_changes(git, site.repository.require_top())
    span = given.text("range")
    if span is not None:
        return changed_in_range(git, span)
    if given.flag("stdin"):
        with open(0, "rb", closefd=False) as file:
            names = os.fsdecode(file.read()).split("\0" if given.flag("z") else "\n")
        return [Change(literal_place(site.repository, name), "M") for name in names if name]
    if given.arguments:
        return [Change(literal_place(site.repository, name) or ".", "M") for name in given.arguments]
    site.repository.require_top()
    assert started is not None
    return finish_staged(git, started)


def _worded(site: "Site", changes: list[Change], checked: Checked) -> Answer:
    now = checked.pulse.snapshot.now
    decision, prefix = checked.decision, site.repository.prefix
    warnings = [finding_line(one, now) for one in decision.findings if one.mode != "enforce"]
    warnings += [f"'{visible(path)}' is announced by {held_by(lease, now)}" for path, lease in decision.announced]
    if decision.takeable:
        warnings.append(f"{len(decision.takeable)} unclaimed paths would be claimed for you at the commit")
    if site.knows_elsewhere:
        from gitlock.entrypoints.elsewhere import path_warnings

        warnings += path_warnings(site, [change.path for change in changes], now)
    notes = [*map(warning, warnings), *told(site, checked.pulse.beat, now, checked.pulse.snapshot.notice)]

    def data() -> object:
        from gitlock.entrypoints import envelope

        return envelope.decision_json(decision, now, warnings, site.facts.liveness, prefix)

    if decision.violations:
        from gitlock.entrypoints import envelope

        first = decision.violations[0]
        rest = [f"git-lock: {finding_line(one, now)}" for one in decision.violations[1:]]
        command = next_for(first, prefix)
        fault = envelope.error("violation", finding_line(first, now), command)
        return Answer(exitcodes.VIOLATION, notes=[*rest, hint(command), *notes], data=data, fault=fault)
    count = len(changes)
    through = "".join(f"\n  under '{title(lease)}' (fence {lease.fence})" for lease in decision.used)
    lines = [f"clear: you may change {'it' if count == 1 else f'all {count} paths'}{through}"]
    if not count:
        lines = ["nothing to check: nothing is staged"]
    return Answer(lines=lines, notes=notes, data=data)


COMMAND = Command(
    "check",
    "may I change these paths?",
    answer,
    text=(
        "Judges paths as the commit gate does. Without arguments, what is staged. Nothing is claimed, whatever the "
        "policy says about unclaimed paths."
    ),
    arguments="[PATH...]",
    options=(
        Option("--worktree", help="Everything that is changed here, staged or not."),
        Option("--range", kind=VALUE, metavar="A..B", help="What differs between two commits."),
        Option("--stdin", help="Read the paths from standard input, one a line."),
        Option("-z", help="With --stdin: the paths end with NUL."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.UNCHECKED, exitcodes.VIOLATION),
    examples=(
        "git lock check",
        "git lock check src/auth/login.py",
        "git diff --name-only -z | git lock check --stdin -z",
    ),
)
