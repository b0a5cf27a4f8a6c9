"""``git lock who`` and ``git lock which``: who holds a path, and which keys and policy it maps to."""

from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of, told
from gitlock.entrypoints.cli.options import Command, Given
from gitlock.entrypoints.cli.output import Answer, warning
from gitlock.entrypoints.wording import held_by, process_words, title, visible
from gitlock.usecases.places import is_folder, literal_place
from gitlock.usecases.renew import Pulse, pulse
from gitlock.usecases.report import Result, holders_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site


def _ask(given: Given) -> "tuple[Site, Pulse, list[Result]]":
    site = site_of(given)
    paths = [literal_place(site.repository, text) for text in given.arguments]
    folders = frozenset(path for path in paths if is_folder(site.repository, path))
    found = pulse(site.store, site.agent.id, site.seat_of)
    results = holders_of(paths, found.snapshot, site.facts, site.fold, site.policy, site.agent.kind, folders)
    return site, found, results


def answer_who(given: Given) -> Answer:
    """Who holds each path."""
    site, found, results = _ask(given)
    now = found.snapshot.now
    lines = []
    for result in results:
        if not result.leases:
            lines.append(f"{visible(result.claim) or '.'}: nobody")
        for one in result.leases:
            lines.append(f"{visible(result.claim) or '.'}: {held_by(one.lease, now, one.state)}")
            process = process_words(one.lease, one.liveness, one.state)
            lines.append(f"  through '{title(one.lease)}', fence {one.lease.fence}{process}")
    notes = told(site, found.beat, now, found.snapshot.notice)
    if site.knows_elsewhere:
        from gitlock.entrypoints.elsewhere import path_warnings

        notes += map(warning, path_warnings(site, [result.claim for result in results], now, below=True))
    data = {"results": [envelope.result_json(result, now, None) for result in results]}
    return Answer(lines=lines, notes=notes, data=data)


def answer_which(given: Given) -> Answer:
    """Which keys and policy each path maps to, and the line that decided."""
    site, found, results = _ask(given)
    now = found.snapshot.now
    policy = site.policy
    lines, shapes = [], []
    for result in results:
        place = _deciding_line(site, result)
        lines.append(f"{visible(result.claim) or '.'}: {result.policy}, by {place}")
        for rule in result.keys:
            lines.append(f"  belongs to the key {rule.name} ({rule.takes}), by {policy.source}:{rule.line}")
        opened = policy.is_open(result.claim, site.fold)
        unclaimed = "open to anyone" if opened else {"reject": "must be claimed", "claim": "is claimed at the commit",
                                                     "allow": "may be changed unclaimed"}[policy.unclaimed]  # fmt: skip
        where = policy.lines.get("open" if opened else "unclaimed")
        lines.append(f"  {unclaimed}" + (f", by {policy.source}:{where}" if where else ""))
        lines += [f"  held by {held_by(one.lease, now, one.state)}, as '{title(one.lease)}'" for one in result.leases]
        shapes.append(envelope.result_json(result, now, place))
    return Answer(lines=lines, notes=told(site, found.beat, now, found.snapshot.notice), data={"results": shapes})


def _deciding_line(site: "Site", result: Result) -> str:
    policy = site.policy
    if policy.override is not None:
        return "git config gitlock.mode"
    if site.agent.kind == "human" and policy.humans == result.policy != policy.mode and "humans" in policy.lines:
        return f"{policy.source}:{policy.lines['humans']}"
    for rule in result.keys:
        if rule.mode == result.policy:
            return f"{policy.source}:{rule.line}"
    return f"{policy.source}:{policy.lines['mode']}" if "mode" in policy.lines else "the built-in policy"


WHO = Command(
    "who",
    "who holds this path",
    answer_who,
    text="Says for each path who holds it, and through which claim. For a folder, who holds anything in it.",
    arguments="PATH...",
    least=1,
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.UNCHECKED),
    examples=("git lock who src/auth/login.py", "git lock who ."),
)
WHICH = Command(
    "which",
    "which keys and policy a path maps to",
    answer_which,
    text="Explains a path: the keys that it belongs to, the policy on it, its holders, and the line that decided.",
    arguments="PATH...",
    least=1,
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.UNCHECKED),
    examples=("git lock which db/schema.sql",),
)
