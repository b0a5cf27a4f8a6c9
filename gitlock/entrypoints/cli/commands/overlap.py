"""``git lock overlap``: where agents get in each other's way, before a merge tells."""

from gitlock.domain.footprint import Footprint
from gitlock.domain.overlap import covers
from gitlock.domain.overlaps import NO, UNKNOWN, YES, Account, Meeting, Place, account
from gitlock.domain.quoting import word
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.commands.agents import unknown_notes, wanted_deadline
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, warning
from gitlock.entrypoints.wording import NAMED, title, visible
from gitlock.errors import UsageError
from gitlock.usecases.muster import Mustered, muster
from gitlock.usecases.overlapping import Overlaps, overlaps
from gitlock.usecases.places import pattern_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def answer(given: Given) -> Answer:
    """Three facts for each path that two worktrees meet in, and what each has changed against what it claims."""
    deadline = wanted_deadline(given)
    site = site_of(given)
    found = muster(site, site.now().wall, deadline=deadline)
    places = found.places()
    chosen = _chosen(given, places)
    under = given.text("path")
    footprint = Footprint.of((pattern_place(site.repository, under),)) if under is not None else None

    def here(path: str) -> bool:
        return footprint is None or covers(footprint, path, site.fold)

    def wanted(one: Meeting) -> bool:
        return here(one.path) and (chosen is None or not chosen.isdisjoint(one.pair))

    result = overlaps(site.repository, found, site.fold, deadline, wanted)
    accounts = []
    for place in places:
        if (chosen is None or place.path in chosen) and found.leases is not None:
            seen = account(place, found.leases, site.fold)
            if seen is not None and place.agents:
                accounts.append(_under(seen, here))
    names = {place.path: _name(place, found) for place in places}
    data = {
        "overlaps": [_meeting_json(one, places) for one in result.meetings],
        "agents": [_account_json(one) for one in accounts],
        "unknown": [{"worktree": envelope.name(one.path), "why": one.why} for one in places if one.why],
        "untried": result.untried,
    }
    notes = unknown_notes(found) + [warning(f"a trial merge was not made: {visible(why)}") for why in result.untried]
    lines = [*_lines(result.meetings, names), *_account_lines(accounts, names)]
    code = _code(result, found) if given.flag("exit_code") else exitcodes.DONE
    fault = None
    if code == exitcodes.VIOLATION:
        fault = envelope.error("overlap", "some paths are changed that another has reserved, or would conflict")
    elif code == exitcodes.UNCHECKED:
        fault = envelope.error("unchecked", "no overlap was found, but not everything could be looked at")
    return Answer(code, lines=lines or ["no overlaps"], notes=notes, data=data, fault=fault)


def _chosen(given: Given, places: list[Place]) -> frozenset[str] | None:
    """The worktrees of those who were named; None for all of them."""
    if not given.arguments:
        return None
    found: set[str] = set()
    for name in given.arguments:
        here = [place.path for place in places if place.is_of(name)]
        if not here:
            raise UsageError(f"there is no worktree of '{visible(name)}' here", hint="git lock agents")
        found.update(here)
    return frozenset(found)


def _under(one: Account, here: "Callable[[str], bool]") -> Account:
    return one.replace(unclaimed=tuple(each for each in one.unclaimed if here(each.path)))


def _code(result: Overlaps, found: Mustered) -> int:
    if any(one.conflict == YES or (one.changed == YES and one.by) for one in result.meetings):
        return exitcodes.VIOLATION
    dark = found.fault is not None or result.untried or any(tree.why and not tree.gone for tree in found.trees)
    return exitcodes.UNCHECKED if dark else exitcodes.DONE


def _name(place: Place, found: Mustered) -> str:
    """A worktree by who works there, else by its branch, else by its folder."""
    if place.agents:
        return visible(", ".join(place.agents))
    tree = next(tree for tree in found.trees if tree.path == place.path)
    return visible(tree.branch or place.path)


def _lines(found: list[Meeting], names: dict[str, str]) -> list[str]:
    pairs: dict[tuple[str, str | None], list[Meeting]] = {}
    for one in found:
        pairs.setdefault(one.pair, []).append(one)
    lines = []
    for (a, b), group in pairs.items():
        other = names[b] if b is not None else ", ".join(visible(name) for name in group[0].by)
        lines.append(f"{names[a]} and {other}:")
        lines += [f"  {visible(one.path)}: {_facts(one, names)}" for one in group]
    return lines


def _facts(one: Meeting, names: dict[str, str]) -> str:
    where = " and ".join(names[path] for path in one.changed_in)
    facts = [f"changed by {where}" if len(one.changed_in) < 2 else "changed by both"]
    facts += [f"what {names[path]} has changed is not known" for path in one.unseen]
    if one.by:
        facts.append(f"reserved by {', '.join(visible(name) for name in one.by)}")
    elif one.reserved == UNKNOWN:
        facts.append("not known whether it is reserved")
    if len(one.changed_in) > 1 or one.conflict != NO:
        known = {YES: "would conflict", NO: "would merge"}
        facts.append(known.get(one.conflict, "not known whether it would conflict"))
    return ", ".join(facts)


def _account_lines(accounts: list[Account], names: dict[str, str]) -> list[str]:
    lines = []
    for one in accounts:
        who = names[one.place.path]
        if one.unclaimed:
            shown = ", ".join(visible(each.path) for each in one.unclaimed[:NAMED])
            more = f" and {len(one.unclaimed) - NAMED} more" if len(one.unclaimed) > NAMED else ""
            whose = " (by one of them)" if one.shared else ""
            lines.append(f"{who}: changed but unclaimed{whose}: {shown}{more}")
        for unused in one.unused:
            lease = f"'{title(unused.lease)}'"
            if unused.narrower:
                would = " ".join(word(text) for text in unused.narrower)
                lines.append(f"{who}: claimed {lease}, and touched so little of it that this would do: {would}")
            else:
                lines.append(f"{who}: claimed {lease}, and touched nothing of it")
    return lines


def _meeting_json(one: Meeting, places: list[Place]) -> dict[str, object]:
    by_path = {place.path: place for place in places}

    def side(path: str | None) -> dict[str, object] | None:
        if path is None:
            return None
        place = by_path[path]
        seen = None if place.sight is None else next((t for t in place.sight.touched if t.path == one.path), None)
        kinds = None if place.sight is None else list(seen.kinds) if seen is not None else []
        return {
            "worktree": envelope.name(path), "agents": list(place.agents), "kinds": kinds,
            "gone": None if place.sight is None else seen is not None and seen.gone,
        }  # fmt: skip

    return {
        "path": envelope.name(one.path),
        "sides": [shape for shape in (side(one.a), side(one.b)) if shape is not None],
        "reserved": one.reserved,
        "reserved_by": list(one.by),
        "changed": one.changed,
        "conflict": one.conflict,
        **envelope.raw([one.path]),
    }


def _account_json(one: Account) -> dict[str, object]:
    paths = [each.path for each in one.unclaimed]
    return {
        "agents": list(one.place.agents),
        "worktree": envelope.name(one.place.path),
        "shared": one.shared,
        "unclaimed": [
            {"path": envelope.name(each.path), "kinds": list(each.kinds), "gone": each.gone} for each in one.unclaimed
        ],
        "unused": [
            {
                "lease": unused.lease.id,
                "claim": envelope.name(unused.lease.title),
                "narrower": [envelope.name(text) for text in unused.narrower],
            }
            for unused in one.unused
        ],
        **envelope.raw(paths),
    }


COMMAND = Command(
    "overlap",
    "what agents reserve, change, or would conflict in",
    answer,
    text=(
        "Three separate facts for each path that two worktrees meet in: whether one has reserved it, whether both have "
        "changed it (uncommitted, untracked, or committed since they left their base; or one, while the other "
        "has reserved it), and whether what they hold now would conflict, by a merge that is only tried. "
        "Each may be unknown, and then says so. Then, for each agent, what is changed but unclaimed, and claims that "
        "are broader than what was touched. Commits, indexes and files stay as they are."
    ),
    arguments="[AGENT...]",
    options=(
        Option("--path", kind=VALUE, metavar="P", help="Only what is at or below P (a path or a pattern)."),
        Option("--exit-code", help="End with 22 where one changes what another reserved or a conflict is sure, else "
                                   "with 20 where not all could be looked at."),
        Option("--deadline", kind=VALUE, metavar="TIME", help="How long each worktree's git may take (10s)."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.UNCHECKED, exitcodes.VIOLATION),
    examples=("git lock overlap", "git lock overlap alice --path src/auth", "git lock overlap --exit-code"),
)  # fmt: skip
