"""The merge check in words: what may not land, what should be known, and what comes next."""

from gitlock.domain.decision import HELD, OVERTAKEN, UNCLAIMED
from gitlock.domain.duration import show_duration
from gitlock.domain.instant import Instant
from gitlock.domain.merging import AHEAD, ANNOUNCED, ELSEWHERE, SINCE, Finding, Notice, Standing
from gitlock.domain.policy import ENFORCE
from gitlock.domain.quoting import word
from gitlock.domain.signing import Receipt
from gitlock.domain.value import Value
from gitlock.entrypoints.wording import REASON_LIMIT, claim_command, clock, held_by, place_word, title, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.following import Followed
    from gitlock.git.branching import Ends
    from gitlock.usecases.merge_check import MergeCheck

SHOWN = 30  # paths that the text lists; the rest is counted
NAMED = 3  # paths that a warning names

TITLES = {HELD: "held by another", UNCLAIMED: "not claimed", OVERTAKEN: "overtaken"}


class Told(Value):
    """A check with what is needed to speak of it: what was asked for, the remote, and the wall time. ``followed`` is
    what became of the leases here that last while their branch does."""

    __slots__ = ("check", "ends", "followed", "now", "remote")

    def __init__(
        self, check: "MergeCheck", ends: "Ends", remote: str | None, now: float, followed: "Followed | None" = None
    ) -> None:
        self.followed = followed
        self.check = check
        self.ends = ends
        self.remote = remote
        self.now = now

    @property
    def into(self) -> str:
        """The base, as people call it."""
        named = self.ends.base or "its base"
        for lead in ("refs/heads/", "refs/remotes/"):
            named = named.removeprefix(lead)
        return visible(self.ends.target or _readable(named))

    @property
    def instant(self) -> Instant:
        """The time that leases are counted by."""
        return Instant(self.now, 0.0, "")


def head_lines(told: Told) -> list[str]:
    """What was compared, and by what it was judged."""
    check, ends = told.check, told.ends
    parted = check.parted
    what = f"'{visible(ends.branch)}'" if ends.branch else visible(_readable(ends.head))
    agents = ", ".join(visible(one) for one in check.judged.agents[:NAMED])
    more = len(check.judged.agents) - NAMED
    whose = f"; it is the work of {agents}{f' and {more} more' if more > 0 else ''}" if agents else ""
    return [
        f"merge check: {what} ({short(parted.head)}) into {told.into} ({short(parted.base)})",
        f"  {count(check.paths, 'path')} changed since {short(parted.merge_base)}{whose}",
        f"  found by: {visible(ends.how)}",
        f"  policy: {_policy(check)}; ledgers: {check.ledgers}",
    ]


def result_line(told: Told) -> str:
    """The answer in a line."""
    check = told.check
    stopping, paths = len(check.judged.violations), check.paths
    if stopping:
        return f"{stopping} of {count(paths, 'path')} may not land in {told.into}"
    if not check.managed:
        return f"clear: nothing to judge by: {told.into} has no .gitlock.toml, and nobody has published a ledger"
    if not paths:
        return f"clear: it changes nothing in {told.into}"
    only = f" ({count(len(check.judged.findings), 'warning')})" if check.judged.findings else ""
    return f"clear: {'it' if paths == 1 else f'all {paths} paths'} may land in {told.into}{only}"


def finding_text(finding: Finding, told: Told) -> str:
    """Why a path may not land."""
    path = f"'{visible(finding.path)}'" + (" (deleted)" if finding.status == "D" else "")
    if finding.kind == HELD and finding.held is not None:
        lease = finding.held.lease
        holder = held_by(lease, told.instant, through=lease.title != finding.path)
        return f"{path} is held by {holder}{_as_of(finding.held, told)}"
    theirs, own, commit = finding.receipt, finding.own, finding.commit
    if finding.kind == OVERTAKEN and theirs is not None and own is not None and commit is not None:
        return (
            f"{path} is overtaken: {_somebody(theirs)} landed {short(commit.id)} under {_claim(theirs)}, and this "
            f"branch worked under the older {_claim(own)}"
        )
    return f"{path} is not claimed: no receipt on this branch covers it"


def notice_text(notice: Notice, told: Told) -> str:
    """What should be known, in a line."""
    paths = _paths(notice.paths)
    if notice.kind == SINCE and notice.held is not None:
        return f"{paths}: this branch was first, and now it is held by {_holder(notice.held, told)}"
    if notice.kind == ANNOUNCED and notice.held is not None:
        return f"{paths}: announced by {_holder(notice.held, told)}"
    if notice.kind == ELSEWHERE and notice.receipt is not None and notice.commit is not None:
        return (
            f"{paths}: {_somebody(notice.receipt)} landed {short(notice.commit.id)} under {_claim(notice.receipt)} of "
            f"another store ({visible(notice.receipt.store)}), whose fences don't compare with this branch's: "
            f"look at what changed"
        )
    if notice.kind == AHEAD:
        return f"{paths}: changed on '{visible(notice.name)}' too, which is not merged yet"
    assert notice.commit is not None, f"a notice of kind {notice.kind} that names no commit"
    agents = visible(", ".join(notice.commit.declared.agents)) or "somebody"
    return f'{short(notice.commit.id)} got past a gate ({agents}): "{visible(notice.name, REASON_LIMIT)}"'


def warnings(told: Told) -> list[str]:
    """What the policy only warns of, and everything else that stops nobody."""
    mild = [one for one in told.check.judged.findings if one.mode != ENFORCE]
    more = [f"and {count(len(mild) - SHOWN, 'more path')}"] if len(mild) > SHOWN else []
    return [*(finding_text(one, told) for one in mild[:SHOWN]), *more, *notices(told)]


def notices(told: Told) -> list[str]:
    """What should be known, and is no finding."""
    check = told.check
    lines = []
    if check.edits_policy:
        lines.append("this branch changes .gitlock.toml: it is judged by the base's, not by its own")
    if check.managed and not check.policy.receipts and check.policy.unclaimed == "reject":
        lines.append("receipts are off in .gitlock.toml: whether the paths were claimed can't be told from the commits")
    lines += [notice_text(one, told) for one in check.judged.notices]
    lines += [
        f"'{title(lease)}' of {visible(lease.agent)} was claimed until '{visible(lease.holder.branch or '')}' is "
        "merged, and it is: nobody there has noticed yet (git lock gc)"
        for lease in check.orphans
    ]
    lines += followed_lines(told.followed) if told.followed is not None else []
    return lines + [visible(one.message) for one in check.faults]


def followed_lines(followed: "Followed") -> list[str]:
    """Leases whose branch is merged or gone, and those of which that can't be told."""
    return [
        *(f"ended '{title(one.lease)}' of {visible(one.lease.agent)}: {visible(one.note)}" for one in followed.ended),
        *(
            f"'{title(lease)}' of {visible(lease.agent)} follows a branch, and is not renewed: {visible(why)}"
            for lease, why in followed.adrift
        ),
    ]


def next_command(finding: Finding, told: Told) -> str:
    """One command that helps with a finding."""
    if finding.kind == HELD and finding.held is not None:
        return f"git lock who {place_word(finding.path)}" if finding.held.writer is None else "git lock fetch"
    if finding.kind == OVERTAKEN:
        if told.remote is not None and told.ends.target is not None:
            return f"git pull --rebase {word(told.remote)} {word(told.ends.target)}"
        return f"git rebase {word(_readable(told.ends.base or told.check.parted.base))}"
    return f"{claim_command((finding.path,))} && git commit --amend --no-edit"


def hints(told: Told) -> list[str]:
    """For each kind of finding what comes next, once."""
    found = told.check.judged.violations or told.check.judged.findings
    lines = []
    for kind, what in (
        (HELD, "who holds it, and until when"), (OVERTAKEN, "rebase and look again"),
        (UNCLAIMED, "claim it, and give the commit its receipt"),
    ):  # fmt: skip
        these = [one for one in found if one.kind == kind]
        if these and kind == UNCLAIMED:
            command = claim_command(tuple(one.path for one in these))
            lines.append(f"{what}: {command} && git commit --amend --no-edit")
        elif these:
            lines.append(f"{what}: {next_command(these[0], told)}")
    return lines


def count(number: int, what: str) -> str:
    """``1 path``, ``2 paths``."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _policy(check: "MergeCheck") -> str:
    if check.policy.source == "built in":
        return "the built-in one"
    return f".gitlock.toml of the base ({check.policy.override or check.policy.mode})"


def _holder(held: Standing, told: Told) -> str:
    return f"{held_by(held.lease, told.instant, through=True)}{_as_of(held, told)}"


def _as_of(held: Standing, told: Told) -> str:
    if held.published is None:
        return ""
    ago = show_duration(max(0.0, told.now - held.published))
    return f", as published at {clock(held.published, told.now)} ({ago} ago)"


def _claim(receipt: Receipt) -> str:
    return f"'{visible(receipt.title, REASON_LIMIT)}' (fence {receipt.fence})"


def _somebody(receipt: Receipt) -> str:
    return visible(receipt.agent) or "somebody"


def _paths(paths: tuple[str, ...]) -> str:
    more = len(paths) - NAMED
    return ", ".join(f"'{visible(path)}'" for path in paths[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _readable(text: str) -> str:
    """A commit's full name is cut; what is not one stays."""
    return short(text) if len(text) in (40, 64) and not text.strip("0123456789abcdef") else text


def short(commit: str) -> str:
    """A commit's name, as much of it as tells it from others."""
    return commit[:10]
