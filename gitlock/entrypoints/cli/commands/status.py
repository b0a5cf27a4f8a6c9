"""``git lock status``."""

from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import claim_arguments, site_of, told
from gitlock.entrypoints.cli.options import CLAIM_FORMS, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.wording import held_by, process_words, title, visible
from gitlock.errors import StoreError, UsageError
from gitlock.usecases.reading import read_wanted
from gitlock.usecases.renew import complain, pulse
from gitlock.usecases.report import FREE, HELD, standing_of

CODES = {HELD: exitcodes.DONE, FREE: exitcodes.STATUS_FREE, "expired": exitcodes.STATUS_EXPIRED}


def answer(given: Given) -> Answer:
    """One claim: held, free, expired, or that it can't be told."""
    arguments = claim_arguments(given)
    if not arguments:
        raise UsageError("say whose status: git lock status CLAIM", hint="git lock list")
    site = site_of(given)
    wanted = read_wanted(arguments, site.repository, site.policy, site.fold)
    try:
        found = pulse(site.store, site.agent.id, site.seat_of)
    except StoreError as error:
        if not given.flag("exit_code"):
            raise
        fault = envelope.error(error.id, error.message, error.hint)
        return Answer(exitcodes.STATUS_CORRUPT, fault=fault)
    now = found.snapshot.now
    results = standing_of(wanted, found.snapshot, site.facts, site.fold, site.policy, site.agent.kind)
    complain(tuple(want for want, result in zip(wanted, results, strict=True) if not result.leases))
    lines = []
    for result in results:
        if result.state == FREE:
            lines.append(f"{visible(result.claim)}: free")
        for one in result.leases:
            how = "held" if result.state == HELD else "expired, and taken by nobody;"
            lines.append(f"{visible(result.claim)}: {how} by {held_by(one.lease, now, one.state)}")
            process = process_words(one.lease, one.liveness, one.state)
            lines.append(f"  as '{title(one.lease)}', fence {one.lease.fence}{process}")
        lines += [f"  belongs to the key {rule.name}" for rule in result.keys if rule.name != result.claim]
    data = {"results": [envelope.result_json(result, now, None) for result in results]}
    code = CODES[results[0].state] if given.flag("exit_code") else exitcodes.DONE
    failed = envelope.error(results[0].state, f"{visible(results[0].claim)}: {results[0].state}") if code else None
    notes = told(site, found.beat, now, found.snapshot.notice)
    # In words the answer has said it already; in JSON a code that is not 0 comes with an error.
    return Answer(code, lines=lines, notes=notes, data=data, fault=failed if given.flag("json") else None)


COMMAND = Command(
    "status",
    "one claim: held, free, or expired",
    answer,
    text=(
        "Says who holds a claim. It may be named by the text it was claimed with, by what it covers, or by a lease's "
        "id."
    ),
    arguments="CLAIM...",
    options=(
        *CLAIM_FORMS,
        Option("--exit-code", help="Answer in the exit code: 0 held, 3 free, 4 expired, 5 corrupt."),
    ),
    codes=(
        exitcodes.DONE, exitcodes.USAGE, exitcodes.STATUS_FREE, exitcodes.STATUS_EXPIRED, exitcodes.STATUS_CORRUPT,
        exitcodes.UNCHECKED,
    ),
    examples=("git lock status 'src/auth/*'", "git lock status deploy:staging --exit-code"),
)  # fmt: skip
