"""pre-commit, pre-merge-commit, prepare-commit-msg: may this commit be made?

Which paths a commit changes depends on what is going on: docs/hooks.md has the table, ``tests/e2e`` holds it. Nearly
always there is nothing to say, and then no words are loaded (``gitlock.entrypoints.hooks.saying``).
"""

import os

from gitlock.domain.change import Change
from gitlock.domain.policy import ENFORCE
from gitlock.entrypoints.hooks.marker import PASSED, judged_by_this_git, judged_this_index, mark_judged
from gitlock.errors import GitlockError
from gitlock.git.changes import finish_staged, staged
from gitlock.git.operation import Operation, operation
from gitlock.usecases.check import Checked, check
from gitlock.wiring.identity import program_around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.entrypoints.hooks.setting import Setting
    from gitlock.git.process import Child

VIOLATION = 22

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
        changes, exact = changed(hook, setting, doing, started)
        checked = check(
            site.store,
            changes,
            agent=site.agent,
            policy=policy,
            fold=site.fold,
            facts=site.facts,
            git=site.repository.git,
            holder=site.holder,
            seat_of=site.seat_of,
        )
    except GitlockError as error:
        from gitlock.entrypoints.hooks.doubt import store_in_doubt

        return store_in_doubt(hook, setting, error)
    _tell(setting, checked, first=not second)
    if program_around(setting.environ) is not None:
        from gitlock.entrypoints.hooks.unseen import look_for_hooks

        look_for_hooks(setting)
    findings = checked.decision.findings
    stopping = tuple(one for one in findings if one.mode == ENFORCE)
    unverified = second and doing.kind in BY_HAND and not judged_by_this_git(git_dir, environ)
    passes = None if not stopping else _why_it_passes(setting, doing, exact=exact, unverified=unverified)
    if not findings:
        nothing_more = policy.release_on != "commit" and doing.kind == "none" and not site.follows_branches
        setting.receipt = receipt(setting, checked, None)
        mark_judged(git_dir, environ, "clear" if nothing_more else "beat", setting.receipt)
        return 0
    from gitlock.entrypoints.hooks.saying import refuse, warn

    if stopping and passes is None:
        refuse(setting, doing, checked, stopping, unverified=unverified)
        return VIOLATION
    warn(hook, setting, doing, checked, stopping, passes)
    setting.receipt = receipt(setting, checked, passes)
    mark_judged(git_dir, environ, "beat", setting.receipt)
    return 0


def receipt(setting: "Setting", checked: Checked, passes: tuple[str, str] | None) -> tuple[str, ...]:
    """The trailers of this commit: the leases that covered one of its paths, and the reason of a bypass."""
    snapshot, agent = checked.pulse.snapshot, setting.site.agent.id
    bypass = setting.site.bypass if passes is not None and passes[0] == "bypass" else None
    used = checked.decision.used if setting.policy.receipts and snapshot.store else ()
    if not used and bypass is None:
        return ()
    from gitlock.domain.signing import Receipt, rendered

    return rendered(agent, [Receipt.of(lease, snapshot.store, agent) for lease in used], bypass)


def changed(
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


def _tell(setting: "Setting", checked: Checked, *, first: bool) -> None:
    """What the committer must not miss about its own leases, what was taken for it, and what others ask of it."""
    beat, store = checked.pulse.beat, setting.site.store
    passed = first and os.path.exists(os.path.join(setting.repository.git_dir, PASSED))
    news = checked.pulse.snapshot.notice or beat.ended or beat.revived or checked.taken or checked.decision.announced
    if news or passed or _holds_something(store.layout.requests):
        from gitlock.entrypoints.hooks.saying import tell

        tell(setting, checked, first=first)


def _holds_something(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False


def _why_it_passes(
    setting: "Setting", doing: Operation, *, exact: bool, unverified: bool
) -> tuple[str, str] | None:
    """Why a violation is not refused, as the verb of its record and in words; None where it is."""
    if setting.site.bypass:
        return "bypass", f"GITLOCK_BYPASS: {setting.site.bypass}"
    if doing.kind in REPLAYS:
        return "replay", "it was judged when it was made"
    if not exact:
        return "inexact", "what git merged by itself can't be told from what was changed here"
    if unverified and setting.policy.verify == "respect":
        return "unverified", "--no-verify, which the policy respects"
    return None
