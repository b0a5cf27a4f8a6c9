"""What a gate says: to whom a path belongs, why the commit is refused or goes on, and what comes next."""

from gitlock.domain.decision import HELD, OVERTAKEN, UNCLAIMED, Finding
from gitlock.domain.snapshot import Event
from gitlock.domain.standing import ORPHANED
from gitlock.entrypoints.hooks.marker import note_passed, passed
from gitlock.entrypoints.hooks.voice import say
from gitlock.entrypoints.hooks.ways import ways_out
from gitlock.entrypoints.wording import (
    REASON_LIMIT,
    claim_command,
    ended_line,
    finding_lines,
    heard_lines,
    held_by,
    next_for,
    place_word,
    revived_line,
    visible,
)
from gitlock.git.changes import rename_sources
from gitlock.git.operation import Operation
from gitlock.usecases.check import Checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.instant import Instant
    from gitlock.entrypoints.hooks.setting import Setting
    from gitlock.usecases.arriving import Arrival

SHOWN = 10  # paths that a gate lists; the rest is counted
ARRIVED = 5  # the same after a switch or a merge, which nobody has to read


def tell(setting: "Setting", checked: Checked, *, first: bool) -> None:
    """What the committer must not miss about its own leases, what was taken for it, and what others ask of it."""
    for row in passed(setting.repository.git_dir) if first else ():
        say(f"git-lock: note: {visible(row)}")
    snapshot = checked.pulse.snapshot
    if snapshot.notice:
        say(f"warning: {visible(snapshot.notice)}")
    below = {one.ended.lease.id for one in checked.decision.findings if one.ended is not None}  # said there
    for ended in checked.pulse.beat.ended:
        if ended.lease.id not in below:
            say(f"warning: {ended_line(ended, snapshot.now)}")
    for lease in checked.pulse.beat.revived:
        say(f"warning: {revived_line(lease)}")
    for lease in checked.taken:
        say(f"git-lock: claimed for {visible(lease.agent)}: {visible(lease.title, REASON_LIMIT)} (fence {lease.fence})")
    for path, lease in checked.decision.announced[:SHOWN]:
        say(f"warning: '{visible(path)}' is announced by {held_by(lease, snapshot.now)}")
    _hear(setting, checked)


def _hear(setting: "Setting", checked: Checked) -> None:
    """Requests to let go, and answers: a commit is a good moment to hear them."""
    store = setting.site.store
    if not store.has_requests():
        return
    from gitlock.usecases.hearing import hear

    site = setting.site
    for line in heard_lines(hear(store, site.agent, site.fold, site.facts), site.agent.id, checked.pulse.snapshot.now):
        say(line)


def warn(
    hook: str,
    setting: "Setting",
    doing: Operation,
    checked: Checked,
    stopping: tuple[Finding, ...],
    passes: tuple[str, str] | None,
) -> None:
    """What goes on all the same: since the mode is warn, or for the reason that ``passes`` has."""
    why = visible(passes[1]) if passes is not None else "mode warn"
    _say_findings("warning: ", f"the {_name(doing)} goes on ({why})", setting, checked)
    if passes is None:
        say(f"hint: {_next(setting, checked.decision.findings)}")
    else:
        _record(hook, setting, passes, stopping)


def _say_findings(severity: str, what: str, setting: "Setting", checked: Checked) -> None:
    """The head line, then each path."""
    findings, site = checked.decision.findings, setting.site
    kinds = {one.kind for one in findings}
    why = {HELD: "held by another", UNCLAIMED: "not claimed by you", OVERTAKEN: "overtaken by another"}
    count = f"{len(findings)} path{' is' if len(findings) == 1 else 's are'}"
    said = why[kinds.pop()] if len(kinds) == 1 else "not yours to change"
    say(f"git-lock: {severity}{what}: {count} {said} (you are {visible(site.agent.id)})")
    renames = rename_sources(site.repository.git)
    for line in finding_lines(findings[:SHOWN], checked.pulse.snapshot.now, site.facts.liveness, renames):
        say(line)
    if len(findings) > SHOWN:
        say(f"  ... and {len(findings) - SHOWN} more")


def _record(hook: str, setting: "Setting", passes: tuple[str, str], stopping: tuple[Finding, ...]) -> None:
    """A violation that goes on is remembered; what a person chose to pass is shown at the next gate as well."""
    verb, why = passes
    paths = " ".join(one.path for one in stopping[:SHOWN])
    site = setting.site
    site.store.note((Event(verb, site.agent.id, paths, note=f"{why} ({hook})"),))
    if verb in ("bypass", "unverified"):
        note_passed(setting.repository.git_dir, f"{site.agent.id} made a commit past the gate ({why}): {paths}")


def refuse(
    setting: "Setting", doing: Operation, checked: Checked, stopping: tuple[Finding, ...], *, unverified: bool
) -> None:
    """Why it is refused, and every way on."""
    site = setting.site
    _say_findings("", f"{_name(doing)} refused", setting, checked)
    say(f"hint: {_next(setting, stopping)}")
    if unverified:
        say("hint: --no-verify does not skip this check (policy verify = \"always\")")
    for line in ways_out(doing):
        say(f"hint: {line}")
    paths, kinds = " ".join(one.path for one in stopping[:SHOWN]), sorted({one.kind for one in stopping})
    site.store.note((Event("refuse", site.agent.id, paths, note=", ".join(kinds)),))


def _next(setting: "Setting", findings: tuple[Finding, ...]) -> str:
    """The one command that comes next, as it is typed where git was called."""
    prefix = setting.environ.get("GIT_PREFIX", "")
    held = next((one for one in findings if one.kind == HELD), None)
    if held is not None and held.standing == ORPHANED:  # nobody is there to be asked
        word = place_word(held.path, prefix, claim=True)
        return f"to take it over, once you have looked at what is changed: git lock steal {word} --reason 'why'"
    if held is not None:
        return f"to see whether it is free again: {next_for(held, prefix)}"
    command = claim_command(tuple(one.path for one in findings), prefix)
    if all(one.kind == OVERTAKEN for one in findings):
        return f"to claim it again, once you have looked at what changed: {command}"
    return f"to claim what is missing: {command}"


def say_arrival(setting: "Setting", now: "Instant", found: "Arrival", branch: str | None, what: str) -> None:
    """What a switch or a merge means: whose paths this branch has changed, and whose it has other contents of now."""
    site = setting.site
    you = f"(you are {visible(site.agent.id)})"
    name = f"'{visible(branch)}'" if branch is not None else "this branch"
    for verb, findings in ((f"{name} has changed", found.changed), (f"{what} brought in", found.brought)):
        if not findings:
            continue
        count = "a path" if len(findings) == 1 else f"{len(findings)} paths"
        are = "is" if len(findings) == 1 else "are"
        more = f" and that {are} changed here as well" if what == "this merge" else ""
        whose = "another holds" if len({one.lease.agent for one in findings if one.lease}) == 1 else "others hold"
        say(f"git-lock: warning: {verb} {count} that {whose}{more} {you}")
        for line in finding_lines(findings[:ARRIVED], now, site.facts.liveness, {}):
            say(line)
        if len(findings) > ARRIVED:
            say(f"  ... and {len(findings) - ARRIVED} more")
    first = (*found.changed, *found.brought)[0]
    say(f"hint: to see whether it is free again: {next_for(first, setting.environ.get('GIT_PREFIX', ''))}")


def _name(doing: Operation) -> str:
    return doing.kind if doing.kind in ("merge", "cherry-pick", "revert", "rebase", "am") else "commit"
