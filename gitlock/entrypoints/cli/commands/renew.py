"""``git lock renew``."""

from gitlock.domain.duration import parse_duration, show_duration
from gitlock.domain.lease import TTL_LIMIT
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import claim_arguments, site_of, told
from gitlock.entrypoints.cli.options import CLAIM_FORMS, VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.wording import clock, ended_line, held_by, title, visible
from gitlock.usecases.reading import read_wanted
from gitlock.usecases.renew import renew
from gitlock.wiring.attendance import attend


def answer(given: Given) -> Answer:
    """Extends what is named, or everything."""
    text = given.text("ttl")
    ttl = parse_duration(text, limit=TTL_LIMIT, what="TTL") if text is not None else None
    site = site_of(given)
    wanted = read_wanted(claim_arguments(given), site.repository, site.policy, site.fold)
    outcome = renew(site.store, site.agent.id, wanted, ttl, site.fold, site.seat_of)
    attend(site, acts=False)
    now = site.now()

    def data() -> object:
        from gitlock.entrypoints import envelope

        shapes = [envelope.lease_json(lease, now, "live", site.facts.liveness(lease)) for lease in outcome.renewed]
        return {"lease": shapes[0] if shapes else None, "leases": shapes, "warnings": []}

    lines = [
        f"renewed '{title(lease)}' until {clock(now.wall + lease.left(now), now.wall)} "
        f"({show_duration(lease.left(now))}), fence {lease.fence}"
        for lease in outcome.renewed
    ]
    notes = told(site, outcome.beat, now, said=outcome.ended) if outcome.beat is not None else []
    if outcome.renewed and not (outcome.ended or outcome.foreign or outcome.missing):
        return Answer(lines=lines, notes=notes, data=data)
    from gitlock.entrypoints import envelope

    taken = [ended for ended in outcome.ended if ended.by and ended.why in ("taken", "stolen", "dead")]
    if taken:
        fault = envelope.error("overtaken", ended_line(taken[0], now), "git lock mine")
        return Answer(exitcodes.OVERTAKEN, lines=lines, notes=notes, data=data, fault=fault)
    if outcome.foreign:
        lease = outcome.foreign[0]
        message = f"'{title(lease)}' is not yours: it is held by {held_by(lease, now)}"
        fault = envelope.error("not-yours", message, "git lock whoami")
        return Answer(exitcodes.NOT_YOURS, lines=lines, notes=notes, data=data, fault=fault)
    if outcome.ended:
        message = ended_line(outcome.ended[0], now)
    elif outcome.missing:
        message = f"you hold nothing called '{visible(outcome.missing[0].text)}'"
    else:
        message = f"{visible(site.agent.id)} holds nothing"
    fault = envelope.error("no-such-lease", message, "git lock mine")
    return Answer(exitcodes.NO_SUCH_LEASE, lines=lines, notes=notes, data=data, fault=fault)


COMMAND = Command(
    "renew",
    "extend leases",
    answer,
    text=(
        "Counts the TTL of what is named (or of everything that you hold) from now, or sets a new one. A lease that "
        "lapsed can be renewed as long as nobody has taken it. Every other command renews too, so this is for long "
        "pauses."
    ),
    arguments="[CLAIM...]",
    options=(*CLAIM_FORMS, Option("--ttl", kind=VALUE, metavar="TIME", help="A new TTL: 90s, 20m, 2h, 1d.")),
    codes=(
        exitcodes.DONE, exitcodes.USAGE, exitcodes.NOT_YOURS, exitcodes.NO_SUCH_LEASE, exitcodes.OVERTAKEN,
        exitcodes.UNCHECKED,
    ),
    examples=("git lock renew", "git lock renew 'src/auth/*' --ttl 2h"),
)  # fmt: skip
