"""``git lock doctor``."""

import os
from textwrap import wrap

from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.commands.install import OPT_OUT, install_here, program_file
from gitlock.entrypoints.cli.options import Command, Given, Option
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.wording import visible
from gitlock.errors import GitlockError, RepositoryError, StoreError
from gitlock.git.checkouts import list_checkouts, repository_at
from gitlock.git.config import is_true
from gitlock.git.hooks import installed_hooks
from gitlock.usecases.examining.claims import dead_patterns, from_gone_worktrees, live_leases, unanchored
from gitlock.usecases.examining.finding import BAD, FIXED, NOTE, OK, Finding
from gitlock.usecases.examining.gitstate import core_bare, gone_worktrees, left_locks
from gitlock.usecases.examining.hooks import examine_hooks, shared_by_agents
from gitlock.usecases.examining.surroundings import git_version, medium, program, siblings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.lease import Lease
    from gitlock.git.repository import Repository
    from gitlock.wiring.site import Site

COLUMNS = 80
_INDENT = 19  # columns before the sentence
_LOCKS = ("index.lock", "HEAD.lock")
_COMMON_LOCKS = ("config.lock", "packed-refs.lock")


def answer(given: Given) -> Answer:
    """Looks at everything that leases rest on, in every worktree; mends what is safe to mend when asked to."""
    fix = given.flag("fix")
    findings: list[Finding] = []
    try:
        site = site_of(given)
    except RepositoryError as error:
        if error.id != "core-bare":
            raise
        findings.append(_unbared(error, fix=fix))
        if not fix:
            return _answered(findings, None, ())
        site = site_of(given)
    findings += _repository(site, fix=fix, here=given.flag("here"))
    said = _worktrees(site, findings, fix=fix, here=given.flag("here"))
    return _answered(findings, site.repository.top, said)


def _unbared(error: RepositoryError, *, fix: bool) -> Finding:
    if not fix:
        return Finding("core.bare", BAD, error.message, error.hint)
    from gitlock.wiring.neighbours import git_here

    git_here().run("config", "core.bare", "false")
    return Finding("core.bare", FIXED, f"{error.message}: it is false again")


def _repository(site: "Site", *, fix: bool, here: bool) -> list[Finding]:
    """What is so in every worktree."""
    repository, git = site.repository, site.repository.git
    findings = [_store(site, fix=fix), *_policy(site)]
    bare = core_bare(git, repository.common_dir)
    if bare is not None and fix:
        git.run("config", "--file", os.path.join(repository.common_dir, "config"), "core.bare", "false")
        bare = bare.replace(state=FIXED, what=f"{bare.what}: it is false again", next=None)
    findings += [bare] if bare is not None else []
    findings += program(git, site.environ.get("PATH", ""), program_file())
    findings += git_version(git)
    findings += _medium(site)
    findings += siblings(repository.top or repository.common_dir, repository.common_dir, site.environ.get("HOME"))
    at_work = _at_work(repository)
    findings += left_locks(repository.common_dir, _COMMON_LOCKS, site.now().wall, at_work, None)
    leases = _leases(site)
    many = unanchored(leases)
    findings += [many] if many is not None else []
    findings += from_gone_worktrees(leases, site.here.host)
    findings += _crowds(site, leases)
    findings += _programs(site, here=here)
    findings += _agents(site, fix=fix)
    return findings


def _crowds(site: "Site", leases: "list[Lease]") -> list[Finding]:
    from gitlock.stores.files.sessions import SessionBook
    from gitlock.usecases.examining.crowding import crowded

    try:
        sessions = SessionBook(site.store.layout).all()
    except GitlockError:
        return []  # the store's own finding says what is wrong
    return crowded(sessions, leases, site.liveness_of, site.now().wall)


def _programs(site: "Site", *, here: bool) -> list[Finding]:
    """The agent programs that are set up here, or at work: what is set up is fed."""
    from gitlock.entrypoints.cli.surgery import look_at_programs

    return look_at_programs(site, program_file(), here=here) if site.repository.top is not None else []


def _agents(site: "Site", *, fix: bool) -> list[Finding]:
    """The worktrees that were made for agents, where there are any worktrees at all."""
    if not os.path.isdir(os.path.join(site.repository.common_dir, "worktrees")) and not os.path.isdir(site.folder):
        return []
    from gitlock.entrypoints.cli.grounding import ground_of
    from gitlock.usecases.examining.removals import broken_off
    from gitlock.usecases.examining.worktrees import agents_worktrees

    try:
        return broken_off(site, fix=fix) + agents_worktrees(ground_of(site), fix=fix)
    except GitlockError as error:
        return [Finding("worktree", BAD, f"the worktrees of agents can't be looked at: {error.message}", error.hint)]


def _worktrees(site: "Site", findings: list[Finding], *, fix: bool, here: bool) -> tuple[str, ...]:
    """What is so in each worktree; answers what a rehearsed commit was told in this one."""
    own = site.repository
    said: tuple[str, ...] = ()
    places = [own] if own.top is not None else []
    if not here:
        checkouts = list_checkouts(own.git)
        findings += gone_worktrees(checkouts)
        for one in checkouts:
            if one.bare or one.gone or (own.top is not None and _same(one.path, own.top)):
                continue
            try:
                places.append(repository_at(own.git, one.path))
            except GitlockError as error:
                findings.append(Finding("worktree", BAD, f"'{one.path}': {error.message}", error.hint, one.path))
    if fix:
        findings += _reinstalled(site)
    leases = _leases(site)
    for repository in places:
        first = repository is own
        if first and _is_off(site):
            findings.append(Finding("hooks", NOTE, "the policy here is off: nothing is enforced", None, own.top))
        more, told = examine_hooks(repository, site.clock.now, every=first)
        said = told if first else said
        findings += more
        if repository.linked or not own.bare:
            at_work = _at_work(repository)
            findings += left_locks(repository.git_dir, _LOCKS, site.now().wall, at_work, repository.top)
        shared = shared_by_agents(repository, leases)
        findings += [shared] if shared is not None else []
    return said


def _store(site: "Site", *, fix: bool) -> Finding:
    from gitlock.stores.files.repair import diagnose, is_mendable, repair

    try:
        fault = diagnose(site.store)
        if fault is None:
            snapshot = site.store.read()
            held = snapshot.leases.count()
            leases = f"{held} lease{'' if held == 1 else 's'}"
            return Finding("store", OK, f"the store can be read: revision {snapshot.revision}, {leases}")
    except StoreError as error:
        fault = error
    if not fix or not is_mendable(fault):
        return Finding("store", BAD, fault.message, fault.hint)
    done = repair(site.store, site.now().wall)
    what = f"the store was broken ({fault.message})"
    what += f": epoch {done.epoch} begins, claim again what you work on" if done.epoch is not None else ": mended"
    what += "".join(f"; what was there is kept as '{path}'" for path in done.evidence)
    return Finding("store", FIXED, what, "git lock mine")


def _policy(site: "Site") -> list[Finding]:
    try:
        policy = site.policy
        good = Finding("policy", OK, f"the policy is {policy.general_mode(site.agent.kind)}, {policy.source}")
        dead = dead_patterns(site.repository.git, policy, site.fold) if site.repository.top is not None else []
    except GitlockError as error:
        return [Finding("policy", BAD, error.message, error.hint)]
    return [good, *dead]


def _medium(site: "Site") -> list[Finding]:
    from gitlock.stores.files.medium import look_at_medium

    folder = site.store_folder if os.path.isdir(site.store_folder) else site.repository.common_dir
    return medium(look_at_medium(folder), site.clock.boot)


def _leases(site: "Site") -> list["Lease"]:
    try:
        return live_leases(site.store.read(), site.facts)
    except GitlockError:
        return []  # said already, as what is wrong with the store


def _is_off(site: "Site") -> bool:
    try:
        return site.policy.general_mode(site.agent.kind) == "off"
    except GitlockError:
        return False


def _reinstalled(site: "Site") -> list[Finding]:
    """Puts back what an install had put in, and completes one that was broken off; never the first install."""
    setting = site.settings.get(OPT_OUT)
    hooks = installed_hooks(site.repository)
    if site.repository.top is None or not hooks or (setting is not None and not is_true(setting)):
        return []
    outcome = install_here(site, hooks)
    done = tuple(dict.fromkeys((*outcome.configured, *outcome.written)))
    if not done:
        return []
    return [Finding("hooks", FIXED, f"installed again: {', '.join(done)}", None, site.repository.top)]


def _at_work(repository: "Repository") -> "Callable[[], list[int] | None]":
    from gitlock.wiring.neighbours import git_at_work

    return lambda: git_at_work(*(place for place in (repository.top, repository.git_dir) if place is not None))


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _answered(findings: list[Finding], here: str | None, said: tuple[str, ...]) -> Answer:
    shown = [one.replace(what=visible(one.what), next=visible(one.next) if one.next else None) for one in findings]
    data = {"findings": [_json(one) for one in shown]}
    lines = _lines(shown, here, said)
    bad = [one for one in shown if one.state == BAD]
    if not bad:
        return Answer(lines=lines, data=data)
    worst = next((one for one in bad if one.about == "store"), bad[0])
    code = exitcodes.UNCHECKED if worst.about == "store" else exitcodes.ERROR
    fault = envelope.error("not-well", f"{len(bad)} thing{'' if len(bad) == 1 else 's'} to mend", worst.next)
    return Answer(code, lines=lines, data=data, fault=fault)


def _json(one: Finding) -> dict[str, object]:
    return {
        "about": one.about,
        "state": one.state,
        "what": one.what,
        "next": one.next,
        "worktree": envelope.name(one.worktree),
    }


def _lines(findings: list[Finding], here: str | None, said: tuple[str, ...]) -> list[str]:
    """Grouped by worktree, one line a finding where it fits; a command is never broken."""
    lines: list[str] = []
    for worktree in dict.fromkeys((None, *(one.worktree for one in findings))):
        group = [one for one in findings if one.worktree == worktree]
        if worktree is not None:
            lines += ["", f"worktree {visible(worktree)}{' (this one)' if worktree == here else ''}"]
        for one in group:
            rows = wrap(one.what, COLUMNS - _INDENT, break_long_words=False, break_on_hyphens=False) or [""]
            lines.append(f"  {one.state:<5} {one.about:<10} {rows[0]}".rstrip())
            lines += [" " * _INDENT + row for row in rows[1:]]
            if one.next and one.state != OK:
                lines.append(" " * _INDENT + f"next: {one.next}")
            if one.about == "rehearsal" and one.state == OK and worktree == here:
                lines += ["    | " + visible(row) for row in said]
    return lines


COMMAND = Command(
    "doctor",
    "is everything in order here?",
    answer,
    text=(
        "Proves in every worktree that git's hooks ask: the hook that git runs is rehearsed on a made-up change, with "
        "an index and a store of its own; nothing is committed, and no hook but ours runs. Hooks of agent programs "
        "that are set up are fed a made-up edit, as the program would, and the answer is read as it would "
        "(docs/agents.md). Looks at the store, the map file, the disk, the clock, what other programs left, and who "
        "else keeps locks here."
    ),
    options=(
        Option("--fix", help="Mend what is safe to mend: a broken store, core.bare, hooks that were installed."),
        Option("--here", help="Look at this worktree only."),
    ),
    codes=(exitcodes.DONE, exitcodes.ERROR, exitcodes.UNCHECKED),
    examples=("git lock doctor", "git lock doctor --fix"),
)
