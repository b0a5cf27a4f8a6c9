"""``git lock receive-ledgers``: what a server asks before it takes a ledger (templates/pre-receive.sh).

A ledger that nobody can read would stop every merge check, since it may hold anything. So what is pushed to a writer's
ref has to be a ledger of that writer, within its bounds; or nothing, where a writer takes its own away.
"""

import os

from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.options import Command, Given
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.wording import visible
from gitlock.errors import RemoteRefused, StoreError
from gitlock.git.ledgers import PUBLISHED, text_at
from gitlock.git.outgoing import received_updates
from gitlock.stores.ledger import SIZE_LIMIT, parse_ledger


def answer(given: Given) -> Answer:
    """Reads git's lines on standard input; refuses the first ledger that is none."""
    git = site_of(given).repository.git
    with open(0, "rb", closefd=False) as file:
        updates = received_updates(file.read())
    ledgers = [one for one in updates if one.ref.startswith(PUBLISHED) and one.new is not None]
    for one in ledgers:
        assert one.new is not None
        text = text_at(git, one.new, SIZE_LIMIT)
        if text is None:
            raise _refused(one.ref, "it holds no ledger, or one that is too large")
        try:
            ledger = parse_ledger(text, one.ref)
        except StoreError as error:
            raise _refused(one.ref, error.message) from None
        if one.ref != PUBLISHED + ledger.writer:
            raise _refused(one.ref, f"it says that it is another's ({ledger.writer})")
    return Answer(data={"checked": len(ledgers)})


def _refused(ref: str, why: str) -> RemoteRefused:
    return RemoteRefused(f"{visible(os.fsdecode(ref))} is refused: {visible(why)}", hint="git lock publish")


COMMAND = Command(
    "receive-ledgers",
    "check ledgers that are pushed here",
    answer,
    text="Reads what git writes to pre-receive, and refuses what is pushed as a ledger and is none.",
    codes=(exitcodes.DONE, exitcodes.REFUSED, exitcodes.UNCHECKED),
)
