"""``git lock retire``."""

from textwrap import wrap

from gitlock.domain.quoting import word
from gitlock.domain.retiring import FORCE, Permit
from gitlock.domain.saved import KEPT
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.options import Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, warning
from gitlock.entrypoints.wording import stamp, title, visible
from gitlock.errors import GitlockError, UsageError
from gitlock.usecases.retiring.finding import named
from gitlock.usecases.retiring.finishing import Outcome
from gitlock.usecases.retiring.removing import retire
from gitlock.usecases.retiring.sweeping import sweep
from gitlock.wiring.neighbours import inside

COLUMNS = 80

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.retiring import Refusal


def answer(given: Given) -> Answer:
    """Removes one worktree, or all whose work has landed."""
    everything, dry_run = given.flag("all_merged"), given.flag("dry_run")
    permit = Permit(
        force=given.flag("force"), discard=given.flag("discard_ignored"), keep=given.flag("keep_branch")
    )
    if everything and (given.arguments or permit.force or permit.discard or given.flag("gone")):
        raise UsageError("--all-merged takes no name and goes over no reason: it removes what nothing speaks against")
    if not everything and not given.arguments:
        raise UsageError("say whose worktree, or --all-merged", hint="git lock agents")
    site = site_of(given)
    if everything:
        return _swept(sweep(site, permit, inside, dry_run=dry_run), dry_run=dry_run)
    worktree = named(site, given.arguments[0])
    outcome = retire(site, worktree, permit, inside, dry_run=dry_run, gone=given.flag("gone"))
    data = {"snapshot": outcome.saved.id if outcome.saved is not None else None, "worktrees": [_json(outcome)]}
    notes = [warning(visible(text)) for text in outcome.warnings]
    if outcome.left is not None:
        notes.append(warning(f"'{visible(outcome.left[0])}' could not be deleted: {outcome.left[1]}"))
    if outcome.refusals:
        return _refused(outcome, data, notes)
    return Answer(lines=_lines(outcome), notes=notes, data=data)


def _refused(outcome: Outcome, data: object, notes: list[str]) -> Answer:
    agent = outcome.worktree.agent
    reasons = outcome.refusals
    count = "a reason" if len(reasons) == 1 else f"{len(reasons)} reasons"
    message = f"the worktree of {visible(agent)} stays, for {count}"
    stubborn = [one for one in reasons if FORCE not in one.yields]
    helps = f"git lock retire {word(agent)} {FORCE}"
    if stubborn or len(reasons) == 1:
        helps = _command((stubborn or reasons)[0])
    listed = []
    for one in reasons:
        listed += wrap(f"  {one.id}: {visible(one.what)}", COLUMNS, subsequent_indent=" " * 4, break_on_hyphens=False)
        listed.append(f"    next: {_command(one)}")
    if not stubborn:
        listed.append(f"  ({FORCE} saves all of it first, for 30 days)")
    fault = envelope.error(reasons[0].id if len(reasons) == 1 else "unsafe", message, helps)
    return Answer(exitcodes.REFUSED, notes=[*listed, *notes], data=data, fault=fault)


def _command(one: "Refusal") -> str:
    return " ".join(map(word, one.next))


def _lines(outcome: Outcome) -> list[str]:
    worktree = outcome.worktree
    place = f"'{visible(worktree.path)}'"
    verb = "would retire" if outcome.dry_run else "retired"
    lines = [f"{verb} {visible(worktree.agent)}: {place} {'would be' if outcome.dry_run else 'is'} removed"]
    for one in outcome.overruled:
        lines += wrap(f"  although {visible(one.what)}", COLUMNS, subsequent_indent=" " * 4, break_on_hyphens=False)
    if outcome.saved is not None:
        lines.append(f"saved as {outcome.saved.id} for 30 days: git lock restore {outcome.saved.id}")
    for fate in outcome.branches:
        if outcome.dry_run or not fate.deleted:
            kept = "" if outcome.dry_run else "kept: "
            lines.append(f"branch '{visible(fate.name)}' {kept}{visible(fate.because)}")
        else:
            lines.append(f"branch '{visible(fate.name)}' deleted: {visible(fate.because)}")
    lines += [f"released '{title(lease)}'" for lease in outcome.released]
    return lines


def _swept(outcomes: "list[Outcome | tuple[str, GitlockError]]", *, dry_run: bool) -> Answer:
    lines: list[str] = []
    rows: list[dict[str, object]] = []
    for one in outcomes:
        if isinstance(one, Outcome):
            rows.append(_json(one))
            if one.refusals:
                reasons = ", ".join(reason.id for reason in one.refusals)
                lines.append(f"{visible(one.worktree.agent)} stays: {reasons}")
            else:
                lines += _lines(one)
        else:
            lines.append(f"{visible(one[0])} stays: {visible(one[1].message)}")
    done = sum(1 for one in outcomes if isinstance(one, Outcome) and not one.refusals)
    lines.append(f"{done} of {len(outcomes)} worktrees {'would be ' if dry_run else ''}retired")
    return Answer(lines=lines, data={"snapshot": None, "worktrees": rows})


def _json(outcome: Outcome) -> dict[str, object]:
    worktree = outcome.worktree
    own = next((one for one in outcome.branches if one.name == worktree.branch), None)
    return {
        "id": worktree.id,
        "agent": worktree.agent,
        "path": envelope.name(worktree.path),
        "removed": outcome.removed,
        "dry_run": outcome.dry_run,
        "snapshot": outcome.saved.id if outcome.saved is not None else None,
        "snapshot_until": stamp(outcome.saved.at + KEPT) if outcome.saved is not None else None,
        "branch": envelope.name(worktree.branch),
        "branch_deleted": own.deleted if own is not None else False,
        "branch_kept_because": envelope.name(own.because) if own is not None and not own.deleted else None,
        "branches": [
            {
                "name": envelope.name(one.name),
                "tip": one.tip,
                "deleted": one.deleted,
                "because": envelope.name(one.because),
            }
            for one in outcome.branches
        ],
        "released": [lease.id for lease in outcome.released],
        "refusals": [_reason(one) for one in outcome.refusals],
        "overruled": [_reason(one) for one in outcome.overruled],
        "left": envelope.name(outcome.left[0]) if outcome.left is not None else None,
        "warnings": [envelope.name(text) for text in outcome.warnings],
        **envelope.raw([worktree.path, worktree.branch]),
    }


def _reason(one: "Refusal") -> dict[str, object]:
    return {
        "id": one.id,
        "what": envelope.name(one.what),
        "whose": one.whose,
        "next": _command(one),
        "yields_to": list(one.yields),
    }


COMMAND = Command(
    "retire",
    "remove an agent's worktree, and lose nothing",
    answer,
    text=(
        "Removes the worktree that was made for an agent, unless something would be lost or somebody is at work there; "
        "then it names every reason, and what to do about each. Its leases end, its slot is free. The branch that was "
        "made for it goes as well, but only when its work is proved to have landed, also after a squash or a "
        "rebase.\n\n"
        "--force saves the index, the files, untracked ones and commits first; `git lock restore` brings them back, "
        "for 30 days. Even then nobody's current shell, no other repository inside, and nothing that can't be saved "
        "is touched."
    ),
    arguments="[AGENT]",
    most=1,
    options=(
        Option("-f", "--force", help="Save what would be lost, then remove it; also while somebody is at work there."),
        Option("--discard-ignored", help="Don't save ignored files: they are lost."),
        Option("--keep-branch", help="The branch stays, so its commits are no reason against it."),
        Option("--gone", help="Its folder is gone for good: clear away what git still has of it."),
        Option("--all-merged", help="Every worktree whose work has landed, and that nothing speaks against."),
        Option("-n", "--dry-run", help="Only say what would happen."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.REFUSED, exitcodes.UNCHECKED),
    examples=("git lock retire alice", "git lock retire alice --force", "git lock retire --all-merged -n"),
)
