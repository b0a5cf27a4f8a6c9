"""``git lock wait``."""

from gitlock.domain.claim import Clash, Refused
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import claim_arguments, retyped, site_of
from gitlock.entrypoints.cli.granting import refusal, wish_of
from gitlock.entrypoints.cli.options import CLAIM_FORMS, VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.cli.waiting import catch, waiting_line, wanted_timeout
from gitlock.errors import Interrupted
from gitlock.usecases.reading import read_claims
from gitlock.usecases.wait import until_free
from gitlock.wiring.attendance import attend_waiting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def answer(given: Given) -> Answer:
    """Blocks until the claim could be had; takes nothing, and keeps nobody else from it."""
    timeout = wanted_timeout(given)
    site = site_of(given)
    reading = read_claims(claim_arguments(given), site.repository, site.policy, site.fold)
    wish = wish_of(given, site, reading)
    restore = catch(_stop)
    taken_back: list[Callable[[], None]] = []

    def waiting(refused: Refused) -> None:
        waiting_line(given, site, refused)
        taken_back.append(attend_waiting(site, " ".join((*wish.claim.names, *wish.claim.include))))

    try:
        found, waited = until_free(site.store, wish, timeout, waiting)
    finally:
        restore()
        for take_back in taken_back:
            take_back()
    if isinstance(found, Refused):
        return refusal(site, found, retyped(given), [], code=exitcodes.TIMED_OUT, id="timed-out", prefix="still held: ")
    if isinstance(found, Clash):
        message = f"'{site.agent.id}' is at work in another place: whether this is free for you can't be told"
        return Answer(exitcodes.REFUSED, fault=envelope.error("agent-elsewhere", message, "git lock whoami"))
    data = {
        "results": [
            {"claim": envelope.name(one.text), "state": "free", "leases": [], "keys": [],
             "policy": site.policy.general_mode(site.agent.kind), "map_line": None, **envelope.raw([one.text])}
            for one in reading.taken
        ],
        "waited_s": round(waited, 3),
    }  # fmt: skip
    return Answer(lines=["free"], data=data)


def _stop(number: int) -> None:
    """Nothing is written while we wait, so that any moment is a good one to stop."""
    raise Interrupted(number)


COMMAND = Command(
    "wait",
    "block until a claim is free; take nothing",
    answer,
    text=(
        "Returns when everything that is named could be claimed. It takes nothing and holds no place in the queue: to "
        "have it for sure, use git lock claim --wait."
    ),
    arguments="CLAIM...",
    options=(*CLAIM_FORMS, Option("--timeout", kind=VALUE, metavar="TIME", help="Wait at most that long.")),
    codes=(
        exitcodes.DONE, exitcodes.USAGE, exitcodes.TIMED_OUT, exitcodes.REFUSED, exitcodes.UNCHECKED,
        exitcodes.SIGNALLED,
    ),
    examples=("git lock wait deploy:staging --timeout 10m",),
)  # fmt: skip
