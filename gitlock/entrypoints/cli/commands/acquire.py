"""``git lock acquire`` (``lock``): a claim that waits unless told otherwise, and prints only the token."""

from gitlock.domain.claim import Granted
from gitlock.domain.footprint import Footprint
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import claim_arguments, retyped, site_of
from gitlock.entrypoints.cli.granting import save_token, wish_of, worded
from gitlock.entrypoints.cli.options import CLAIM_FORMS, VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.cli.waiting import not_granted, wait_for, wanted_timeout
from gitlock.usecases.claim import ask
from gitlock.usecases.covered import finish_counting, start_counting
from gitlock.usecases.reading import read_claims


def answer(given: Given) -> Answer:
    """As agentmutex's: waits, then prints the token and nothing else."""
    wanted_timeout(given)  # what makes no sense is said before anything is done
    site = site_of(given)
    reading = read_claims(claim_arguments(given), site.repository, site.policy, site.fold)
    # Of a person's scripts each stands for itself, as with agentmutex; an agent is one, wherever it speaks.
    wish = wish_of(given, site, reading, auto=True, apart=site.agent.source in ("user.email", "host"))
    if given.flag("no_wait"):
        outcome = ask(site.store, wish)
        ended = None
    else:
        waited = wait_for(given, site, wish)
        outcome = waited.outcome
        ended = not_granted(site, waited, retyped(given))
    if ended is not None:
        return ended
    counting = start_counting(site.repository, reading.include)
    covered = finish_counting(counting, Footprint.of(reading.include, reading.exclude), site.fold)
    token_file = given.text("token_file")
    if outcome.token is not None and token_file is not None:
        save_token(token_file, outcome.token)
    full = worded(given, site, reading, outcome, covered)
    if not isinstance(outcome.answer, Granted):
        return full
    return full.replace(lines=[outcome.token] if outcome.token is not None and token_file is None else [])


COMMAND = Command(
    "acquire",
    "claim, wait for it, and print only the token",
    answer,
    text=(
        "For scripts written for agentmutex: waits unless --no-wait, and prints the token. What an agent holds already "
        "is renewed, and prints nothing: its token was printed when it was made. A person's scripts wait for one "
        "another."
    ),
    arguments="CLAIM...",
    options=(
        *CLAIM_FORMS,
        Option("--shared", help="Many may hold it; nobody may take it exclusively."),
        Option("--ttl", kind=VALUE, metavar="TIME", help="How long it lasts without renewal (15m)."),
        Option("-m", "--reason", kind=VALUE, metavar="TEXT", help="Why; everybody sees it."),
        Option("--no-wait", help="Refuse at once if it is held."),
        Option("--timeout", kind=VALUE, metavar="TIME", help="Wait at most that long."),
        Option("--pid", kind=VALUE, metavar="PID", help="A process that lives as long as the work."),
        Option("--token-file", kind=VALUE, metavar="FILE", help="Save the token in FILE (0600) instead."),
    ),
    codes=(
        exitcodes.DONE, exitcodes.USAGE, exitcodes.HELD, exitcodes.TIMED_OUT, exitcodes.DEADLOCK, exitcodes.REFUSED,
        exitcodes.UNCHECKED, exitcodes.SIGNALLED,
    ),
    examples=("TOKEN=$(git lock acquire deploy:staging --timeout 5m)",),
)  # fmt: skip
