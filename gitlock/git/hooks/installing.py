"""Putting our stubs in.

The promise, for each hook: killed at any step, it is either still the old one, or already ours with the old one
chained. So the new file is complete before anybody can see it, the old one gets its second name before it loses its
first, and each change is one rename. What was there is never copied: renamed, it keeps its bytes, mode and times.
"""

import errno
import hashlib
import os
import re
import tempfile

from gitlock.domain.value import Value
from gitlock.errors import UsageError
from gitlock.git.config import WANTED, is_true
from gitlock.git.hooks import configured
from gitlock.git.hooks.disk import (
    FRESH,
    Guard,
    Record,
    give_to_owner,
    has_same_content,
    is_there,
    sync_folder,
    unlink,
    unwritable,
    write_fresh,
)
from gitlock.git.hooks.looking import HOOKS, Hook, look, seen
from gitlock.git.hooks.managers import Folder, find_folder, maker, read_script, script_of
from gitlock.git.hooks.stub import BEFORE, provenance, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.repository import Repository

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

# Whether the sh that runs hooks sees which of two files is newer by a thousandth of a second.
_COMPARE = 'alias.gitlock-compare=!f() { [ "$2" -nt "$1" ] && ! [ "$1" -nt "$2" ]; }; f'


class InstallOutcome(Value):
    """What ``install`` did (in a rehearsal: would do), by names of hooks.

    ``configured`` were put into git's own configuration, ``written`` are stubs in the hooks folder. ``skipped`` are
    pairs of a hook and why it is in neither; ``advice`` is what to do by hand instead.
    """

    __slots__ = ("advice", "configured", "folder", "skipped", "unchanged", "written")

    def __init__(
        self,
        folder: Folder,
        written: tuple[str, ...],
        unchanged: tuple[str, ...],
        skipped: tuple[tuple[str, str], ...],
        advice: tuple[str, ...] = (),
        configured: tuple[str, ...] = (),
    ) -> None:
        self.folder = folder
        self.written = written
        self.unchanged = unchanged
        self.skipped = skipped
        self.advice = advice
        self.configured = configured


def install(
    repository: "Repository",
    *,
    template: str,
    interpreter: str,
    start: str,
    program: str | None,
    hooks: tuple[str, ...] = HOOKS,
    rehearse: bool = False,
) -> InstallOutcome:
    """Makes git ask us in this clone and its worktrees, beside whatever is there; completes a half-done install.

    ``template`` is the text of ``templates/hook.sh``. The stub starts ``interpreter`` on ``start``; where they are
    gone, ``program``; where that is gone too, the git-lock on the PATH. A git with configured hooks gets both ways,
    since another git of this machine may have none. ``rehearse`` only says what would be done.
    """
    unknown = [name for name in hooks if name not in HOOKS]
    if unknown:
        raise UsageError(f"'{unknown[0]}' is no hook of ours", hint=f"--hooks {','.join(HOOKS)}")
    folder = find_folder(repository, HOOKS)
    modern = configured.understands(repository.git)
    if folder.kind != "own" and not modern:
        return _refer(folder, hooks)
    if rehearse:
        return _rehearsed(repository, folder, hooks, modern=modern)
    try:
        with Guard(repository.common_dir):
            store, mode = store_of(repository)
            values = {"PYTHON": interpreter, "START": start, "PROGRAM": program or "", "WANTED": WANTED}
            values["FINE"] = "yes" if _has_fine_times(repository, store) else "no"
            asked: tuple[str, ...] = ()
            if modern:
                own = {**values, "FRAMEWORK": "no", "WAY": "configured"}
                asked = configured.put(
                    repository.git, repository.common_dir, hooks, lambda name: render(template, {**own, "HOOK": name})
                )
            if folder.kind != "own":
                return InstallOutcome(folder, (), tuple(n for n in hooks if n not in asked), (), configured=asked)
            outcome = _install(folder, hooks, template, {**values, "WAY": "folder"}, Record(store), mode)
    except OSError as fault:
        raise unwritable(folder.path, fault) from fault
    if not modern:
        return outcome
    unchanged = tuple(name for name in outcome.unchanged if name not in asked)
    # What can't be in the hooks folder is asked through the configuration all the same.
    return outcome.replace(configured=asked, skipped=(), unchanged=unchanged)


def _refer(folder: Folder, hooks: tuple[str, ...]) -> InstallOutcome:
    """Nothing is written into a folder that is not ours; hooks that call us already are well."""
    there = tuple(name for name in hooks if seen(folder, name).fires)
    skipped = tuple((name, folder.because or "") for name in hooks if name not in there)
    advice = dict.fromkeys((folder.advice or "").replace("{hook}", name) for name, _ in skipped)
    return InstallOutcome(folder, (), there, skipped, tuple(advice))


def _rehearsed(repository: "Repository", folder: Folder, hooks: tuple[str, ...], *, modern: bool) -> InstallOutcome:
    """What would be done: a hook that asks us already stays, the others would be written."""
    asked = configured.configured(repository.git, repository.common_dir, hooks) if modern else {}
    configured_now = tuple(name for name in hooks if modern and name not in asked)
    if folder.kind != "own":
        return InstallOutcome(folder, (), tuple(asked), (), configured=configured_now)
    reasons = {name: _why_not(look(folder, name)) for name in hooks}
    skipped = tuple((name, reason) for name, reason in reasons.items() if reason is not None)
    there = tuple(name for name in hooks if reasons[name] is None and look(folder, name).fires)
    written = tuple(name for name in hooks if reasons[name] is None and name not in there)
    return InstallOutcome(folder, written, there, () if modern else skipped, configured=configured_now)


def _install(
    folder: Folder, hooks: tuple[str, ...], template: str, values: dict[str, str], record: Record, mode: int
) -> InstallOutcome:
    steps: dict[str, tuple[str, bytes]] = {}
    unchanged: list[str] = []
    skipped: list[tuple[str, str]] = []
    for name in hooks:
        hook = look(folder, name)
        reason = _why_not(hook)
        if reason is not None:
            skipped.append((name, reason))
            continue
        target = hook.ours or hook.path
        present = read_script(target)
        chained = hook.path + BEFORE if provenance(present) or hook.state == "absent" else hook.path
        framework = "yes" if maker(read_script(chained)) == "pre-commit" else "no"
        wanted = render(template, {**values, "HOOK": name, "FRAMEWORK": framework})
        if hook.fires and (present == wanted or not provenance(present)):
            unchanged.append(name)
        else:
            steps[name] = (target, wanted)
    if steps:
        if not os.path.isdir(folder.path):
            record.made.append(folder.path)
        record.stubs.update({target: hashlib.sha256(wanted).hexdigest() for target, wanted in steps.values()})
        record.write(mode)
        os.makedirs(folder.path, exist_ok=True)
    for target, wanted in steps.values():
        _put(target, wanted)
    return InstallOutcome(folder, tuple(steps), tuple(unchanged), tuple(skipped))


def installed_hooks(repository: "Repository") -> tuple[str, ...]:
    """The hooks that were put in here once, as the record and what is left of them say; empty where none ever was."""
    common = repository.common_dir
    record = Record(os.path.join(common, "agentlocks"))
    names = {os.path.basename(path).removesuffix(".legacy") for path in record.stubs}
    names |= set(configured.names(configured.folder_of(common)))
    names |= {name for name in HOOKS if provenance(read_script(os.path.join(common, "hooks", name)))}
    return tuple(name for name in HOOKS if name in names)


def _why_not(hook: Hook) -> str | None:
    """Why this hook can't be ours, or None."""
    path, before = hook.path, hook.path + BEFORE
    if not is_there(path):
        return None
    try:
        origin = provenance(script_of(path))
    except OSError as fault:
        return f"'{path}' can't be read ({fault.strerror}), so it can't be told whose it is"
    if origin == "edited":
        return f"'{path}' is a stub of ours that somebody has edited; take it away, and install again"
    if origin and os.path.islink(path):
        return f"'{path}' is a link to a stub of ours; take the link away, and install again"
    if not os.path.islink(path) and not os.path.isfile(path):
        return f"'{path}' is no file"
    if hook.fires or origin or not os.path.lexists(before) or has_same_content(path, before):
        return None
    return (
        f"another program has put its hook over ours, while '{before}' keeps the one from before us: "
        "leave the one that you want under the hook's name, take the other away, and install again"
    )


def _put(path: str, data: bytes) -> None:
    """Puts our stub at ``path``; a hook that is there gets its second name first."""
    write_fresh(path, data, 0o755)
    try:
        if is_there(path) and not provenance(script_of(path)):
            _set_aside(path, path + BEFORE)
        os.rename(path + FRESH, path)
    except BaseException:
        unlink(path + FRESH)
        raise
    sync_folder(os.path.dirname(path))


def _set_aside(path: str, before: str) -> None:
    """Gives the hook at ``path`` the name ``before`` as well; a link stays the link that it is."""
    try:
        if not os.path.lexists(before):
            os.link(path, before, follow_symlinks=False)
        elif not os.path.samestat(os.lstat(path), os.lstat(before)):
            # Written once more by its maker, over our stub: this is the one whose times are to come back.
            unlink(before + FRESH)
            os.link(path, before + FRESH, follow_symlinks=False)
            os.rename(before + FRESH, before)
    except OSError as fault:
        if fault.errno not in _NO_LINKS:
            raise
        os.rename(path, before)  # a file system without second names: for a moment there is no hook


def store_of(repository: "Repository") -> tuple[str, int]:
    """The folder that marks a repository as managed, and the mode of a file in it."""
    store = os.path.join(repository.common_dir, "agentlocks")
    shared = repository.git.line("config", "--get", "core.sharedRepository") or ""
    mode = _shared_mode(shared.lower())
    if not os.path.isdir(store):
        os.mkdir(store, 0o700)
        os.chmod(store, mode)
        give_to_owner(store)
    return store, mode & 0o666


def _shared_mode(shared: str) -> int:
    """The mode of a folder, from ``core.sharedRepository``: never writable for all."""
    if shared in ("all", "world", "everybody", "2"):
        return 0o2775
    if re.fullmatch("0[0-7]+", shared):  # before true and false: git knows this for a mode by its first digit
        access = int(shared, 8) & 0o775
        return 0o2700 | access | (access & 0o444) >> 2
    if shared == "group" or is_true(shared):
        return 0o2770
    return 0o700


def _has_fine_times(repository: "Repository", store: str) -> bool:
    """Whether sh and the disk here tell times below a second apart; git is asked, as it knows its sh."""
    with tempfile.TemporaryDirectory(prefix=".times-", dir=store) as folder:
        older, newer = os.path.join(folder, "older"), os.path.join(folder, "newer")
        for number, path in enumerate((older, newer)):
            os.mkdir(path)
            os.utime(path, ns=(0, 1_700_000_000_500_000_000 + number * 1_000_000))
        return repository.git.try_run("-c", _COMPARE, "gitlock-compare", older, newer)[0] == 0
