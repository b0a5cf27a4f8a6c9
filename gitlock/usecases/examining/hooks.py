"""Do git's hooks ask us in this worktree, and is it true what the files say?"""

import os
import stat

from gitlock.domain.quoting import word
from gitlock.errors import GitlockError
from gitlock.git.hooks import Folder, Installation, inspect
from gitlock.git.hooks.looking import look
from gitlock.git.hooks.managers import maker, read_script
from gitlock.usecases.examining.finding import BAD, NOTE, OK, Finding
from gitlock.usecases.examining.rehearsing import ASKED, REFUSED, Rehearsal, rehearse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitlock.domain.instant import Instant
    from gitlock.domain.lease import Lease
    from gitlock.git.repository import Repository

_SILENT = "git lock install"


def examine_hooks(
    repository: "Repository", now: "Callable[[], Instant]", *, every: bool
) -> tuple[list[Finding], tuple[str, ...]]:
    """The findings, and what the rehearsed commit was told. ``every``: not pre-commit alone is rehearsed, but all."""
    top = repository.require_top()
    installation = inspect(repository)
    findings = list(_folder(installation.folder, top))
    enforced = installation.enforced
    if installation.because is not None:
        what = f"NOT {'fully ' if enforced else ''}enforced here, because {installation.because}"
        findings.append(Finding("hooks", BAD, what, installation.advice, top))
    elif enforced:
        findings.append(Finding("hooks", OK, f"enforced here by: {', '.join(enforced)}", None, top))
    if enforced and installation.silent:
        what = f"git does not run these hooks of ours here, which refuse nothing: {', '.join(installation.silent)}"
        findings.append(Finding("hooks", NOTE, what, installation.advice, top))
    findings += _for_older_gits(installation, top)
    more, said = _rehearsed(repository, installation, now, every=every)
    return findings + more, said


def _rehearsed(
    repository: "Repository", installation: Installation, now: "Callable[[], Instant]", *, every: bool
) -> tuple[list[Finding], tuple[str, ...]]:
    top = repository.require_top()
    done: list[Rehearsal] = []
    for hook in installation.hooks:
        if hook.fires and (every or hook.name == "pre-commit"):
            try:
                done.append(rehearse(repository, hook, now))
            except (GitlockError, OSError) as error:
                return [Finding("rehearsal", NOTE, f"{hook.name} could not be rehearsed: {error}", None, top)], ()
    findings = []
    good = [one.hook for one in done if one.answer in (REFUSED, ASKED)]
    refused = next((one for one in done if one.answer == REFUSED), None)
    if refused is not None:
        alone = "" if refused.by_git else " (our part alone: its hook runs other programs as well)"
        others = f"; {', '.join(name for name in good if name != refused.hook)} asked as well" if len(good) > 1 else ""
        what = f"{refused.hook} was rehearsed: it refuses what another holds{alone}{others}"
        findings.append(Finding("rehearsal", OK, what, None, top))
    for one in done:
        if one.answer not in (REFUSED, ASKED):
            told = f": {one.said[-1]}" if one.said else ""
            findings.append(Finding("rehearsal", BAD, f"{one.hook} gave no answer when git ran it{told}", _SILENT, top))
    return findings, refused.said if refused is not None else ()


def _for_older_gits(installation: Installation, top: str) -> "Iterable[Finding]":
    """Hooks that only a git with configured hooks asks through, where another git could ask as well."""
    if installation.folder.kind != "own":
        return
    missing = [
        hook.name
        for hook in installation.hooks
        if hook.state == "configured" and not look(installation.folder, hook.name).fires
    ]
    if missing:
        what = f"a git before 2.54 (an editor may bring one) would not ask: {', '.join(missing)}"
        yield Finding("hooks", NOTE, what, "git lock install", top)


def _folder(folder: Folder, top: str) -> "Iterable[Finding]":
    """What is odd about the place where git looks, beyond whose it is."""
    if folder.scope == "worktree":
        what = f"core.hooksPath is set for this worktree alone, in config.worktree: '{folder.path}'"
        yield Finding("hooks-path", NOTE, what, "git config --worktree --unset core.hooksPath", top)
    if os.path.isdir(folder.path) and not stat.S_IMODE(os.stat(folder.path).st_mode) & 0o111:
        what = f"nobody may enter the hooks folder '{folder.path}', so git runs none of them"
        yield Finding("hooks-path", BAD, what, f"chmod u+x {word(folder.path)}", top)


def shared_by_agents(repository: "Repository", leases: "Iterable[Lease]") -> Finding | None:
    """Several agents in one worktree beside the pre-commit framework: while one commits, it takes away what the others
    have not staged yet (``git checkout -- .``), and puts it back afterwards if it can."""
    top = repository.require_top()
    agents = sorted({lease.agent.partition("/")[0] for lease in leases if lease.holder.worktree == top})
    hook = os.path.join(inspect(repository).folder.path, "pre-commit")
    texts = [read_script(hook), read_script(f"{hook}.before-git-lock")]
    if len(agents) < 2 or not any(maker(text) == "pre-commit" for text in texts):
        return None
    what = (
        f"{' and '.join(agents)} work in this worktree, and the pre-commit framework hides unstaged edits of all of "
        "them while one commits: give each a worktree of its own"
    )
    return Finding("framework", NOTE, what, f"git worktree add ../{agents[-1].replace('/', '-')}", top)
