"""``git lock run``: claim, run, renew, release."""

import os

from gitlock import jsontext
from gitlock.domain.claim import Granted
from gitlock.domain.duration import parse_duration, show_duration
from gitlock.domain.lease import Lease
from gitlock.domain.quoting import word
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import claim_arguments, retyped, site_of, told
from gitlock.entrypoints.cli.granting import mark_lines, wish_of, worded
from gitlock.entrypoints.cli.options import CLAIM_FORMS, VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, warning, write
from gitlock.entrypoints.cli.waiting import catch, not_granted, wait_for, wanted_timeout
from gitlock.entrypoints.wording import title, visible
from gitlock.errors import GitlockError, Interrupted, RepositoryError, UsageError
from gitlock.usecases.claim import Wish, ask
from gitlock.usecases.covered import Covered
from gitlock.usecases.reading import Reading, read_claims
from gitlock.usecases.run import (
    ENDED,
    HELD_TOO_LONG,
    LOST,
    NOT_STARTED,
    Hold,
    LoneBell,
    NoHold,
    Ran,
    child_environ,
    run,
)
from gitlock.usecases.wait import Stop, new_waiter_id
from gitlock.wiring.attendance import attend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.entrypoints.cli.present import Presence
    from gitlock.wiring.site import Site

    _Under = tuple[Granted, str | None]  # the lease that it runs under, and its token

LEAST_TTL = 5.0  # seconds: below that, a short pause of the machine would cost the lease


def answer(given: Given) -> Answer:
    """Runs the command under the lease. Once it has started, its own code is ours."""
    if not given.rest:
        example = "--presence -- aider" if given.flag("presence") else "deploy:staging -- ./deploy.sh"
        raise UsageError("say what to run, after '--'", hint=f"git lock run {example}")
    hold_text = given.text("max_hold")
    max_hold = parse_duration(hold_text, what="--max-hold") if hold_text is not None else None
    wanted_timeout(given)  # what makes no sense is said before anything is done
    site = _site(given)
    wished = _wished(given, site) if site is not None else None
    presence = _presence(site)
    result = _Result(given.text("result"))
    stop = Stop()
    restore = catch(stop.ask)
    try:
        under: _Under | None = None
        if site is not None and wished is not None:
            refused, under = _claim(given, site, *wished, stop)
            if refused is not None:
                result.write("refused", refused.code, None)
                return refused
        ran = _run(given, site, under, max_hold, stop, presence)
        return _ended(given, under, ran, result)
    except Interrupted as stopped:
        result.write("interrupted", exitcodes.SIGNALLED + stopped.number, None)
        raise
    except GitlockError as error:
        result.write("refused", exitcodes.code_of(error), None)
        raise
    finally:
        restore()
        if presence is not None:
            presence.close()


def _site(given: Given) -> "Site | None":
    """Where we stand, as whoever asks; with ``--presence`` as the program itself. None outside of every repository,
    where nothing is asked of one: whoever always starts a program so starts it there, too."""
    if not given.flag("presence"):
        return site_of(given)
    from gitlock.wiring.running import Runner

    claims = claim_arguments(given)
    if not claims:
        _require_no_claim_options(given)
    try:
        site = site_of(given)
    except RepositoryError as error:
        if claims or error.id != "not-a-repository":
            raise
        if not given.flag("quiet"):
            write(2, f"git-lock: no repository here: '{visible(given.rest[0], 200)}' just runs")
        return None
    return Runner(site, given.rest[0], is_person="human" in (given.text("kind"), site.environ.get("GITLOCK_KIND")))


def _presence(site: "Site | None") -> "Presence | None":
    from gitlock.wiring.running import Runner

    if not isinstance(site, Runner):
        return None
    from gitlock.entrypoints.cli.present import Presence

    return Presence(site)


def _require_no_claim_options(given: Given) -> None:
    """What says something about a claim is a mistake where there is none."""
    for option in ("shared", "no_wait", "timeout", "ttl", "reason", "export_token"):
        if given.values.get(option):
            name = option.replace("_", "-")
            raise UsageError(
                f"--{name} says something about a claim, and nothing is claimed",
                hint=f"git lock run --presence CLAIM --{name} ... -- {word(given.rest[0])}",
            )


def _wished(given: Given, site: "Site") -> tuple[Reading, Wish] | None:
    """What is to be claimed; None where nothing has to be, and nothing is."""
    claims = claim_arguments(given)
    if given.flag("presence") and not claims:
        return None
    reading = read_claims(claims, site.repository, site.policy, site.fold)
    wish = wish_of(given, site, reading, pid=os.getpid(), auto=True, apart=True)
    if wish.claim.ttl < LEAST_TTL:
        raise UsageError(f"the TTL must be at least {show_duration(LEAST_TTL)} here", id="bad-ttl")
    return reading, wish


def _claim(
    given: Given, site: "Site", reading: Reading, wish: Wish, stop: Stop
) -> "tuple[Answer | None, _Under | None]":
    if given.flag("no_wait"):
        outcome = ask(site.store, wish)
        refused = None
    else:
        waited = wait_for(given, site, wish, stop)
        outcome = waited.outcome
        refused = not_granted(site, waited, retyped(given))
    granted = outcome.answer
    if refused is not None or not isinstance(granted, Granted):
        return refused or worded(given, site, reading, outcome, Covered(None)), None
    attend(site)
    for line in [*told(site, outcome.beat, site.now(), outcome.notice), *map(warning, mark_lines(outcome))]:
        write(2, line)
    return None, (granted, outcome.token)


def _run(
    given: Given,
    site: "Site | None",
    under: "_Under | None",
    max_hold: float | None,
    stop: Stop,
    presence: "Presence | None",
) -> Ran:
    """Runs it, and gives everything back however it ended; a failure leaves its mark for the next taker."""
    lease = under[0].lease if under is not None else None
    keep = under is not None and under[0].already
    hold = NoHold() if lease is None or site is None else Hold(site.store, lease, site.fold, site.facts)
    if stop.number is not None:
        hold.end(keep=keep)
        raise Interrupted(stop.number)
    stays = given.text("on_lease_loss") == "continue"

    def lost(why: str) -> None:
        then = "the command goes on" if stays else "the command is told to end"
        write(2, warning(f"the lease on '{title(lease) if lease else '?'}' is lost ({visible(why)}): {then}"))

    if presence is not None:
        presence.begin()
    name = lease.id if lease is not None and not keep else new_waiter_id()
    bell = LoneBell() if site is None else site.store.bell(name)
    try:
        ran = run(
            hold,
            given.rest,
            _environ(given, site, under),
            bell,
            stop_on_loss=not stays,
            max_hold=max_hold,
            stdout=2 if given.flag("json") else None,
            lost=lost,
            pending=stop,
            started=presence.started if presence is not None else None,
            eyes=presence.eyes if presence is not None else None,
        )
    finally:
        bell.close()
    before = hold.loss
    try:
        hold.end(keep=keep or presence is not None)
        if presence is not None:
            presence.end(lease if not keep and hold.is_ours() else None)
        if hold.loss is not None and before is None and not stays:
            ran = ran.replace(why=LOST, fault=hold.loss)
        if lease is not None and site is not None:
            _mark(site, lease, ran, given.rest)
    except GitlockError as error:
        what = f"'{title(lease)}'" if lease is not None else "what it held"
        write(2, f"git-lock: the command has ended, but {what} could not be given back: {error.message}")
    return ran


def _environ(given: Given, site: "Site | None", under: "_Under | None") -> "Mapping[str, str]":
    """What the command sees."""
    if site is None:
        from gitlock.wiring.running import environ_of_nobody

        return environ_of_nobody()
    lease, token = (under[0].lease, under[1]) if under is not None else (None, None)
    export = given.flag("export_token")
    if export and token is None and lease is not None:
        write(2, warning(f"'{title(lease)}' was yours before, and its token is not known here: none is exported"))
    return child_environ(site.environ, lease, site.agent.id, site.agent.kind, token=token if export else None)


def _mark(site: "Site", lease: Lease, ran: Ran, argv: list[str]) -> None:
    from gitlock.usecases.taint import clear_taint, leave_taint

    if ran.code == 0 and ran.why == ENDED:
        clear_taint(site.store, lease, site.fold)
    elif ran.code is not None and (ran.code != 0 or ran.why == HELD_TOO_LONG):
        leave_taint(site.store, lease, site.fold, argv, ran.code, ran.why)


def _ended(given: Given, under: "_Under | None", ran: Ran, result: "_Result") -> Answer:
    held = f"'{title(under[0].lease)}'" if under is not None else ""
    if ran.why == LOST:
        message = f"the lease on {held} was lost while the command ran ({visible(ran.fault)})"
        code = exitcodes.LOST
    elif ran.why == HELD_TOO_LONG:
        message = f"{held + ' was held' if held else 'the command ran'} for --max-hold, and the command was stopped"
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
        "standard output goes to standard error.\n\n"
        "With --presence a program without hooks is a session of its own, named after it, and needs no claim: all "
        "see it at work (git lock agents). What it changes in this worktree is claimed for it where it is free, and "
        "warned about where another holds it. At its end what it took goes back, but for paths that are still changed."
    ),
    arguments="[CLAIM]... -- CMD...",
    rest=True,
    options=(
        *CLAIM_FORMS,
        Option("--presence", help="Show the command as a session, and watch what it changes."),
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
        "git lock run --presence -- aider",
    ),
)  # fmt: skip
