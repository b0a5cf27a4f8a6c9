"""pre-commit, pre-merge-commit, prepare-commit-msg: may this commit be made?

Which paths a commit changes depends on what is going on: docs/hooks.md has the table, ``tests/e2e`` holds it.
"""

import os

from gitlock.domain.change import Change
from gitlock.domain.decision import HELD, OVERTAKEN, UNCLAIMED, Finding
from gitlock.domain.policy import ENFORCE
from gitlock.domain.snapshot import Event
from gitlock.entrypoints.hooks.doubt import store_in_doubt
from gitlock.entrypoints.hooks.main import say
from gitlock.entrypoints.hooks.marker import judged_by_this_git, judged_this_index, mark_judged, note_passed, passed
from gitlock.entrypoints.hooks.ways import ways_out
from gitlock.entrypoints.wording import (
    REASON_LIMIT,
    claim_command,
    ended_line,
    finding_lines,
    held_by,
    next_for,
    revived_line,
    visible,
)
from gitlock.errors import GitlockError
from gitlock.git.changes import finish_staged, rename_sources, staged
from gitlock.git.operation import Operation, operation
from gitlock.usecases.check import Checked, check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.entrypoints.hooks.setting import Setting
    from gitlock.git.process import Child

VIOLATION = 22
SHOWN = 10  # paths that a gate lists; the rest is counted

# During these the commits were judged when they were made: they warn, and are recorded, but go on.
REPLAYS = ("rebase", "am")

# What a person commits by hand: here a commit that pre-commit has not seen was made with --no-verify.
BY_HAND = ("none", "squash", "merge", "bisect")


def judge(hook: str, setting: "Setting", started: "Child | None") -> int:
    """One gate's answer."""
    if not setting.managed:
        if started is not None:
            started.finish()
        return 0
    second = hook == "prepare-commit-msg"
    git_dir, environ = setting.repository.git_dir, setting.environ
    if second and judged_this_index(git_dir, environ):
        return 0
    policy = setting.policy  # read before anything that can fail
    try:
        site = setting.site
        doing = Operation("merge", "git merge --abort") if hook == "pre-merge-commit" else operation(git_dir)
        changes, exact = _changes(hook, setting, doing, started)
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
    except GitlockError as error:
        return store_in_doubt(hook, setting, error)
    for row in () if second else passed(git_dir):
        say(f"git-lock: note: {visible(row)}")
    _tell(checked)
    _hear(setting, checked)
    findings = checked.decision.findings
    stopping = tuple(one for one in findings if one.mode == ENFORCE)
    unverified = second and doing.kind in BY_HAND and not judged_by_this_git(git_dir, environ)
    passes = None if not stopping else _why_it_passes(setting, doing, exact=exact, unverified=unverified)
    if not findings:
        nothing_more = policy.release_on != "commit" and doing.kind == "none"
        mark_judged(git_dir, environ, "clear" if nothing_more else "beat")
        return 0
    if stopping and passes is None:
        _refuse(setting, doing, checked, stopping, unverified=unverified)
        return VIOLATION
    _say_findings("warning: ", f"the {_name(doing)} goes on ({passes[1] if passes else 'mode warn'})", setting, checked)
    if passes is None:
        say(f"hint: {_next(setting, findings)}")
    else:
        _record(hook, setting, passes, stopping)
    mark_judged(git_dir, environ, "beat")
    return 0


def _changes(
    hook: str, setting: "Setting", doing: Operation, started: "Child | None"
) -> tuple[list[Change], bool]:
    """What this commit really changes, and whether that is exact."""
    git, git_dir = setting.repository.git, setting.repository.git_dir
    merging = hook == "pre-merge-commit" or doing.kind == "merge"
    if merging or (doing.kind == "rebase" and os.path.exists(os.path.join(git_dir, "MERGE_HEAD"))):
        from gitlock.git.merges import human_part, other_parents_in_pre_merge

        if started is not None:
            started.finish()
        part = human_part(git, other_parents_in_pre_merge(setting.environ, git_dir))
        return part.changes, part.exact
    return (finish_staged(git, started) if started is not None else staged(git)), True


def _tell(checked: Checked) -> None:
    """What the committer must not miss about its own leases, and what was taken for it."""
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


def _hear(setting: "Setting", checked: Checked) -> None:
    """Requests to let go, and answers: a commit is a good moment to hear them."""
    store = setting.site.store
    if not os.path.isdir(store.layout.requests):
        return
    from gitlock.entrypoints.wording import request_lines
    from gitlock.usecases.hearing import hear

    for request in hear(store, setting.site.agent):
        for line in request_lines(request, setting.site.agent.id, checked.pulse.snapshot.now):
            say(line)


def _why_it_passes(
    setting: "Setting", doing: Operation, *, exact: bool, unverified: bool
) -> tuple[str, str] | None:
    """Why a violation is not refused, as the verb of its record and in words; None where it is."""
    if setting.site.bypass:
        return "bypass", f"GITLOCK_BYPASS: {visible(setting.site.bypass)}"
    if doing.kind in REPLAYS:
        return "replay", "it was judged when it was made"
    if not exact:
        return "inexact", "what git merged by itself can't be told from what was changed here"
    if unverified and setting.policy.verify == "respect":
        return "unverified", "--no-verify, which the policy respects"
    return None


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


def _refuse(
    setting: "Setting", doing: Operation, checked: Checked, stopping: tuple[Finding, ...], *, unverified: bool
) -> None:
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
    if held is not None:
        return f"to see whether it is free again: {next_for(held, prefix)}"
    command = claim_command(tuple(one.path for one in findings), prefix)
    if all(one.kind == OVERTAKEN for one in findings):
        return f"to claim it again, once you have looked at what changed: {command}"
    return f"to claim what is missing: {command}"


def _name(doing: Operation) -> str:
    return doing.kind if doing.kind in ("merge", "cherry-pick", "revert", "rebase", "am") else "commit"
