"""pre-push: may these commits go there? Then the ledger goes with them, by a push of its own.

Git tells each ref on standard input; deletions, and refs that are about commits (notes, ledgers), are not judged. What
has no name as a remote (a push to a URL) is judged, and gets no ledger.
"""

import os

from gitlock.domain.decision import HELD, OVERTAKEN, UNCLAIMED
from gitlock.domain.instant import Instant
from gitlock.domain.merging import ELSEWHERE, SINCE
from gitlock.domain.policy import OFF
from gitlock.domain.quoting import word
from gitlock.domain.snapshot import Event
from gitlock.entrypoints.hooks.marker import note_passed, passed
from gitlock.entrypoints.hooks.saying import SHOWN
from gitlock.entrypoints.hooks.voice import say
from gitlock.entrypoints.hooks.ways import ways_out
from gitlock.entrypoints.wording import (
    REASON_LIMIT,
    claim_command,
    ended_line,
    held_by,
    place_word,
    visible,
)
from gitlock.errors import GitlockError
from gitlock.git.operation import Operation
from gitlock.git.outgoing import pushed_updates
from gitlock.usecases.pushing import ASIDE, PushJudged, Refused, judge_push

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.merging import Notice
    from gitlock.domain.signing import Receipt
    from gitlock.entrypoints.hooks.setting import Setting
    from gitlock.git.outgoing import Update

VIOLATION = 22
PATIENCE = 10.0  # seconds that the remote may take for the ledger; the push itself waits that long at most


def before_push(setting: "Setting", remote_name: str, remote_url: str, lines: bytes) -> int:
    """The gate's answer to a push: ``lines`` are git's, as they came on standard input."""
    if not setting.managed:
        return 0
    policy = setting.policy  # read before anything that can fail
    if OFF in (policy.override, policy.override or policy.mode) and not policy.keys:
        return 0
    try:
        site = setting.site
        git = site.repository.git
        updates = [one for one in pushed_updates(lines) if one.new is not None and not one.ref.startswith(ASIDE)]
        named = remote_name if remote_name != remote_url else None  # a URL stands for its own name
        judged = judge_push(
            site.store, git, updates, named, agent=site.agent, policy=policy, fold=site.fold, facts=site.facts,
            born=_born(site.store.layout.folder), seat_of=site.seat_of,
        )  # fmt: skip
    except GitlockError as error:
        from gitlock.entrypoints.hooks.doubt import store_in_doubt

        return store_in_doubt("pre-push", setting, error)
    code = _answer(setting, judged, named)
    if code == 0 and judged.pulse.snapshot.counter:
        _go_on(setting, named, updates, judged.paths)
    return code


def _born(folder: str) -> float:
    """When this clone's store was made; what was committed before was committed when nobody could claim anything."""
    try:
        return os.stat(os.path.join(folder, "README")).st_mtime
    except OSError:
        return 0.0


def _answer(setting: "Setting", judged: PushJudged, remote: str | None) -> int:
    site = setting.site
    for row in passed(setting.repository.git_dir):
        say(f"git-lock: note: {visible(row)}")
    for ended in judged.pulse.beat.ended:
        say(f"warning: {ended_line(ended, judged.pulse.snapshot.now)}")
    below = {one.path for one in judged.refused}  # said there
    for notice in judged.notices:
        line = _noticed(notice, judged.pulse.snapshot.now)
        if line is not None and not below.issuperset(notice.paths):
            say(f"git-lock: warning: {line}")
    if not judged.refused:
        return 0
    stopping = tuple(one for one in judged.refused if one.stops)
    paths = " ".join(one.path for one in stopping[:SHOWN])
    if stopping and not site.bypass:
        _list("push refused", setting, judged)
        say(f"hint: {_next(stopping, remote, setting.environ.get('GIT_PREFIX', ''))}")
        for line in ways_out(Operation("push")):
            say(f"hint: {line}")
        kinds = sorted({one.kind for one in stopping})
        site.store.note((Event("refuse", site.agent.id, paths, note=", ".join(kinds) + " (pre-push)"),))
        return VIOLATION
    if stopping:
        _list(f"warning: the push goes on (GITLOCK_BYPASS: {visible(site.bypass)})", setting, judged)
        site.store.note((Event("bypass", site.agent.id, paths, note=f"GITLOCK_BYPASS: {site.bypass} (pre-push)"),))
        note_passed(setting.repository.git_dir, f"{site.agent.id} pushed past the gate ({site.bypass}): {paths}")
        return 0
    _list("warning: the push goes on (nothing of this stops it)", setting, judged)
    return 0


def _list(what: str, setting: "Setting", judged: PushJudged) -> None:
    refused = judged.refused
    count = f"{len(refused)} path{' is' if len(refused) == 1 else 's are'}"
    say(f"git-lock: {what}: {count} not to be changed like that (you are {visible(setting.site.agent.id)})")
    for one in refused[:SHOWN]:
        say(f"  {_line(one, judged.pulse.snapshot.now)}")
    if len(refused) > SHOWN:
        say(f"  ... and {len(refused) - SHOWN} more")


def _line(one: Refused, now: Instant) -> str:
    """One path, with the commit that changes it."""
    who = f" by {visible(one.agent)}" if one.agent else ""
    where = f"'{visible(one.path)}', changed in {one.commit.oid[:10]}{who}"
    past = f' (it got past a gate: "{visible(one.bypass, REASON_LIMIT)}")' if one.bypass else ""
    if one.landing is not None and one.kind == OVERTAKEN:
        theirs, own, commit = one.landing.receipt, one.landing.own, one.landing.commit
        assert theirs is not None
        assert own is not None
        assert commit is not None
        return (
            f"{where} under {_claim(own)}, is overtaken: {visible(theirs.agent or 'somebody')} landed "
            f"{commit.id[:10]} under the later {_claim(theirs)}{past}"
        )
    lease = one.landing.held.lease if one.landing is not None and one.landing.held is not None else None
    if one.finding is not None:
        lease = one.finding.lease if one.kind == HELD else None
        if one.finding.ended is not None:
            return f"{where}, is overtaken: {ended_line(one.finding.ended, now)}{past}"
    if lease is not None:
        return f"{where}, is held by {held_by(lease, now, through=True)}{past}"
    return f"{where} without a receipt, and nobody has claimed it{past}"


def _claim(receipt: "Receipt") -> str:
    return f"'{visible(receipt.title, REASON_LIMIT)}' (lease {visible(receipt.lease)}, fence {receipt.fence})"


def _noticed(notice: "Notice", now: Instant) -> str | None:
    names = ", ".join(f"'{visible(path)}'" for path in notice.paths[:SHOWN])
    if notice.kind == SINCE and notice.held is not None:
        return f"{names}: you were first, and now it is held by {held_by(notice.held.lease, now, through=True)}"
    if notice.kind == ELSEWHERE and notice.commit is not None and notice.receipt is not None:
        return (
            f"{names}: {visible(notice.receipt.agent or 'somebody')} landed {notice.commit.id[:10]} under a lease of "
            "another clone, which can't be compared with yours: look at what changed"
        )
    return None


def _next(stopping: tuple[Refused, ...], remote: str | None, prefix: str) -> str:
    """The one command that comes next."""
    if any(one.kind == OVERTAKEN for one in stopping):
        claim = claim_command(tuple(one.path for one in stopping if one.kind == OVERTAKEN), prefix)
        base = f"git rebase {word(remote + '/HEAD')}" if remote is not None else "git rebase"
        return f"to look at what landed, and work on from there: {claim} && {base}"
    held = next((one for one in stopping if one.kind == HELD), None)
    if held is not None:
        return f"to see whether it is free again: git lock who {place_word(held.path, prefix)}"
    command = claim_command(tuple(one.path for one in stopping if one.kind == UNCLAIMED), prefix)
    return f"to claim what is missing, and push then: {command}"


# -- what goes with the push


def _go_on(setting: "Setting", remote: str | None, updates: "list[Update]", paths: frozenset[str]) -> None:
    """The ledger, and what is given back once the push has arrived. Nothing here stops the push."""
    from gitlock.usecases.following import follow

    site, policy = setting.site, setting.policy
    try:
        follow(site.store, site.repository.git, site.publications, thorough=False)
        if remote is not None and policy.publish != "never":
            from gitlock.usecases.publishing import publish

            publish(
                site.store, site.repository.git, site.publications, remote, facts=site.facts, clone=site.clone,
                timeout=PATIENCE, sure=False, seat_of=site.seats(),
            )  # fmt: skip
    except (GitlockError, OSError) as error:
        say(f"git-lock: warning: the push goes on, but what is held here was not published: {visible(str(error))}")
    if policy.release_on == "push" and remote is not None:
        from gitlock.wiring.background import release_when_pushed

        release_when_pushed(site, policy, remote, updates, paths)
