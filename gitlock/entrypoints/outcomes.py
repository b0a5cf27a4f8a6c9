"""Outcomes in the words that every entry point uses which answers a question: what an error says, and what is
granted but should be known. What to do next is left to the entry point: a command line and a tool name it differently.
"""

from gitlock.domain.duration import show_duration
from gitlock.domain.quoting import word
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.wording import (
    clock,
    conflict_lines,
    ended_line,
    held_by,
    title,
    visible,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.claim import Granted, Refused
    from gitlock.domain.holding import Released
    from gitlock.domain.instant import Instant
    from gitlock.domain.lease import Lease
    from gitlock.domain.queue import Waiter
    from gitlock.domain.turn import Deadlock
    from gitlock.usecases.covered import Covered
    from gitlock.usecases.reading import Reading
    from gitlock.wiring.site import Site

FOLDERS_SHOWN = 3  # folders that a wildcard matches without covering what is in them


def refused_lines(refused: "Refused", now: "Instant") -> list[str]:
    """Every lease that stands in the way of a claim, and whoever waits before us; the first line is the message."""
    lines = [line for conflict in refused.conflicts for line in conflict_lines(conflict, now)]
    return lines + [
        f"{visible(waiter.agent)} waits for '{visible(waiter.title)}' since {clock(waiter.since, now.wall)}, before you"
        for waiter in refused.ahead
    ]


def clash_line(agent: str, lease: "Lease") -> str:
    """An agent of this name is at work on another host or in another clone."""
    return (
        f"'{visible(agent)}' is at work on another host ({visible(lease.holder.host)}): two holders of one name would "
        "not exclude each other"
    )


def deadlock_line(answer: "Deadlock") -> str:
    """A wait that would never end, with its ring."""
    steps = answer.ring.steps
    if answer.outer is not None:
        return (
            f"this wait would never end: '{title(answer.outer)}' is held for the command that this runs under, by "
            f"{visible(answer.outer.agent)}"
        )
    ring = [f"{visible(step.agent)} (wants '{visible(step.claim)}')" for step in steps]
    return f"this wait would never end: {' -> '.join([*ring, visible(steps[0].agent)])}"


def queued_line(waiter: "Waiter", ahead: int, now: "Instant") -> str:
    """A durable place in the queue, or its turn."""
    if waiter.offered is None:
        return f"queued for '{visible(waiter.title)}', {ahead} before you"
    from gitlock.domain.queue import OFFER

    return f"it is your turn: take it within {show_duration(OFFER - now.since(waiter.offered))}"


def vain_line(seconds: float) -> str:
    """What stands before the message of a wait whose time was up."""
    return f"waited {show_duration(seconds)} in vain: "


def not_released(outcome: "Released", agent: str, now: "Instant") -> tuple[int, str, str]:
    """Code, id and message where something that was named was not given back."""
    if outcome.foreign:
        lease = outcome.foreign[0]
        message = f"'{title(lease)}' is not yours: it is held by {held_by(lease, now)}"
        return exitcodes.NOT_YOURS, "not-yours", message
    if outcome.missing:
        message = f"you hold nothing called '{visible(outcome.missing[0].text)}'"
    elif outcome.ended:
        message = ended_line(outcome.ended[0], now)
    else:
        message = f"{visible(agent)} holds nothing"
    return exitcodes.NO_SUCH_LEASE, "no-such-lease", message


def claim_warnings(site: "Site", reading: "Reading", result: "Granted", covered: "Covered") -> list[str]:
    """What is granted, and should be known all the same."""
    from gitlock.usecases.covered import shell_expanded

    now = site.now()
    found = []
    for conflict in result.announced:
        found.append(
            f"'{title(conflict.lease)}' is held by {held_by(conflict.lease, now, conflict.standing)}; the policy here "
            "is warn, so your claim is announced and nobody is stopped"
        )
    for conflict in result.met:
        found.append(f"'{title(conflict.lease)}' is announced by {held_by(conflict.lease, now)}")
    if site.knows_elsewhere:
        from gitlock.entrypoints.elsewhere import claim_warnings as warnings_of_other_clones

        found += warnings_of_other_clones(site, result.lease, now)
    for conflict in result.elsewhere:
        place = visible(conflict.lease.holder.worktree or "another place")
        found.append(
            f"you hold '{title(conflict.lease)}' yourself, from '{place}': the two will not exclude each other"
        )
    if reading.include and covered.files == 0:
        found.append("no tracked file is covered today; if that is not what you meant, look at the spelling")
    for folder in covered.folders[:FOLDERS_SHOWN]:
        found.append(
            f"'{visible(folder)}' is a folder that the wildcard matches: what is in it is not covered "
            f"(a pattern that ends in '/' would: {word(folder + '/')})"
        )
    quoted = shell_expanded(reading, site.repository)
    if quoted is not None:
        count = len(reading.taken)
        found.append(
            f"this covers the {count} files that are there now; quoted, {word(quoted)} would cover new ones too"
        )
    return found
