"""``git lock run``: claim, run, renew, release."""

import os

from gitlock import jsontext
from gitlock.domain.claim import Granted
from gitlock.domain.duration import parse_duration, show_duration
from gitlock.domain.holding import Wanted
from gitlock.domain.lease import Lease
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import claim_arguments, retyped, site_of, told
from gitlock.entrypoints.cli.granting import wish_of, worded
from gitlock.entrypoints.cli.options import CLAIM_FORMS, VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, write
from gitlock.entrypoints.cli.waiting import not_granted, wait_for
from gitlock.entrypoints.wording import taint_line, title, visible
from gitlock.errors import GitlockError, UsageError
from gitlock.usecases.claim import ClaimOutcome, Wish, ask
from gitlock.usecases.covered import Covered
from gitlock.usecases.reading import Reading, read_claims
from gitlock.usecases.release import release
from gitlock.usecases.run import ENDED, HELD_TOO_LONG, LOST, Hold, Ran, child_environ, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site

LEAST_TTL = 5.0  # seconds: below that, a short pause of the machine would cost the lease


def answer(given: Given) -> Answer:
    """Runs the command under the lease. Once it has started, its own code is ours."""
    if not given.rest:
        raise UsageError("say what to run, after '--'", hint="git lock run deploy:staging -- ./deploy.sh")
    policy_on_loss = given.text("on_lease_loss") or "terminate"
    hold_text = given.text("max_hold")
    max_hold = parse_duration(hold_text, what="--max-hold") if hold_text is not None else None
    site = site_of(given)
    reading = read_claims(claim_arguments(given), site.repository, site.policy, site.fold)
    wish = wish_of(given, site, reading, pid=os.getpid(), auto=True)
    if wish.claim.ttl < LEAST_TTL:
        raise UsageError(f"the TTL must be at least {show_duration(LEAST_TTL)} here", id="bad-ttl")
    refused, outcome = _claim(given, site, reading, wish)
    if refused is not None:
        _record(given, "refused", refused.code, None)
        return refused
    granted = outcome.answer
    assert isinstance(granted, Granted)
    for line in told(site, outcome.beat, site.now(), outcome.notice):
        write(2, line)
    for taint in _taints(site, granted.lease):
        write(2, f"warning: {taint}")
    environ = child_environ(site.environ, granted.lease, token=outcome.token, export_token=given.flag("export_token"))
    hold = Hold(site.store, granted.lease, site.fold)
    ran = run(hold, given.rest, environ, stop_on_loss=policy_on_loss == "terminate", max_hold=max_hold)
    _finish(site, granted, hold, ran, given.rest)
    return _ended(given, granted.lease, ran)


def _claim(
    given: Given, site: "Site", reading: Reading, wish: Wish
) -> tuple[Answer | None, ClaimOutcome]:
    if given.flag("no_wait"):
        outcome = ask(site.store, wish)
        refused = None
    else:
        waited = wait_for(given, site, wish)
        outcome = waited.outcome
        refused = not_granted(site, waited, retyped(given), told(site, outcome.beat, site.now(), outcome.notice))
    if refused is None and not isinstance(outcome.answer, Granted):
        refused = worded(given, site, reading, outcome, Covered(None))
    return refused, outcome


def _taints(site: "Site", lease: Lease) -> list[str]:
    from gitlock.usecases.taint import marks_on

    return [taint_line(mark.taint, mark.ago) for mark in marks_on(site.store, lease, site.fold)]


def _finish(site: "Site", granted: Granted, hold: Hold, ran: Ran, argv: list[str]) -> None:
    """Gives the lease back, however the command ended; a failure leaves its mark for the next taker."""
    from gitlock.usecases.taint import clear_taint, leave_taint

    lease = granted.lease
    try:
        if ran.why == ENDED and ran.code == 0:
            clear_taint(site.store, lease, site.fold)
        else:
            leave_taint(site.store, lease, argv, ran.code, ran.why)
        if not granted.already and ran.why != LOST and not hold.released:
            wanted = (Wanted(lease.id, frozenset((lease.id,))),)
            release(site.store, lease.agent, wanted, site.fold, site.facts)
    except GitlockError as error:
        write(2, f"git-lock: the command has ended, but '{title(lease)}' could not be given back: {error.message}")


def _ended(given: Given, lease: Lease, ran: Ran) -> Answer:
    if ran.why == LOST:
        message = f"the lease on '{title(lease)}' was lost ({visible(ran.fault)}), and the command was stopped"
        code = exitcodes.LOST
    elif ran.why == HELD_TOO_LONG:
        message = f"'{title(lease)}' was held for --max-hold, and the command was stopped"
        code = exitcodes.LOST
    elif ran.code is None:
        message, code = f"the command could not be started: {visible(ran.fault)}", exitcodes.NOT_STARTED
    else:
        _record(given, "child", ran.code, ran.code)
        if not given.flag("json"):
            return Answer(ran.code)
        fault = envelope.error("child-failed", f"the command ended with {ran.code}") if ran.code else None
        return Answer(ran.code, data={"ours": False, "child_code": ran.code}, fault=fault)
    _record(given, ran.why, code, ran.code)
    return Answer(code, fault=envelope.error(ran.why, message), data={"ours": True, "child_code": ran.code})


def _record(given: Given, why: str, code: int, child: int | None) -> None:
    """``--result FILE``: tells our codes from the command's."""
    path = given.text("result")
    if path is None:
        return
    text = jsontext.dumps({"ours": why != "child", "why": why, "code": code, "child_code": child}) + "\n"
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)
    except OSError as error:
        write(2, f"git-lock: can't write '{visible(path)}': {error.strerror}")


COMMAND = Command(
    "run",
    "hold a lease while a command runs",
    answer,
    text=(
        "Waits (unless --no-wait), claims all or nothing, starts the command, renews, and gives the lease back when the "
        "command ends, however it ends. If the lease is lost meanwhile, the command and all that it started is told to "
        "end (TERM), and killed ten seconds later. The command's own exit code is passed on."
    ),
    arguments="CLAIM... -- CMD...",
    rest=True,
    options=(
        *CLAIM_FORMS,
        Option("--shared", help="Many may hold it; nobody may take it exclusively."),
        Option("--no-wait", help="Refuse at once if it is held."),
        Option("--timeout", kind=VALUE, metavar="TIME", help="Wait at most that long."),
        Option("--ttl", kind=VALUE, metavar="TIME", help="How long it lasts without renewal (15m; at least 5s)."),
        Option("-m", "--reason", kind=VALUE, metavar="TEXT", help="Why; everybody sees it."),
        Option(
            "--on-lease-loss", kind=VALUE, metavar="WHAT", help="terminate (the default) or continue.",
            choices=("terminate", "continue"), default="terminate",
        ),
        Option("--max-hold", kind=VALUE, metavar="TIME", help="Stop the command after that long."),
        Option("--export-token", help="Give the command the lease's token, in GITLOCK_TOKEN."),
        Option("--result", kind=VALUE, metavar="FILE", help="Write there whether the exit code is ours or the command's."),
    ),
    codes=(
        exitcodes.DONE, exitcodes.USAGE, exitcodes.HELD, exitcodes.TIMED_OUT, exitcodes.LOST, exitcodes.DEADLOCK,
        exitcodes.REFUSED, exitcodes.UNCHECKED, exitcodes.NOT_STARTED, exitcodes.SIGNALLED,
    ),
    examples=(
        "git lock run deploy:staging 'deploy/**' -- ./deploy.sh",
        "git lock run --timeout 10m --max-hold 25m schema:main -- make migrate",
    ),
)  # fmt: skip
