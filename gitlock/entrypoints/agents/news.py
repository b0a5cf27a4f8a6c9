"""What a session must not miss: leases of its own that ended, requests and answers, its turn in the queue."""

from gitlock.entrypoints.agents.words import SHOWN, request_words
from gitlock.entrypoints.wording import ended_line, offer_lines
from gitlock.usecases.renew import pulse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.request import Request
    from gitlock.entrypoints.agents.desk import Desk
    from gitlock.wiring.site import Site

SAID_LIMIT = 2000  # characters of all requests that are told at once


def gather(desk: "Desk", *, everything: bool = False) -> None:
    """Tells what is new; an open request once more after a while, or (``everything``) at once: a new turn began."""
    for text in desk.sitting.later:
        desk.tell(text)
    desk.sitting = desk.sitting.replace(later=())
    for tree in desk.places:
        _of_site(desk, desk.site(tree), everything=everything)


def _of_site(desk: "Desk", site: "Site", *, everything: bool) -> None:
    beat = pulse(site.store, site.agent.id, site.seat_of)
    now = beat.snapshot.now
    for ended in beat.beat.ended:
        key = f"ended {ended.lease.id}"
        if key not in desk.sitting.heard:
            desk.tell(f"git-lock: {ended_line(ended, now)}")
            desk.sitting = desk.sitting.said(key, now.wall)
    for waiter, line in zip(beat.beat.offers, offer_lines(beat.beat.offers, now), strict=False):
        if desk.sitting.due(f"offer {waiter.id}", now.wall):
            desk.tell(f"git-lock: {line}")
            desk.sitting = desk.sitting.said(f"offer {waiter.id}", now.wall)
    told = 0
    size = 0
    for request in _heard(site):
        key = f"request {request.id}"
        is_open = request.state == "open"
        if is_open and not everything and not desk.sitting.due(key, now.wall):
            continue
        text = request_words(request, site.agent.id, now)
        if told >= SHOWN or size + len(text) > SAID_LIMIT:
            desk.tell("git-lock: there are more requests: git lock inbox")
            break
        desk.tell(text)
        told, size = told + 1, size + len(text)
        if is_open:
            desk.sitting = desk.sitting.said(key, now.wall)


def _heard(site: "Site") -> "list[Request]":
    if not site.store.has_requests():
        return []
    from gitlock.usecases.hearing import hear

    return hear(site.store, site.agent, site.fold)


def pending(desk: "Desk") -> list[str]:
    """Open requests that this session was not asked about at the end of a turn yet, in words; each once."""
    found = []
    for tree in desk.places:
        site = desk.site(tree)
        now = site.now()
        for request in _heard(site):
            key = f"stop {request.id}"
            if request.state == "open" and key not in desk.sitting.heard:
                found.append(request_words(request, site.agent.id, now))
                desk.sitting = desk.sitting.said(key, now.wall).said(f"request {request.id}", now.wall)
    return found[:SHOWN]
