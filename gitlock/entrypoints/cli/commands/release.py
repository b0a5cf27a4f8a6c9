"""``git lock release``."""

from gitlock.domain.holding import Released
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import claim_arguments, site_of, told
from gitlock.entrypoints.cli.options import CLAIM_FORMS, VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, warning, write
from gitlock.entrypoints.wording import ended_line, title
from gitlock.errors import UsageError
from gitlock.usecases.reading import read_wanted
from gitlock.usecases.release import release
from gitlock.wiring.attendance import attend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site


def answer(given: Given) -> Answer:
    """Gives back what is named."""
    arguments = claim_arguments(given)
    if given.flag("clear_taint"):
        return _clear_taint(given)
    if arguments and given.flag("all"):
        raise UsageError("--all gives back everything: name nothing beside it")
    if not arguments and not given.flag("all"):
        raise UsageError("say what to release, or --all for everything that you hold", hint="git lock mine")
    site = site_of(given)
    wanted = read_wanted(arguments, site.repository, site.policy, site.fold)
    outcome = release(
        site.store, site.agent.id, wanted, site.fold, site.facts, token=_token(given, site), seat_of=site.seat_of
    )
    attend(site)
    if (outcome.released or outcome.narrowed) and site.policy.publish == "auto":
        from gitlock.wiring.background import publish_soon

        publish_soon(site)
    return _worded(site, outcome)


def _clear_taint(given: Given) -> Answer:
    """What a failed command left is mended: the next taker need not be told."""
    from gitlock.usecases.taint import clear_named

    if not claim_arguments(given):
        raise UsageError("say what is mended: git lock release --clear-taint CLAIM")
    site = site_of(given)
    wanted = read_wanted(claim_arguments(given), site.repository, site.policy, site.fold)
    count = clear_named(site.store, site.agent.id, wanted, site.fold)
    marks = f"{count} mark{'' if count == 1 else 's'} of failed commands cleared"
    return Answer(lines=[marks if count else "there was no mark"], data={"leases": [], "narrowed": []})


def _token(given: Given, site: "Site") -> str | None:
    path = given.text("token_file")
    typed = given.text("token")
    if typed is not None:
        write(2, warning("a token on the command line can be seen by every user of this machine: use --token-file"))
        return typed
    if path is None:
        return site.environ.get("GITLOCK_TOKEN") or None
    try:
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
            token = file.read(4096).decode("ascii", "replace").strip()
    except OSError as error:
        raise UsageError(f"can't read the token from '{path}': {error.strerror}", id="no-token") from None
    if not token:
        raise UsageError(f"there is no token in '{path}'", id="no-token")
    return token


def _worded(site: "Site", outcome: Released) -> Answer:
    now = site.now()

    def data() -> object:
        from gitlock.entrypoints import envelope

        return {
            "leases": [envelope.lease_json(lease, now, "released", "unknown") for lease in outcome.released],
            "narrowed": [envelope.lease_json(lease, now, "live", "unknown") for lease in outcome.narrowed],
        }

    lines = [f"released '{title(lease)}' (fence {lease.fence})" for lease in outcome.released]
    lines += [f"narrowed: you still hold '{title(lease)}' (fence {lease.fence})" for lease in outcome.narrowed]
    notes = [f"git-lock: {ended_line(ended, now)}" for ended in outcome.ended]
    others = told(site, outcome.beat, now, said=outcome.ended) if outcome.beat is not None else []
    if (outcome.released or outcome.narrowed) and not (outcome.foreign or outcome.missing or outcome.ended):
        return Answer(lines=lines, notes=others, data=data)
    from gitlock.entrypoints import envelope
    from gitlock.entrypoints.outcomes import not_released

    code, name, message = not_released(outcome, site.agent.id, now)
    if outcome.ended and not (outcome.foreign or outcome.missing):
        notes = notes[1:]  # the first of them is the message
    next_command = "git lock whoami" if outcome.foreign else "git lock mine"
    fault = envelope.error(name, message, next_command)
    return Answer(code, lines=lines, notes=[*notes, *others], data=data, fault=fault)


COMMAND = Command(
    "release",
    "give leases back, whole or in part",
    answer,
    text=(
        "Gives back what is named: a lease as it was claimed, or a part of one (the rest is kept). What is gone, was "
        "renamed, or never existed can still be named as it was claimed."
    ),
    arguments="[CLAIM...]",
    options=(
        *CLAIM_FORMS,
        Option("--all", help="Everything that you hold."),
        Option(
            "--token-file", kind=VALUE, metavar="FILE",
            help="The secret of a lease that is not in your name ('-' reads it from standard input).",
        ),
        Option(
            "--token", kind=VALUE, metavar="TOKEN", help="The same, for old scripts: visible to others, so it warns."
        ),
        Option("--clear-taint", help="Keep the leases; clear the mark that a failed `run` left on what is named."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.NOT_YOURS, exitcodes.NO_SUCH_LEASE, exitcodes.UNCHECKED),
    examples=("git lock release 'src/auth/*'", "git lock release src/auth/login.py", "git lock release --all"),
)  # fmt: skip
