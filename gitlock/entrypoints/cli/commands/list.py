"""``git lock list``."""

from gitlock.domain.beat import Beat
from gitlock.domain.footprint import Footprint
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of, told
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, use_color
from gitlock.usecases.places import pattern_place
from gitlock.usecases.renew import Pulse, pulse
from gitlock.usecases.report import listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from gitlock.wiring.site import Site

EVERY = 1.0  # seconds after which a screen is drawn anew


def answer(given: Given) -> Answer:
    """Every live lease; with --watch, for as long as somebody looks."""
    site = site_of(given)
    text = given.text("under")
    under = Footprint.of((pattern_place(site.repository, text),)) if text is not None else None
    if given.flag("watch"):
        from gitlock.entrypoints.cli.watching import refuse_json, watch

        refuse_json(given, "list")
        trace = site.store.trace()

        def look() -> "tuple[Answer, Hashable]":
            nonlocal trace
            trace = site.store.trace()
            snapshot = site.store.read()
            answer = _listed(given, site, Pulse(snapshot, Beat((), (), ())), under)
            rows = listing(snapshot, site.facts, site.fold, all=given.flag("all"), under=under)
            return answer, tuple((one.lease.id, one.state, one.lease.mode, one.waiting) for one in rows)

        watch(look, lambda seconds: site.store.watch(trace, seconds), EVERY)
    return _listed(given, site, pulse(site.store, site.agent.id, site.seat_of), under)


def _listed(given: Given, site: "Site", found: Pulse, under: Footprint | None) -> Answer:
    now = found.snapshot.now
    rows = listing(found.snapshot, site.facts, site.fold, all=given.flag("all"), under=under)
    data: dict[str, object] = {"leases": [_shape(one, now) for one in rows], "elsewhere": []}
    notes = told(site, found.beat, now, found.snapshot.notice)
    abroad = []
    if site.knows_elsewhere:
        from gitlock.entrypoints.elsewhere import abroad_json, abroad_lines
        from gitlock.usecases.elsewhere import held_elsewhere

        abroad = held_elsewhere(
            site.publications, now.wall, known=(lease.id for lease in found.snapshot.leases.all()), under=under,
            fold=site.fold,
        )  # fmt: skip
        data["elsewhere"] = abroad_json(abroad, now.wall)
    if given.flag("json"):
        return Answer(data=data, notes=notes)
    more = abroad_lines(abroad, now.wall, all=given.flag("all")) if abroad else []
    if not rows:
        nothing = "nothing is held" + (" there" if under is not None else "") + (" in this clone" if more else "")
        return Answer(lines=[nothing, *more], notes=notes, data=data)
    from gitlock.entrypoints.cli.tables import lease_table

    color = use_color(given.text("color") or "auto", bool(site.environ.get("NO_COLOR")))
    return Answer(lines=[*lease_table(rows, now, color=color), *more], notes=notes, data=data)


def _shape(one: "object", now: "object") -> dict[str, object]:
    from gitlock.domain.instant import Instant
    from gitlock.usecases.report import Shown

    assert isinstance(one, Shown)
    assert isinstance(now, Instant)
    if one.ended is not None:
        return envelope.ended_json(one.ended, now)
    return envelope.shown_json(one, now)


COMMAND = Command(
    "list",
    "every live lease",
    answer,
    text="Lists who holds what, since when, for how long still, and why.",
    options=(
        Option("--all", help="Expired and ended ones as well, and those of other clones one by one."),
        Option("--watch", help="Goes on: shows every change as it happens, until Ctrl-C."),
        Option("--under", kind=VALUE, metavar="PATH", help="Only those that meet PATH (a path or a pattern)."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.UNCHECKED),
    examples=("git lock list", "git lock list --watch", "git lock list --under src/auth --json"),
)
