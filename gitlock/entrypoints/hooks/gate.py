"""pre-commit, pre-merge-commit, prepare-commit-msg: may this commit be made?

Which paths a commit changes depends on what is going on: docs/hooks.md has the table, ``tests/e2e`` holds it.
"""

from gitlock.domain.change import Change
from gitlock.domain.decision import Finding
from gitlock.domain.policy import ENFORCE
from gitlock.domain.snapshot import Event
from gitlock.entrypoints.hooks.doubt import store_in_doubt
from gitlock.entrypoints.hooks.main import say
from gitlock.entrypoints.hooks.marker import judged_by_this_git, mark_judged, note_passed, passed
from gitlock.entrypoints.wording import ended_line, finding_line, held_by, next_for, revived_line, visible
from gitlock.errors import StoreError
from gitlock.git.changes import finish_staged, rename_sources, staged
from gitlock.git.operation import Operation, operation
from gitlock.usecases.check import Checked, check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.entrypoints.hooks.setting import Setting
    from gitlock.git.process import Child

VIOLATION = 22
SHOWN = 10  # paths that a refusal lists; the rest is counted

# During these the commits were judged when they were made: they warn, and are recorded, but go on.
REPLAYS = ("rebase", "am")


def judge(hook: str, setting: "Setting", started: "Child | None") -> int:
    """One gate's answer."""
    if not setting.managed:
        if started is not None:
            started.finish()
        return 0
    doing = operation(setting.repository.git_dir)
    changes, exact = _changes(hook, setting, doing, started)
    policy, site = setting.policy, setting.site
    for row in passed(setting) if hook != "prepare-commit-msg" else []:
        say(f"git-lock: note: {visible(row)}")
    unverified = hook == "prepare-commit-msg" and not judged_by_this_git(setting)
    try:
        checked = check(
            site.store,
            changes,
            agent=site.agent,
            policy=policy,
            fold=site.fold,
            facts=site.facts,
            git=site.repository.git,
            holder=site.holder,
        )
    except StoreError as error:
        return store_in_doubt(hook, setting, error)
    _tell(setting, checked)
    soft = doing.kind in REPLAYS or not exact
    if unverified and policy.verify == "respect" and doing.kind in ("none", "squash", "merge"):
        soft = True
    findings = checked.decision.findings
    stopping = tuple(one for one in findings if one.mode == ENFORCE)
    if not stopping:
        for line in _lines(findings, checked, {}):
            say(f"warning: {line}")
        _settle(setting, doing, quiet=not findings)
        return 0
    renames = rename_sources(site.repository.git)
    lines = _lines(findings, checked, renames)
    if site.bypass or soft:
        return _let_pass(hook, setting, doing, lines, stopping, unverified=unverified, exact=exact)
    _refuse(setting, doing, lines, stopping, unverified=unverified)
    return VIOLATION


def _changes(hook: str, setting: "Setting", doing: Operation, started: "Child | None") -> tuple[list[Change], bool]:
    """What this commit really changes, and whether that is exact."""
    git = setting.repository.git
    if hook == "pre-merge-commit" or doing.kind == "merge":
        from gitlock.git.merges import human_part, other_parents_in_pre_merge

        if started is not None:
            started.finish()
        part = human_part(git, other_parents_in_pre_merge(setting.environ, setting.repository.git_dir))
        return part.changes, part.exact
    return (finish_staged(git, started) if started is not None else staged(git)), True


def _settle(setting: "Setting", doing: Operation, *, quiet: bool) -> None:
    """Leaves the note for the hooks that follow."""
    nothing_more = quiet and setting.policy.release_on != "commit" and doing.kind == "none"
    mark_judged(setting, "clear" if nothing_more else "beat")


def _tell(setting: "Setting", checked: Checked) -> None:
    """What the committer must not miss about its own leases, and what was taken for it."""
    snapshot = checked.pulse.snapshot
    if snapshot.notice:
        say(f"warning: {visible(snapshot.notice)}")
    for ended in checked.pulse.beat.ended:
        say(f"warning: {ended_line(ended, snapshot.now)}")
    for lease in checked.pulse.beat.revived:
        say(f"warning: {revived_line(lease)}")
    for lease in checked.taken:
        say(f"git-lock: claimed for {visible(lease.agent)}: {visible(lease.title)} (fence {lease.fence})")
    for path, lease in checked.decision.announced[:SHOWN]:
        say(f"warning: '{visible(path)}' is announced by {held_by(lease, snapshot.now)}")


def _lines(findings: tuple[Finding, ...], checked: Checked, renames: dict[str, str]) -> list[str]:
    now = checked.pulse.snapshot.now
    lines = [finding_line(one, now, renames.get(one.path)) for one in findings[:SHOWN]]
    if len(findings) > SHOWN:
        lines.append(f"... and {len(findings) - SHOWN} more: git lock check")
    return lines


def _let_pass(
    hook: str,
    setting: "Setting",
    doing: Operation,
    lines: list[str],
    stopping: tuple[Finding, ...],
    *,
    unverified: bool,
    exact: bool,
) -> int:
    """A violation that goes on: said, and recorded."""
    site = setting.site
    if site.bypass:
        why, verb = f"GITLOCK_BYPASS: {site.bypass}", "bypass"
    elif doing.kind in REPLAYS:
        why, verb = f"a {doing.kind} goes on", "replay"
    elif not exact:
        why, verb = "what git merged by itself can't be told from what was changed here", "inexact"
    else:
        why, verb = "--no-verify, which the policy respects", "unverified"
    for line in lines:
        say(f"warning: {line}")
    say(f"git-lock: not refused ({visible(why)})")
    paths = " ".join(one.path for one in stopping[:SHOWN])
    site.store.note((Event(verb, site.agent.id, paths, note=f"{why} ({hook})"),))
    if verb in ("bypass", "unverified"):
        note_passed(setting, f"{site.agent.id} made a commit past the gate ({why}): {paths}")
    mark_judged(setting, "beat")
    return 0


def _refuse(
    setting: "Setting", doing: Operation, lines: list[str], stopping: tuple[Finding, ...], *, unverified: bool
) -> None:
    site = setting.site
    kinds = {one.kind for one in stopping}
    what = {
        frozenset(("held",)): "held by another",
        frozenset(("unclaimed",)): "not claimed by you",
        frozenset(("overtaken",)): "overtaken: your lease lapsed and another took it",
    }.get(frozenset(kinds), "not yours to change")
    count = len(stopping)
    action = doing.kind if doing.kind in ("cherry-pick", "revert", "merge") else "commit"
    say(
        f"git-lock: {action} refused: {count} path{'' if count == 1 else 's'} {what} (you are {visible(site.agent.id)})"
    )
    for line in lines:
        say(f"  {line}")
    unclaimed = [one for one in stopping if one.kind != "held"]
    if len(unclaimed) == count and count > 1:
        say("hint: to claim what is staged: git lock claim --staged")
    else:
        held = next((one for one in stopping if one.kind == "held"), stopping[0])
        say(f"hint: {next_for(held)}")
    if doing.escape and doing.kind in ("cherry-pick", "revert", "merge"):
        say(f"hint: to take this {doing.kind} back: {doing.escape}")
    if unverified and doing.kind == "none":
        say('hint: --no-verify does not skip this check (policy verify = "always")')
    say("hint: to go on against it (it is recorded and shown): GITLOCK_BYPASS='why' git commit ...")
    site.store.note(
        (Event("refuse", site.agent.id, " ".join(one.path for one in stopping[:SHOWN]), note=", ".join(sorted(kinds))),)
    )
