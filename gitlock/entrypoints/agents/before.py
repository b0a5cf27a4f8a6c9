"""Before a tool: an edit is checked and claimed, a shell command's plain writes are looked at."""

import os

from gitlock.domain.policy import ENFORCE, OFF
from gitlock.domain.snapshot import Event as Happened
from gitlock.entrypoints.agents.neutral import EDIT, NOTHING, REFUSE, SHELL, WARN, Say
from gitlock.usecases.edit import before_edit, is_elsewhere
from gitlock.wiring.spotting import mode_setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.decision import Finding
    from gitlock.domain.shellwrites import Write
    from gitlock.entrypoints.agents.desk import Desk
    from gitlock.git.locate import Spot
    from gitlock.usecases.edit import Edited
    from gitlock.wiring.site import Site

SOON = 120.0  # seconds within which the same refusal is said to be one
CALL = "call"  # of programs that do not name their calls


def before_tool(desk: "Desk") -> Say:
    """The answer before a tool."""
    event = desk.event
    if event.tool_kind == EDIT:
        return before_an_edit(desk, f"{event.tool or 'the edit'}")
    if event.tool_kind == SHELL and event.command:
        from gitlock.domain.shellwrites import look_at_command

        seen = look_at_command(event.command)
        if seen.patched:
            patched = desk.for_paths(seen.patched)
            return before_an_edit(patched, "apply_patch") if patched.places else Say()
        if not desk.places:
            desk.for_paths(tuple(split(desk, seen.writes)[0]))  # it stands elsewhere, and writes to a place of ours
            if not desk.places:
                return Say()
        desk.attend()
        desk.saw(SHELL)
        desk.sitting = desk.sitting.began(event.call or CALL, desk.now)
        return before_writes(desk, seen.writes) if seen.writes else Say()
    if not desk.places:
        return Say()
    desk.attend()
    desk.sitting = desk.sitting.began(event.call or CALL, desk.now)
    return Say()


def before_an_edit(desk: "Desk", what: str) -> Say:
    """All of its paths or none, in whatever repositories they lie."""
    call = desk.event.call or CALL
    done: list[Site] = []
    for tree, paths in desk.places.items():
        site = desk.site(tree)
        elsewhere = mode_setting(site.settings, "otherWorktrees")
        edited = before_edit(site, paths, call, elsewhere=elsewhere)
        if edited.stops or edited.ahead:
            from gitlock.usecases.leave import settle

            for other in done:
                settle(other, call, happened=False)
            return refused(desk, site, edited, what)
        done.append(site)
        if edited.clash is not None:
            desk.tell(_clash(site, edited))
        for one in edited.warns:
            _warn(desk, site, edited, one)
    if desk.texts or not desk.is_fresh():
        desk.attend()
        desk.saw(EDIT)
    return Say(WARN if desk.texts else NOTHING, "\n".join(desk.texts))


def refused(desk: "Desk", site: "Site", edited: "Edited", what: str) -> Say:
    """A refusal, which is remembered: a call that happens all the same shows that nobody heeds us."""
    from gitlock.entrypoints.agents.words import refusal

    desk.attend()
    desk.saw(desk.event.tool_kind)
    now = edited.pulse.snapshot.now
    paths = [one.path for one in edited.stops]
    calls = (f"call {desk.event.call}",) if desk.event.call else ()
    again = any(0 <= now.wall - desk.sitting.refused.get(path, -SOON) < SOON for path in paths)
    again = again and not any(call in desk.sitting.refused for call in calls)  # hooks set up twice ask twice
    for key in (*paths, *calls):
        desk.sitting = desk.sitting.was_refused(key, now.wall)
    text = refusal(
        what, edited, now, site.facts.liveness, lambda lease: desk.find_session(site, lease), desk.prefix, again=again
    )
    site.store.note((Happened("refuse", site.agent.id, " ".join(paths[:10]), note=f"edit ({desk.program})"),))
    return Say(REFUSE, text)


def _warn(desk: "Desk", site: "Site", edited: "Edited", finding: "Finding") -> None:
    from gitlock.entrypoints.agents.words import warning

    lease = finding.lease
    desk.tell(
        warning(
            finding, edited.pulse.snapshot.now, site.facts.liveness, lambda one: desk.find_session(site, one),
            desk.prefix, elsewhere=lease is not None and is_elsewhere(site, lease),
        )
    )  # fmt: skip


def _clash(site: "Site", edited: "Edited") -> str:
    from gitlock.entrypoints.wording import visible

    lease = edited.clash
    assert lease is not None
    return (
        f"git-lock: {visible(site.agent.id)} is at work on {visible(lease.holder.host)} as well, so nothing was "
        "claimed here: git lock whoami"
    )


def before_writes(desk: "Desk", writes: "tuple[Write, ...]") -> Say:
    """What a shell command plainly writes to: warned about, unless ``gitlock.shellWrites`` says otherwise."""
    from gitlock.entrypoints.agents.sweeping import about_tree

    files, trees = split(desk, writes)
    told = desk.for_spots(files)
    say = Say()
    for tree, paths in told.places.items():
        site = told.site(tree)
        most = mode_setting(site.settings, "shellWrites")
        if most == OFF:
            continue
        elsewhere = mode_setting(site.settings, "otherWorktrees")
        edited = before_edit(site, paths, "", elsewhere=elsewhere, most=most, take=False)
        if edited.stops and most == ENFORCE:
            return refused(desk, site, edited, "this command")
        for one in edited.warns:
            _warn(desk, site, edited, one)
    for tree, path, write in trees:
        site = told.site(tree)
        if mode_setting(site.settings, "shellWrites") != OFF:
            about_tree(desk, site, path, write)
    if desk.texts:
        say = Say(WARN, "\n".join(desk.texts))
    return say


def split(desk: "Desk", writes: "tuple[Write, ...]") -> "tuple[list[str], list[tuple[Spot, str, Write]]]":
    """The files that are written, as absolute paths; and whole folders, with the worktree that each is in."""
    from gitlock.git.locate import locate_folder

    files: list[str] = []
    trees: list[tuple[Spot, str, Write]] = []
    for write in writes:
        path = desk.absolute(write.path)
        if write.there and not os.path.lexists(path):
            continue
        if write.unless and os.path.lexists(os.path.join(path, write.unless)):
            continue
        if os.path.isdir(path) and not os.path.islink(path):
            if write.inside and not write.tree:
                files += [os.path.join(path, name) for name in write.inside]
                continue
            spot = locate_folder(path)
            if spot is not None and desk.manages(spot):
                trees.append((spot.replace(path=""), spot.path, write))
        elif not write.tree:
            files.append(path)
    return files, trees
