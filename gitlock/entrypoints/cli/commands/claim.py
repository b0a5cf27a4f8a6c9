"""``git lock claim``."""

import os

from gitlock.domain.claim import Refused
from gitlock.domain.footprint import Footprint
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import claim_arguments, retyped, site_of
from gitlock.entrypoints.cli.granting import save_token, wish_of, worded
from gitlock.entrypoints.cli.options import CLAIM_FORMS, VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer
from gitlock.errors import UsageError
from gitlock.usecases.claim import ClaimOutcome, Wish, ask
from gitlock.usecases.covered import finish_counting, start_counting
from gitlock.usecases.reading import STAGED, Reading, read_claims
from gitlock.wiring.attendance import attend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site


def answer(given: Given) -> Answer:
    """Takes the lease whole, waits for it, or lists everything that stands in the way."""
    ways = [given.flag("wait") or given.text("timeout") is not None, given.flag("ticket"), given.flag("no_wait")]
    if sum(ways) > 1 or (sum(ways) and given.text("resume") is not None):
        raise UsageError("--wait, --ticket, --resume and --no-wait exclude one another")
    if ways[0] and given.flag("dry_run"):
        raise UsageError("--dry-run does not wait: leave --wait out")
    if ways[0]:
        from gitlock.entrypoints.cli.waiting import wanted_timeout

        wanted_timeout(given)  # what makes no sense is said before anything is done
    if given.text("resume") is not None:
        from gitlock.entrypoints.cli.tickets import resume

        return resume(given)
    site = site_of(given)
    reading = _reading(given, site)
    if not reading.include and not reading.names:
        return _nothing_left(dry_run=given.flag("dry_run"))
    if given.flag("staged"):
        given = _as_if_named(given, site, reading)
    bound = given.flag("fresh") or given.flag("until_merged")
    if bound:
        from gitlock.entrypoints.cli.basis import before_claim

        given, stale = before_claim(given, site, reading)
        if stale is not None:
            return stale
    wish = wish_of(given, site, reading)
    if ways[0] or ways[1]:
        ended, outcome = _in_turn(given, site, wish)
        if ended is not None:
            return ended
        counting = start_counting(site.repository, reading.include)  # not before a wait, which may last for hours
    else:
        counting = start_counting(site.repository, reading.include)
        outcome = _at_once(given, site, wish)
    covered = finish_counting(counting, Footprint.of(reading.include, reading.exclude), site.fold)
    token_file = given.text("token_file")
    if outcome.token is not None and token_file is not None:
        save_token(token_file, outcome.token)
    attend(site)
    if bound:
        from gitlock.entrypoints.cli.basis import after_claim

        outcome, stale = after_claim(given, site, reading, outcome, waited=ways[0])
        if stale is not None:
            return stale
    if outcome.token is not None and site.policy.publish == "auto":
        from gitlock.wiring.background import publish_soon

        publish_soon(site)
    return worded(given, site, reading, outcome, covered)


def _reading(given: Given, site: "Site") -> Reading:
    """What is claimed; empty where --staged finds that all of it is held already."""
    arguments = claim_arguments(given)
    if not given.flag("staged"):
        return read_claims(arguments, site.repository, site.policy, site.fold)
    from gitlock.usecases.staging import staged_unheld

    site.repository.require_top()
    taken = staged_unheld(site.store, site.repository.git, site.agent.id, site.fold)
    if arguments:
        taken = (*read_claims(arguments, site.repository, site.policy, site.fold).taken, *taken)
    return Reading(taken)


def _as_if_named(given: Given, site: "Site", reading: Reading) -> Given:
    """What was typed with the staged paths named one by one: hints repeat it, and other commands know no --staged."""
    below = site.repository.prefix or "."
    paths = [os.path.relpath(one.text, below) for one in reading.taken if one.kind == STAGED]
    return given.replace(values={**given.values, "staged": False, "path": [*given.many("path"), *paths]})


def _nothing_left(*, dry_run: bool) -> Answer:
    data: dict[str, object] = {
        "lease": None,
        "token": None,
        "warnings": [],
        "already": True,
        "taken_for": [],
        "covers_files": 0,
        "dry_run": dry_run,
    }
    return Answer(lines=["already yours: everything that is staged"], data=data)


def _at_once(given: Given, site: "Site", wish: Wish) -> ClaimOutcome:
    outcome = ask(site.store, wish, dry_run=given.flag("dry_run"))
    if isinstance(outcome.answer, Refused) and site.policy.grant_after is not None and not given.flag("dry_run"):
        from gitlock.usecases.negotiate import grant_if_idle

        if grant_if_idle(site.store, site.agent, wish, site.policy.grant_after):
            return ask(site.store, wish)
    return outcome


def _in_turn(given: Given, site: "Site", wish: Wish) -> tuple[Answer | None, ClaimOutcome]:
    """Waits, or takes a ticket. The answer is set where that did not end in a lease."""
    if given.flag("ticket"):
        from gitlock.entrypoints.cli.tickets import draw

        return draw(site, wish)
    from gitlock.entrypoints.cli.waiting import not_granted, wait_for

    waited = wait_for(given, site, wish)
    return not_granted(site, waited, retyped(given)), waited.outcome


COMMAND = Command(
    "claim",
    "take a lease on paths, patterns or keys",
    answer,
    text=(
        "Takes one lease on everything that is named, whole or not at all. A CLAIM is a path, a pattern in quotes "
        "('src/auth/*'; '!src/auth/gen/**' keeps something out), or a key such as deploy:staging. "
        "What an own lease covers already is renewed."
    ),
    arguments="CLAIM...",
    options=(
        *CLAIM_FORMS,
        Option("--staged", help="Claim every staged path that is not yours yet."),
        Option("--shared", help="Many may hold it; nobody may take it exclusively."),
        Option("--intent", help="Only announce: it is shown, it warns, it never blocks."),
        Option("--ttl", kind=VALUE, metavar="TIME", help="How long it lasts without renewal: 90s, 20m, 2h, 1d."),
        Option("-m", "--reason", kind=VALUE, metavar="TEXT", help="Why; everybody sees it."),
        Option("--wait", help="Wait for it, first come, first served."),
        Option("--timeout", kind=VALUE, metavar="TIME", help="Wait, but at most that long."),
        Option("--no-wait", help="Refuse at once if it is held (the default)."),
        Option("--ticket", help="Do not block: take a place in the queue, and answer 21 with its ticket."),
        Option("--resume", kind=VALUE, metavar="TICKET", help="Take the offer of a ticket, or hear its place."),
        Option(
            "--pid",
            kind=VALUE,
            metavar="PID",
            help="A process that lives as long as the work; its death frees the lease.",
        ),
        Option(
            "--token-file", kind=VALUE, metavar="FILE", help="Save the secret that proves the lease in FILE (0600)."
        ),
        Option("--print-token", help="Print only that secret."),
        Option("--same-agent", help="You are the same agent that is at work on another host."),
        Option("--fresh", help="Refuse if what you will be merged into changed these paths since your base (fetches)."),
        Option("--until-merged", help="Hold it for the branch that is checked out, until that is merged or gone."),
        Option("-n", "--dry-run", help="Change nothing; answer as the real call would."),
    ),
    codes=(
        exitcodes.DONE,
        exitcodes.USAGE,
        exitcodes.HELD,
        exitcodes.TIMED_OUT,
        exitcodes.NOT_YOURS,
        exitcodes.NO_SUCH_LEASE,
        exitcodes.DEADLOCK,
        exitcodes.REFUSED,
        exitcodes.STALE_BASE,
        exitcodes.UNCHECKED,
        exitcodes.QUEUED,
        exitcodes.SIGNALLED,
    ),
    examples=(
        "git lock claim 'src/auth/*' -m 'new login'",
        "git lock claim --staged",
        "git lock claim deploy:staging --ttl 20m",
        "git lock claim 'src/**' '!src/generated/**' --timeout 10m",
    ),
)
