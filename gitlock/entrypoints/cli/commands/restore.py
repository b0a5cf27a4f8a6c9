"""``git lock restore``."""

import os

from gitlock.domain.agent import valid_agent
from gitlock.domain.duration import show_duration
from gitlock.domain.quoting import word
from gitlock.domain.retiring import show_size, with_article
from gitlock.domain.saved import KEPT
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.grounding import ground_of
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, hint, warning
from gitlock.entrypoints.cli.spawned import recovered_line, worktree_json
from gitlock.entrypoints.cli.waiting import catch
from gitlock.entrypoints.wording import stamp, visible
from gitlock.errors import UsageError
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.saved import SavedBook
from gitlock.stores.files.scratch import scratch_folder
from gitlock.usecases.retiring.restoring import Restored, named_snapshot, restore
from gitlock.usecases.settings.travelling import equip
from gitlock.usecases.spawning.naming import wanted_path
from gitlock.usecases.wait import Stop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.saved import Saved
    from gitlock.wiring.site import Site

SHORT = 10  # characters of a commit's name


def answer(given: Given) -> Answer:
    """Brings one worktree back, or lists what can be."""
    if given.flag("list") == bool(given.arguments):
        raise UsageError("say which snapshot, or --list to see them", hint="git lock restore --list")
    site = site_of(given)
    book = SavedBook(Layout(site.folder, site.store.layout.shared))
    if given.flag("list"):
        return _listed(site, book.all())
    path, other = given.text("path"), given.text("as")
    saved = named_snapshot(book, given.arguments[0])
    stop = Stop()
    undo = catch(stop.ask)
    try:
        ground = ground_of(site, stop)
        done = restore(
            ground, saved, agent=valid_agent(other) if other is not None else saved.agent,
            path=wanted_path(path, os.getcwd()) if path is not None else None, policy=site.policy,
        )  # fmt: skip
        _, unequipped = equip(ground.git, ground.repository.common_dir, ground.layout, done.record.path)
        scratch = scratch_folder(ground.layout, done.record.agent)
    finally:
        undo()
    warnings = [*_warnings(done), *unequipped]
    is_new = done.begun.is_new and done.record.branch is not None
    data = {
        "worktree": worktree_json(done.record, done.begun.base, scratch, is_new),
        "lease": None,
        "snapshot": saved.id,
        "snapshots": [_json(saved)],
        "warnings": [visible(text) for text in warnings],
    }
    return Answer(lines=_lines(done), notes=[warning(visible(text)) for text in warnings], data=data)


def _warnings(done: Restored) -> list[str]:
    found = [recovered_line(one) for one in done.begun.recovered]
    if done.because is not None:
        found.append(f"HEAD is detached there, since {done.because}")
    if done.halted is not None:
        found.append(f"{with_article(done.saved.operation or '')} was in progress, and is not any more: {done.halted}")
    found += [f"'{path}' was not in the snapshot: {why}" for path, why in done.left_out]
    found += [f"the ignored file '{path}' could not be brought back" for path in done.missing]
    return found


def _lines(done: Restored) -> list[str]:
    record, saved = done.record, done.saved
    head = (saved.head or "")[:SHORT]
    branch = f"branch   {visible(record.branch)} @ {head}" if record.branch is not None else f"detached @ {head}"
    lines = [f"restored {saved.id}: {record.agent} in {visible(record.path)}", f"  {branch}"]
    brought = len(saved.aside) - len(done.missing)
    if brought:
        lines.append(f"  ignored  {brought} file{'' if brought == 1 else 's'}")
    if saved.operation is not None and done.halted is None:
        lines.append(f"  git      {with_article(saved.operation)} is in progress, as it was: git status")
    return [*lines, "  leases   not taken again", f"cd {word(record.path)}"]


def _listed(site: "Site", known: "list[Saved]") -> Answer:
    now = site.now().wall
    data = {
        "worktree": None, "lease": None, "snapshot": None, "snapshots": [_json(one) for one in known], "warnings": [],
    }  # fmt: skip
    if not known:
        return Answer(lines=["there is no snapshot"], data=data)
    lines = []
    for one in known:
        aside = f", {len(one.aside)} ignored ({show_size(one.bytes)})" if one.aside else ""
        left = show_duration(max(0.0, one.at + KEPT - now))
        place = visible(one.branch) if one.branch is not None else f"detached @ {(one.head or '')[:SHORT]}"
        lines.append(f"{one.id}  {one.agent}  {show_duration(now - one.at)} ago, for {left} more  {place}{aside}")
        lines += [f"          {visible(text)}" for text in one.why]
    return Answer(lines=lines, notes=[hint(f"git lock restore {known[0].id}")], data=data)


def _json(saved: "Saved") -> dict[str, object]:
    return {
        "id": saved.id,
        "agent": saved.agent,
        "path": envelope.name(saved.path),
        "branch": envelope.name(saved.branch),
        "head": saved.head,
        "commit": saved.commit,
        "saved_at": stamp(saved.at),
        "kept_until": stamp(saved.at + KEPT),
        "ignored_files": len(saved.aside),
        "ignored_bytes": saved.bytes,
        "why": [envelope.name(text) for text in saved.why],
        **envelope.raw([saved.path, saved.branch]),
    }


COMMAND = Command(
    "restore",
    "bring back a worktree that was retired",
    answer,
    text=(
        "Makes a worktree as it was when `git lock retire --force` removed it: what was staged, changed, deleted and "
        "never added, and ignored files, each as it lay there. ID is what retire printed, the beginning of it, or an "
        "agent that has one snapshot. It comes back on its branch where that is free and unmoved, else with HEAD "
        "detached; no branch is moved, and nothing is overwritten. Its leases are not taken again. A snapshot is kept "
        "for 30 days, also after it was restored."
    ),
    arguments="[ID]",
    most=1,
    options=(
        Option("--list", help="What can be brought back, the latest first."),
        Option("--path", kind=VALUE, metavar="DIR", help="Where to (where it was)."),
        Option("--as", kind=VALUE, metavar="AGENT", help="For another agent than it was made for."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.REFUSED, exitcodes.UNCHECKED),
    examples=("git lock restore --list", "git lock restore 1f0c9a2b --path ../again"),
)
