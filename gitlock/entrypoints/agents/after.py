"""After a tool: what was taken for it is firm or given back; what a shell command changed is looked at; news."""

from gitlock.domain.guarding import SAW_UNHEEDED
from gitlock.domain.snapshot import Event as Happened
from gitlock.entrypoints.agents.before import CALL
from gitlock.entrypoints.agents.neutral import AFTER, CONTEXT, EDIT, SHELL, Say
from gitlock.entrypoints.agents.news import gather
from gitlock.usecases.edit import before_edit
from gitlock.usecases.leave import settle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.decision import Finding
    from gitlock.domain.shellwrites import Seen
    from gitlock.entrypoints.agents.desk import Desk
    from gitlock.wiring.site import Site

EDITED_LIMIT = 50  # paths that a session's record says it edited, until somebody has looked what is changed


def after_tool(desk: "Desk") -> Say:
    """The answer after a tool that ran (or failed, which nobody is told about)."""
    event = desk.event
    ran = event.kind == AFTER
    call = event.call or CALL
    seen: Seen | None = None
    if event.tool_kind == SHELL and event.command:
        from gitlock.domain.shellwrites import look_at_command

        seen = look_at_command(event.command)
        if seen.patched and not desk.for_paths(seen.patched).places:
            return Say()
    for tree in desk.places:
        settle(desk.site(tree), call, happened=ran)
    if event.tool_kind == EDIT or (seen is not None and seen.patched):
        _edited(desk, ran=ran)
    elif seen is not None and not seen.reads:
        _looked(desk, seen)
    else:
        desk.attend()
    desk.sitting = desk.sitting.ended(event.call or CALL)
    if ran:
        _heeded(desk)
        gather(desk)
    return Say(CONTEXT, "\n".join(desk.texts) if ran else "")


def _edited(desk: "Desk", *, ran: bool) -> None:
    """The session has these paths in hand."""
    paths = desk.places.get(desk.first, ())
    desk.attend()
    before = desk.session
    if not ran or before is None or set(paths) <= set(before.touched):
        return
    touched = tuple(dict.fromkeys((*before.touched, *paths)))
    if before.touched_at is None and len(touched) > EDITED_LIMIT:
        return
    sitting = desk.sitting
    desk.attend(touched=touched)
    desk.sitting = sitting


def _looked(desk: "Desk", seen: "Seen") -> None:
    """What the command changed: claimed, or reported."""
    from gitlock.entrypoints.agents.before import split
    from gitlock.entrypoints.wording import visible
    from gitlock.git.locate import locate
    from gitlock.usecases.observe import observe, others_here

    desk.attend()
    site, before = desk.site(desk.first), desk.session
    if before is None:
        return
    top = site.repository.top
    files, _ = split(desk, seen.writes)
    named = tuple(spot.path for file in files for spot in locate(file) if spot.top == top)
    others = bool(others_here(site, before.id, site.here.holder_liveness, desk.now))
    found = observe(site, before, named, others)
    sitting = desk.sitting
    desk.attend(touched=found.touched)
    desk.sitting = sitting
    if found.taken:
        rows = ", ".join(f"'{visible(lease.title, 300)}'" for lease in found.taken)
        desk.tell(f"git-lock: this command changed files that nobody held; they are claimed for you now: {rows}")
    _report(desk, site, found.foreign)


def _report(desk: "Desk", site: "Site", rows: "tuple[Finding, ...]") -> None:
    """Somebody else's files were changed: said now, to be read in history, and told to whoever holds them."""
    from gitlock.entrypoints.agents.words import SHOWN, held_line
    from gitlock.usecases.trespass import write_down

    if not rows:
        return
    now = site.store.read().now
    lines = ["git-lock: this command changed files that others hold. Don't commit them: ask their holders, or undo it:"]
    lines += [
        f"- {held_line(one, now, site.facts.liveness, lambda lease: desk.find_session(site, lease))}"
        for one in rows[:SHOWN]
    ]
    desk.tell("\n".join(lines))
    write_down(site, rows, "by a shell command")


def _heeded(desk: "Desk") -> None:
    """Whether the program heeds a refusal: a refused call that ran all the same, or another edit of a path that was
    refused, is a guard that does not hold. Ids of calls may come twice, and a path may have come free: so it is one
    only if the paths are still another's."""
    keys = [f"call {desk.event.call}"] if desk.event.call else []
    keys += [path for paths in desk.places.values() for path in paths]
    if not any(key in desk.sitting.refused for key in keys):
        return
    refused = {name: wall for name, wall in desk.sitting.refused.items() if name not in keys}
    desk.sitting = desk.sitting.replace(refused=refused)
    if any(paths and before_edit(desk.site(tree), paths, "", take=False).stops for tree, paths in desk.places.items()):
        desk.tell(
            "git-lock: this was refused, and happened all the same: the program does not heed its hooks here. "
            "Whatever it wrote may be somebody else's: git lock check --worktree"
        )
        desk.saw(SAW_UNHEEDED)
        site = desk.site(desk.first)
        site.store.note((Happened("unheeded", site.agent.id, " ".join(desk.event.paths)[:200], note=desk.program),))
