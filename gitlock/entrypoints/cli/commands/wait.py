"""``git lock wait``."""

import time

from gitlock.domain.claim import Refused
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import claim_arguments, retyped, site_of
from gitlock.entrypoints.cli.granting import refusal, wish_of
from gitlock.entrypoints.cli.options import CLAIM_FORMS, VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.cli.waiting import wanted_timeout
from gitlock.usecases.claim import ask
from gitlock.usecases.reading import read_claims


def answer(given: Given) -> Answer:
    """Blocks until the claim could be had; takes nothing, and keeps nobody else from it."""
    timeout = wanted_timeout(given)
    site = site_of(given)
    reading = read_claims(claim_arguments(given), site.repository, site.policy, site.fold)
    wish = wish_of(given, site, reading)
    began = time.monotonic()
    while True:
        revision = site.store.read().revision
        found = ask(site.store, wish, dry_run=True).answer
        if not isinstance(found, Refused):
            break
        left = 1.0 if timeout is None else timeout - (time.monotonic() - began)
        if left <= 0:
            return refusal(site, found, retyped(given), [], code=exitcodes.TIMED_OUT, id="timed-out", prefix="still held: ")
        site.store.wait(revision, min(1.0, left))  # a second at most: leases also expire, and holders die
    waited = round(time.monotonic() - began, 3)
    data = {
        "results": [
            {"claim": envelope.name(one.text), "state": "free", "leases": [], "keys": [],
             "policy": site.policy.general_mode(site.agent.kind), "map_line": None}
            for one in reading.taken
        ],
        "waited_s": waited,
    }  # fmt: skip
    return Answer(lines=["free"], data=data)


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
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.TIMED_OUT, exitcodes.UNCHECKED, exitcodes.SIGNALLED),
    examples=("git lock wait deploy:staging --timeout 10m",),
)
