"""``git lock break`` (``force-release``) and ``git lock steal``."""

from gitlock.domain.breaking import Broken, NothingThere, StillThere
from gitlock.domain.claim import Refused
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import claim_arguments, retyped, site_of
from gitlock.entrypoints.cli.granting import refusal, wish_of
from gitlock.entrypoints.cli.options import CLAIM_FORMS, VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, hint
from gitlock.entrypoints.wording import held_by, title, visible
from gitlock.errors import UsageError
from gitlock.usecases.negotiate import force
from gitlock.usecases.reading import read_claims, read_wanted
from gitlock.usecases.renew import complain


def answer_break(given: Given) -> Answer:
    """Drops somebody's lease; only shows what it would do, unless --yes."""
    return _force(given, take=False, dry_run=not given.flag("yes"))


def answer_steal(given: Given) -> Answer:
    """Drops somebody's lease and takes it, in one step."""
    return _force(given, take=True, dry_run=False)


def _force(given: Given, *, take: bool, dry_run: bool) -> Answer:
    reason = given.text("reason") or ""
    if not reason.strip() and not dry_run:
        raise UsageError("say why, for the holder and for the history: --reason TEXT")
    site = site_of(given)
    arguments = claim_arguments(given)
    wanted = read_wanted(arguments, site.repository, site.policy, site.fold)
    complain(wanted)
    reading = read_claims(arguments, site.repository, site.policy, site.fold)
    wish = wish_of(given, site, reading)
    answer = force(
        site.store, site.agent, wanted, wish,
        take=take, reason=reason, forced=given.flag("force"), dry_run=dry_run, policy=site.policy, title=reading.title,
    )  # fmt: skip
    now = site.now()
    verb = "steal" if take else "break"
    if isinstance(answer, NothingThere):
        message = f"nobody else holds '{visible(' '.join(one.text for one in wanted))}'"
        if not take and given.flag("yes"):
            return Answer(lines=[message], data={"leases": [], "dry_run": dry_run})
        fault = envelope.error("no-such-lease", message, f"git lock claim {retyped(given)}")
        return Answer(exitcodes.NO_SUCH_LEASE, fault=fault)
    if isinstance(answer, StillThere):
        what = "is alive" if answer.liveness == "alive" else "may well be at work (nothing proves that it is gone)"
        message = f"'{title(answer.lease)}' is held by {held_by(answer.lease, now)}, who {what}"
        asked = f"git lock request {retyped(given)} -m 'why you need it'"
        notes = [hint(f"to {verb} it all the same: --force")]
        return Answer(exitcodes.REFUSED, notes=notes, fault=envelope.error("holder-alive", message, asked))
    if isinstance(answer, Refused):
        return refusal(site, answer, retyped(given), [])
    if not isinstance(answer, Broken):
        return Answer(exitcodes.REFUSED, fault=envelope.error("agent-elsewhere", "you are at work in another place"))
    done = {(True, False): "stolen", (False, False): "broken"}.get((take, dry_run), "would break")
    lines = [f"{done}: '{title(lease)}' of {visible(lease.agent)}, who is told" for lease in answer.leases]
    state = "live" if dry_run else "released"
    dropped = [envelope.lease_json(one, now, state, "unknown") for one in answer.leases]
    data: dict[str, object] = {"leases": dropped}
    if not take:
        data["dry_run"] = dry_run
    if answer.taken is not None:
        data["lease"] = envelope.lease_json(answer.taken.lease, now, "live", "unknown")
        data["warnings"] = []
        lines.append(f"'{title(answer.taken.lease)}' is yours, fence {answer.taken.lease.fence}")
    notes = [hint(f"to do it: git lock break {retyped(given)} --reason 'why' --yes")] if dry_run else []
    return Answer(lines=lines, notes=notes, data=data)


_OPTIONS = (
    *CLAIM_FORMS,
    Option("-m", "--reason", kind=VALUE, metavar="TEXT", help="Why; the holder is told, and history keeps it."),
    Option("--force", help="Even though nothing proves that the holder is gone."),
)
_CODES = (
    exitcodes.DONE, exitcodes.USAGE, exitcodes.HELD, exitcodes.NO_SUCH_LEASE, exitcodes.REFUSED, exitcodes.UNCHECKED,
)  # fmt: skip
BREAK = Command(
    "break",
    "drop somebody's lease",
    answer_break,
    text=(
        "Shows what would be dropped; with --yes does it. Refuses while nothing proves that the holder is gone, unless "
        "--force. Ask first: git lock request."
    ),
    arguments="CLAIM...",
    options=(*_OPTIONS, Option("--yes", help="Do it.")),
    codes=_CODES,
    examples=("git lock break 'src/auth/*' --reason 'machine was reinstalled' --yes",),
)
STEAL = Command(
    "steal",
    "drop somebody's lease and take it",
    answer_steal,
    text="In one step, with a new fence; the former holder is told, and its next commit there is refused as overtaken.",
    arguments="CLAIM...",
    options=(*_OPTIONS, Option("--ttl", kind=VALUE, metavar="TIME", help="How long it lasts without renewal.")),
    codes=_CODES,
    examples=("git lock steal src/auth/login.py --reason 'holder crashed' --force",),
)
