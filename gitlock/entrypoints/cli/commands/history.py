"""``git lock history``."""

from gitlock.domain.duration import parse_duration
from gitlock.domain.footprint import Footprint
from gitlock.domain.overlap import overlap
from gitlock.domain.pattern import Fold, parse_pattern
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, use_color, warning
from gitlock.entrypoints.wording import stamp
from gitlock.errors import UsageError
from gitlock.usecases.places import pattern_place
from gitlock.usecases.reading import Argument, read_wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.holding import Wanted


def answer(given: Given) -> Answer:
    """What happened, with the reasons."""
    from gitlock.stores.files.history import read_history

    site = site_of(given)
    limit = _limit(given)
    now = site.now()
    since_text = given.text("since")
    since = now.wall - parse_duration(since_text, what="time") if since_text is not None else None
    wanted = read_wanted(
        tuple(Argument(text) for text in given.arguments), site.repository, site.policy, site.fold
    )
    path_text = given.text("path")
    path = Footprint.of((pattern_place(site.repository, path_text),)) if path_text is not None else None
    events, fault = read_history(site.store.layout)
    of_agent = given.text("agent")
    found = [
        event
        for event in events
        if (since is None or _number(event["at"]) >= since)
        and (of_agent is None or of_agent in (event["agent"], event["victim"]))
        and (not wanted or any(_names(want, event, site.fold) for want in wanted))
        and (path is None or _meets(event, path, site.fold))
    ]
    if not given.flag("all"):
        found = found[-limit:]
    notes = [warning(f"some history is missing: {fault}")] if fault else []
    data = {"events": [_shape(event) for event in found], "complete": fault is None}
    if given.flag("json"):
        return Answer(data=data, notes=notes)
    if not found:
        return Answer(lines=["no history"], notes=notes, data=data)
    from gitlock.entrypoints.cli.tables import event_table

    color = use_color(given.text("color") or "auto", bool(site.environ.get("NO_COLOR")))
    return Answer(lines=event_table(found, now.wall, color=color), notes=notes, data=data)


def _limit(given: Given) -> int:
    text = given.text("limit") or "50"
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or not int(text):
        raise UsageError(f"'{text}' is no number of events")
    return int(text)


def _number(value: object) -> float:
    return value if isinstance(value, float) else float(value) if isinstance(value, int) else 0.0


def _patterns(event: dict[str, object]) -> tuple[str, ...]:
    return tuple(text for text in str(event["claim"]).split(" ") if text and text[0] != "!")


def _names(want: "Wanted", event: dict[str, object], fold: Fold) -> bool:
    if event["claim"] in want.spellings or event["lease"] in want.spellings:
        return True
    if want.name is not None:
        return want.name in str(event["claim"]).split(" ")
    return bool(want.include) and _meets(event, want.footprint, fold)


def _meets(event: dict[str, object], under: Footprint, fold: Fold) -> bool:
    for text in _patterns(event):
        try:
            pattern = parse_pattern(text)
        except UsageError:
            continue
        if overlap(Footprint((pattern,), ()), under, fold).meets:
            return True
    return False


def _shape(event: dict[str, object]) -> dict[str, object]:
    return {
        "at": stamp(_number(event["at"])),
        "verb": event["verb"],
        "agent": event["agent"],
        "claim": envelope.name(str(event["claim"])),
        "lease": event["lease"] or None,
        "fence": event["fence"] or None,
        "note": envelope.name(str(event["note"])),
        "victim": event["victim"] or None,
        **envelope.raw([str(event["claim"]), str(event["note"])]),
    }


COMMAND = Command(
    "history",
    "what happened, with the reasons",
    answer,
    text=(
        "Shows claims, renewals asked for, releases, lapses, commits that were refused or that got past the gate. "
        "Here --agent NAME keeps only what that agent did, or what was done to it."
    ),
    arguments="[CLAIM...]",
    options=(
        Option("--since", kind=VALUE, metavar="TIME", help="Only the last TIME: 30m, 24h, 7d."),
        Option("--path", kind=VALUE, metavar="P", help="Only claims that meet P."),
        Option("--limit", kind=VALUE, metavar="N", help="The last N events (50)."),
        Option("--all", help="Everything."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE),
    examples=("git lock history --since 24h", "git lock history 'src/auth/*'"),
)
