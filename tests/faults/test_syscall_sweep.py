"""Killed at any system call, or failing at any call on a file of ours: nothing is torn, wedged, lost or told wrongly.

Each injection disturbs one run of the real program by strace. Then the store is read and written by another process,
and what was left on the disk is compared with the effect that the command should have had. What kinds of leftovers
there are is known from the disk; of each kind, and of every tenth besides, real commands are tried on one.
"""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from gitlock.domain.claim import Granted
from gitlock.errors import StoreError
from tests.faults.injecting import ERRORS, INTERRUPTED, KILL, Fault, Point, can_trace, injected, traced
from tests.faults.scenarios import OWN, SCENARIOS, Scenario
from tests.faults.seeing import NONE, WHOLE, Seen, look, store_of
from tests.kit.agents import Worker
from tests.kit.program import is_soak
from tests.kit.repo import Repo
from tests.kit.result import Result

T = TypeVar("T")

KILLS, FAILURES = 62, 52  # injections a scenario in a short run
AT_ONCE = 2
TRIED = 10  # of so many, one is tried by real commands whatever it looks like

pytestmark = [
    pytest.mark.skipif(not can_trace(), reason="strace can't trace here"),
    pytest.mark.timeout(7200 if is_soak() else 600),
]
scenarios = pytest.mark.parametrize(
    "scenario", [one for one in SCENARIOS if is_soak() or not one.soak], ids=lambda one: one.name
)


class Slot:
    """One repository, put back to the same state before each injection. Always at the same path: a store in another
    place would be a copy."""

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        self.scenario = scenario
        self.repo = Repo.new(folder, {"README.md": "hello\n", OWN: "1\n"}, options=("--template=",))
        scenario.build(self.repo)
        self.before = look_or_none(self.repo)
        self._saved = folder / "saved"
        self.keep()

    def keep(self) -> None:
        """From now on it is put back to how it is now."""
        shutil.rmtree(self._saved, ignore_errors=True)
        shutil.copytree(self.repo.path, self._saved, symlinks=True)

    def reset(self) -> None:
        """Puts it back."""
        shutil.rmtree(self.repo.path)
        shutil.copytree(self._saved, self.repo.path, symlinks=True)

    def points(self) -> list[Point]:
        """The calls of one undisturbed run."""
        found = traced(
            self.scenario.argv, self.repo.path, self.scenario.env, self._saved.parent / "log", self.scenario.done
        )
        self.reset()
        return found


def look_or_none(repo: Repo) -> Seen | None:
    """What is there; None where the store says that it can't tell."""
    try:
        return look(repo.path)
    except StoreError:
        return None


@pytest.fixture
def slots(scenario: Scenario, tmp_path: Path) -> list[Slot]:
    folders = [tmp_path / f"slot-{number}" for number in range(AT_ONCE)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda folder: Slot(folder, scenario), folders))


@scenarios
def test_a_command_killed_anywhere_leaves_all_or_nothing_and_nothing_in_the_way(slots: list[Slot]) -> None:
    points = slots[0].points()
    ours = [point for point in points if point.path]
    others = [point for point in points if not point.path]
    if not is_soak():
        count = KILLS // (1 + slots[0].scenario.heavy)
        ours = evenly(ours, count - 12)
        others = evenly(others, count - len(ours))
    assert_all_hold(slots, [Fault(point, KILL) for point in (*ours, *others)])


@scenarios
def test_a_call_that_fails_is_answered_and_changes_all_or_nothing(slots: list[Slot]) -> None:
    ours = [point for point in slots[0].points() if point.path]
    faults = [
        Fault(point, what, lasting)
        for point in ours
        for what in ERRORS
        for lasting in (False, True)
        if not (lasting and what == INTERRUPTED)
    ]
    if not is_soak():
        faults = evenly(faults, FAILURES // (1 + slots[0].scenario.heavy))
    assert_all_hold(slots, faults)


def test_a_short_run_injects_a_thousand_faults() -> None:
    assert sum((KILLS + FAILURES) // (1 + one.heavy) for one in SCENARIOS if not one.soak) >= 1000


def evenly(items: list[T], count: int) -> list[T]:
    """So many of them, from everywhere; the steps are never a whole number, so that no kind of fault is left out."""
    return [items[int(number * len(items) / count)] for number in range(count)] if len(items) > count else items


def assert_all_hold(slots: list[Slot], faults: list[Fault]) -> None:
    """Injects each, some at once, and fails with everything that went wrong."""
    kinds: set[object] = set()

    def work(number: int) -> list[str]:
        return [
            f"{fault}: {wrong}"
            for turn, fault in enumerate(faults[number :: len(slots)])
            for wrong in what_is_wrong(slots[number], fault, kinds, try_it=turn % TRIED == 0)
        ]

    with ThreadPoolExecutor(len(slots)) as pool:
        found = [line for lines in pool.map(work, range(len(slots))) for line in lines]
    assert not found, f"{len(found)} of {len(faults)}:\n" + "\n".join(found[:40])


def what_is_wrong(slot: Slot, fault: Fault, kinds: set[object], *, try_it: bool) -> Iterator[str]:
    """Injects one fault and yields what does not hold after it."""
    slot.reset()
    scenario, repo = slot.scenario, slot.repo
    result = injected(scenario.argv, repo.path, scenario.env, fault)
    yield from what_it_said_wrong(scenario, fault, result)
    after = look_or_none(repo)
    effect = "unreadable" if after is None else NONE
    if after is not None and slot.before is not None:
        effect = scenario.effect(slot.before, after)
        if effect not in (NONE, WHOLE):
            yield f"half done ({result.code}): {effect}"
        if effect == NONE and result.code in scenario.done and not (scenario.best_effort or says_less(result)):
            yield f"acknowledged ({result.code}), and not there"
        if after.index_file != slot.before.index_file:
            yield "the index was touched"
        if after.config_file != slot.before.config_file:
            yield "git's configuration was touched"
    kind = (effect, leftovers(repo.path))
    is_new = kind not in kinds
    kinds.add(kind)
    yield from what_is_in_the_way(repo, after or slot.before)
    if is_new or try_it:
        yield from what_does_not_work(slot, result, effect)


def says_less(result: Result) -> bool:
    """Whether it warned that not everything was done: install goes on beside a hook that it can't read."""
    return "not fully enforced" in result.err


def what_it_said_wrong(scenario: Scenario, fault: Fault, result: Result) -> Iterator[str]:
    """A fault may end the command, but not in a traceback, nor with a code that means something else."""
    if "Traceback" in result.err or "Error:" in result.err:
        yield f"a traceback ({result.code}):\n{result.err}"
    if fault.what == KILL:
        return
    if result.code == 2 and result.err.startswith("git-lock: can't read .gitlock.toml: "):
        return
    if result.code not in (*scenario.done, 20, 1):
        yield f"code {result.code}: {result.err}"
    if result.code in (1, 20) and not result.err.startswith("git-lock: "):
        yield f"code {result.code} without a word why: {result.err}"


def leftovers(path: Path) -> frozenset[tuple[str, bool]]:
    """What lies in our folders: each file's name without process ids and the like, and whether it is empty."""
    found = [*path.glob(".git/agentlocks*"), *path.glob(".git/agentlocks/**/*"), *path.glob(".git/hooks/*")]
    found += path.glob(".git/gitlock-*")
    names = ((file, "".join("#" if char.isdigit() else char for char in file.name)) for file in found)
    return frozenset((name, file.is_file() and file.stat().st_size == 0) for file, name in names)


def what_is_in_the_way(repo: Repo, seen: Seen | None) -> Iterator[str]:
    """Another process reads the store and takes something at once; its fence was never given before."""
    try:
        answer = Worker(store_of(repo.path), "zoe").claim("zoe/*")
    except StoreError as error:
        yield f"the next claim: {error}"
        return
    if not isinstance(answer, Granted):
        yield f"the next claim: {answer}"
    elif seen is not None and answer.lease.fence <= seen.highest:
        yield f"fence {answer.lease.fence} was given before (up to {seen.highest})"


def what_does_not_work(slot: Slot, result: Result, effect: str) -> Iterator[str]:
    """Real commands on what is left: git's own, ours, and the disturbed one once more."""
    scenario, repo = slot.scenario, slot.repo
    must: list[tuple[str, Callable[[], Result], tuple[int, ...]]] = [
        ("git status", lambda: repo.git("status", "--porcelain", check=False), (0,)),
        ("list", lambda: repo.lock("list", "--json", agent="dora"), (0,)),
        ("once more", lambda: repo.run(*scenario.argv, env=scenario.env), (*scenario.done, *scenario.again)),
        ("claim", lambda: repo.lock("claim", OWN, agent="alice"), (0,)),
        ("commit", lambda: repo.commit("goes on", agent="alice", check=False), (0,)),
        ("history", lambda: repo.lock("history", "--json", agent="dora"), (0,)),
    ]
    for what, run, codes in must:
        done = run()
        if done.code not in codes or "Traceback" in done.err:
            yield f"then {what} ({effect} after {result.code}): {done!r}"
            return
    if scenario.name in ("install", "uninstall"):
        yield from what_is_not_given_back(slot)


def what_is_not_given_back(slot: Slot) -> Iterator[str]:
    """Whatever was interrupted: after one whole uninstall every hook is what it was before us, and nothing else is
    left."""
    assert slot.before is not None
    slot.repo.lock("uninstall").ok()
    left = {file.name: file.read_bytes() for file in slot.repo.path.glob(".git/hooks/*")}
    ended = ".before-git-lock"
    hooks = slot.before.hooks
    wanted = {name.removesuffix(ended): text for name, text in hooks.items() if name.endswith(ended)} or hooks
    if left != wanted:
        yield f"uninstall left {sorted(left)}, wanted {sorted(wanted)}"
    if "ran" not in (slot.repo.path / ".git/old-hook").read_text():
        yield "the hook of before did not run"
