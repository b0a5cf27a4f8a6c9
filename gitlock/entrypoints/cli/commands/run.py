"""``git lock run``: claim, run, renew, release."""

import os

from gitlock import jsontext
from gitlock.domain.claim import Granted
from gitlock.domain.duration import parse_duration, show_duration
from gitlock.domain.lease import Lease
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import claim_arguments, retyped, site_of, told
from gitlock.entrypoints.cli.granting import mark_lines, wish_of, worded
from gitlock.entrypoints.cli.options import CLAIM_FORMS, VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, warning, write
from gitlock.entrypoints.cli.waiting import catch, not_granted, wait_for, wanted_timeout
from gitlock.entrypoints.wording import title, visible
from gitlock.errors import GitlockError, Interrupted, UsageError
from gitlock.usecases.claim import ClaimOutcome, Wish, ask
from gitlock.usecases.covered import Covered
from gitlock.usecases.reading import Reading, read_claims
from gitlock.usecases.run import ENDED, HELD_TOO_LONG, LOST, NOT_STARTED, Hold, Ran, child_environ, run
from gitlock.usecases.wait import Stop, new_waiter_id
from gitlock.wiring.attendance import attend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site

LEAST_TTL = 5.0  # seconds: below that, a short pause of the machine would cost the lease


def answer(given: Given) -> Answer:
    """Runs the command under the lease. Once it has started, its own code is ours."""
    if not given.rest:
        raise UsageError("say what to run, after '--'", hint="git lock run deploy:staging -- ./deploy.sh")
    hold_text = given.text("max_hold")
    max_hold = parse_duration(hold_text, what="--max-hold") if hold_text is not None else None
    wanted_timeout(given)  # what makes no sense is said before anything is done
    site = site_of(given)
    reading = read_claims(claim_arguments(given), site.repository, site.policy, site.fold)
    wish = wish_of(given, site, reading, pid=os.getpid(), auto=True, apart=True)
    if wish.claim.ttl < LEAST_TTL:
        raise UsageError(f"the TTL must be at least {show_duration(LEAST_TTL)} here", id="bad-ttl")
    result = _Result(given.text("result"))
    stop = Stop()
    restore = catch(stop.ask)
    try:
        refused, outcome = _claim(given, site, reading, wish, stop)
        if refused is not None:
            result.write("refused", refused.code, None)
            return refused
        granted = outcome.answer
        assert isinstance(granted, Granted)
        attend(site)
        for line in [*told(site, outcome.beat, site.now(), outcome.notice), *map(warning, mark_lines(outcome))]:
            write(2, line)
        return _ended(given, granted.lease, _run(given, site, granted, outcome.token, max_hold, stop), result)
    except Interrupted as stopped:
        result.write("interrupted", exitcodes.SIGNALLED + stopped.number, None)
        raise
    except GitlockError as error:
        result.write("refused", exitcodes.code_of(error), None)
        raise
    finally:
        restore()


def _claim(
    given: Given, site: "Site", reading: Reading, wish: Wish, stop: Stop
) -> tuple[Answer | None, ClaimOutcome]:
    if given.flag("no_wait"):
        outcome = ask(site.store, wish)
        refused = None
    else:
        waited = wait_for(given, site, wish, stop)
        outcome = waited.outcome
        refused = not_granted(site, waited, retyped(given))
    if refused is None and not isinstance(outcome.answer, Granted):
        refused = worded(given, site, reading, outcome, Covered(None))
    return refused, outcome


def _run(
    given: Given, site: "Site", granted: Granted, token: str | None, max_hold: float | None, stop: Stop
) -> Ran:
    """Runs it, and gives the lease back however it ended; a failure leaves its mark for the next taker."""
    lease, keep = granted.lease, granted.already
    hold = Hold(site.store, lease, site.fold, site.facts)
    if stop.number is not None:
        hold.end(keep=keep)
        raise Interrupted(stop.number)
    export = given.flag("export_token")
    if export and token is None:
        write(2, warning(f"'{title(lease)}' was yours before, and its token is not known here: none is exported"))
    stays = given.text("on_lease_loss") == "continue"

    def lost(why: str) -> None:
        then = "the command goes on" if stays else "the command is told to end"
        write(2, warning(f"the lease on '{title(lease)}' is lost ({visible(why)}): {then}"))

    bell = site.store.bell(new_waiter_id() if keep else lease.id)
    try:
        ran = run(
            hold,
            given.rest,
            child_environ(site.environ, lease, site.agent.kind, token=token, export_token=export),
            bell,
            stop_on_loss=not stays,
            max_hold=max_hold,
            stdout=2 if given.flag("json") else None,
            lost=lost,
            pending=stop,
        )
    finally:
        bell.close()
    before = hold.loss
    try:
        hold.end(keep=keep)
        if hold.loss is not None and before is None and not stays:
            ran = ran.replace(why=LOST, fault=hold.loss)
        _mark(site, lease, ran, given.rest)
    except GitlockError as error:
        write(2, f"git-lock: the command has ended, but '{title(lease)}' could not be given back: {error.message}")
    return ran


def _mark(site: "Site", lease: Lease, ran: Ran, argv: list[str]) -> None:
    from gitlock.usecases.taint import clear_taint, leave_taint

    if ran.code == 0 and ran.why == ENDED:
        clear_taint(site.store, lease, site.fold)
    elif ran.code is not None and (ran.code != 0 or ran.why == HELD_TOO_LONG):
        leave_taint(site.store, lease, site.fold, argv, ran.code, ran.why)


def _ended(given: Given, lease: Lease, ran: Ran, result: "_Result") -> Answer:
    if ran.why == LOST:
        message = f"the lease on '{title(lease)}' was lost while the command ran ({visible(ran.fault)})"
        code = exitcodes.LOST
    elif ran.why == HELD_TOO_LONG:
        message = f"'{title(lease)}' was held for --max-hold, and the command was stopped"
        code = exitcodes.LOST
    elif ran.why == NOT_STARTED or ran.code is None:
        message, code = f"the command could not be started: {visible(ran.fault)}", exitcodes.NOT_STARTED
    else:
        result.write("child", ran.code, ran.code)
        if not given.flag("json"):
            if ran.signal is not None:
                _end_likewise(ran.signal)
            return Answer(ran.code)
        fault = envelope.error("child-failed", f"the command ended with {ran.code}") if ran.code else None
        return Answer(ran.code, data={"ours": False, "child_code": ran.code}, fault=fault)
    result.write(ran.why, code, ran.code)
    return Answer(code, fault=envelope.error(ran.why, message), data={"ours": True, "child_code": ran.code})


def _end_likewise(number: int) -> None:
    """Ctrl-C ended the command: so it ends us, or the script around us would go on as if nothing had been."""
    import signal

    if number == signal.SIGINT:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


class _Result:
    """``--result FILE``: tells our codes from the command's. Emptied at the start: an old one would mislead."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        if path is not None:
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644))
            except OSError as error:
                raise UsageError(f"can't write '{path}': {error.strerror}") from None

    def write(self, why: str, code: int, child: int | None) -> None:
        if self.path is None:
            return
        text = jsontext.dumps({"ours": why != "child", "why": why, "code": code, "child_code": child}) + "\n"
        try:
            fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            try:
                os.write(fd, text.encode())
            finally:
                os.close(fd)
        except OSError as error:
            write(2, f"git-lock: can't write '{visible(self.path)}': {error.strerror}")


COMMAND = Command(
    "run",
    "hold a lease while a command runs",
    answer,
    text=(
        "Waits (unless --no-wait), claims all or nothing, starts the command, renews, and gives the lease back when "
        "the command ends, however it ends. If the lease is lost meanwhile, the command and all that it started is "
        "told to end (TERM), and killed ten seconds later. The command's own exit code is passed on. With --json, its "
        "standard output goes to standard error."
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
        Option("--result", kind=VALUE, metavar="FILE", help="Write whether the exit code is ours or the command's."),
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
