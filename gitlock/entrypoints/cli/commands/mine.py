"""``git lock mine``."""

from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import heard, site_of
from gitlock.entrypoints.cli.options import Command, Given
from gitlock.entrypoints.cli.output import Answer, warning
from gitlock.entrypoints.wording import ended_line, held_by, low_line, revived_line, title, visible
from gitlock.usecases.renew import mine


def answer(given: Given) -> Answer:
    """What I still hold, and what ended since I last asked."""
    site = site_of(given)
    found = mine(site.store, site.agent.id, site.seat_of)
    now = site.now()
    beat = found.beat
    own = [lease for lease in beat.held if lease.agent == site.agent.id]
    above = [lease for lease in beat.held if lease.agent != site.agent.id]

    def data() -> object:
        from gitlock.entrypoints import envelope

        return {
            "leases": [envelope.lease_json(lease, now, "live", site.facts.liveness(lease)) for lease in beat.held],
            "ended": [envelope.ended_json(ended, now) for ended in beat.ended],
        }

    lines = [f"'{title(lease)}' is held by {held_by(lease, now)}, fence {lease.fence}" for lease in own]
    lines += [f"'{title(lease)}' is held by {held_by(lease, now)}, for you as well" for lease in above]
    notes = [warning(found.snapshot.notice)] if found.snapshot.notice else []
    notes += [warning(revived_line(lease)) for lease in beat.revived]
    notes += [warning(line) for lease in own if (line := low_line(lease, now)) is not None]
    if beat.offers:
        from gitlock.entrypoints.wording import offer_lines

        notes += offer_lines(beat.offers, now)
    notes += heard(site, now)
    if found.fault:
        notes.append(warning(f"the renewal could not be written down: {found.fault}"))
    if beat.ended:
        from gitlock.entrypoints import envelope

        notes = [*(f"git-lock: {ended_line(ended, now)}" for ended in beat.ended[1:]), *notes]
        fault = envelope.error("lease-ended", ended_line(beat.ended[0], now), "git lock list")
        return Answer(exitcodes.NO_SUCH_LEASE, lines=lines, notes=notes, data=data, fault=fault)
    return Answer(lines=lines or [f"{visible(site.agent.id)} holds nothing"], notes=notes, data=data)


COMMAND = Command(
    "mine",
    "do I still hold what I think I hold?",
    answer,
    text=(
        "For after a pause: renews and lists what you hold. Answers 13 once for every lease of yours that ended "
        "without your doing, and says when, why, and who has it now."
    ),
    codes=(exitcodes.DONE, exitcodes.NO_SUCH_LEASE, exitcodes.UNCHECKED),
    examples=("git lock mine",),
)
