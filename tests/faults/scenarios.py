"""The commands that are disturbed, each with the repository that it runs in and the effect that it is to have."""

import os
import sys
from collections.abc import Callable
from typing import NamedTuple

from gitlock.domain.instant import Instant
from gitlock.domain.lease import Lease
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.git.hooks import HOOKS
from tests.faults.seeing import (
    Effect,
    becomes,
    gives_back_all,
    installs,
    nothing,
    queues,
    renews,
    store_of,
    takes,
    takes_over,
    uninstalls,
)
from tests.kit.program import ROOT, child_environment
from tests.kit.repo import Repo

OWN = "src/own.py"  # staged, and alice's
OLD_HOOK = "#!/bin/sh\necho ran >>\"$(git rev-parse --git-dir)/old-hook\"\n"

_LAUNCH = f"import sys; sys.path.append({str(ROOT)!r}); from gitlock.__main__ import main; main()"
_RICH = ("list", "history")  # these load other packages
_START = str(ROOT / "gitlock/entrypoints/hooks/start.py")


class Scenario(NamedTuple):
    """``done`` are the codes that acknowledge the effect; ``again`` those of the same command given once more after
    it. ``best_effort`` effects may be missing from an acknowledged answer."""

    name: str
    build: Callable[[Repo], None]
    words: tuple[str, ...]
    effect: Effect
    done: tuple[int, ...] = (0,)
    again: tuple[int, ...] = (0,)
    best_effort: bool = False
    soak: bool = False
    heavy: bool = False  # it makes many calls: a short run disturbs half as many

    @property
    def argv(self) -> list[str]:
        """The real interpreter and the real program, with as little before it as there can be."""
        if self.words[0] == "hook":
            return [sys.executable, "-I", "-S", _START, *self.words[1:]]
        lean = [] if self.words[0] in _RICH else ["-S"]
        return [sys.executable, "-I", *lean, "-c", _LAUNCH, *self.words]

    @property
    def env(self) -> dict[str, str]:
        """Alice's. Byte code and bundle are left alone: what others do in this checkout must not matter."""
        more = {"PYTHONDONTWRITEBYTECODE": "1", "GITLOCK_GIT_PID": str(os.getpid())}
        return child_environment(dict(more), agent="alice")


def bare_start(repo: Repo) -> None:
    """Nothing was claimed yet; one file is staged."""
    repo.write(OWN, "2\n")
    repo.git("add", OWN)


def beside_others(repo: Repo) -> None:
    """Alice, bob and carol hold something, and something was given back."""
    repo.lock("claim", OWN, agent="alice").ok()
    repo.lock("claim", "src/*", "--ttl", "2h", agent="alice").ok()
    repo.lock("claim", "docs/**", "--reason", "the manual", agent="bob").ok()
    repo.lock("claim", "--shared", "lib/", agent="carol").ok()
    repo.lock("claim", "deploy:staging", agent="bob").ok()
    repo.lock("release", "deploy:staging", agent="bob").ok()
    bare_start(repo)


def due(repo: Repo) -> None:
    """As before, and a heartbeat is due."""
    beside_others(repo)
    aged(repo, 1000.0)


def aged(repo: Repo, seconds: float) -> None:
    """Everybody's leases were renewed that much earlier."""
    _edited(repo, lambda lease, now: lease.replace(renewed=now.plus(-seconds)))


def _edited(repo: Repo, edit: Callable[[Lease, Instant], Lease]) -> None:
    def plan(snapshot: Snapshot) -> tuple[Edits, None]:
        return Edits(put=tuple(edit(lease, snapshot.now) for lease in snapshot.leases.all())), None

    store_of(repo.path).update(plan)


def with_old_hook(repo: Repo) -> None:
    """Leases, and a hook of somebody else's."""
    beside_others(repo)
    hook = repo.write(".git/hooks/pre-commit", OLD_HOOK)
    hook.chmod(0o755)


def installed(repo: Repo) -> None:
    """The gates are in, around somebody else's hook."""
    due(repo)
    hook = repo.write(".git/hooks/pre-commit", OLD_HOOK)
    hook.chmod(0o755)
    repo.install()


def lapsed(repo: Repo) -> None:
    """Everybody's leases are over, and nobody has noticed."""
    beside_others(repo)
    _edited(repo, lambda lease, now: lease.replace(ttl=5.0, renewed=now.plus(-60.0)))


def lost(repo: Repo) -> None:
    """The store was deleted; its mark is still there."""
    beside_others(repo)
    for file in repo.store.iterdir():
        file.unlink()
    repo.store.rmdir()


def committed(repo: Repo) -> None:
    """Alice's own file is committed, and the policy gives it back then."""
    repo.commit("policy", {".gitlock.toml": 'version = 1\n[policy]\nrelease_on = "commit"\n'})
    repo.lock("claim", OWN, agent="alice").ok()
    repo.lock("claim", "docs/**", agent="bob").ok()
    repo.write(OWN, "2\n")
    repo.git("add", OWN)
    aged(repo, 1000.0)
    repo.commit("own", env={"GITLOCK_BYPASS": "set-up"}, agent="alice")
    repo.write("README.md", "changed\n")
    repo.git("add", "README.md")


def asked(repo: Repo) -> None:
    """Dave asks alice for a part of what she holds."""
    beside_others(repo)
    repo.lock("request", "src/part.py", "-m", "one line", agent="dave").ok()


SCENARIOS = (
    Scenario("first-claim", bare_start, ("claim", "a/*", "b.txt"), takes("alice: a/* b.txt")),
    Scenario("claim", due, ("claim", "a/*", "b.txt"), takes("alice: a/* b.txt")),
    Scenario("release", beside_others, ("release", "--all"), gives_back_all("alice"), again=(13,)),
    Scenario("renew", due, ("renew",), renews("alice")),
    Scenario("check", due, ("check",), renews("alice"), best_effort=True),
    Scenario("install", with_old_hook, ("install",), installs(HOOKS), heavy=True),
    Scenario("uninstall", installed, ("uninstall",), uninstalls(HOOKS), heavy=True),
    Scenario("pre-commit", installed, ("hook", "pre-commit"), renews("alice"), best_effort=True),
    Scenario(
        "post-commit", committed, ("hook", "post-commit"), becomes(f"alice: {OWN}", None), best_effort=True
    ),
    Scenario(
        "ticket", beside_others, ("claim", "docs/a.md", "--ticket"), queues("alice"), done=(21,), again=(21,),
    ),
    Scenario("claim-lapsed", lapsed, ("claim", "docs/a", "lib/b"), takes_over("alice: docs/a lib/b", 2), soak=True),
    Scenario("shared", beside_others, ("claim", "--shared", "lib/a.c"), takes("alice: lib/a.c"), soak=True),
    Scenario("announce", beside_others, ("claim", "--intent", "docs/a"), takes("alice: docs/a"), soak=True),
    Scenario("key", beside_others, ("claim", "deploy:staging"), takes("alice: deploy:staging"), soak=True),
    Scenario("mine", due, ("mine",), renews("alice"), best_effort=True, soak=True),
    Scenario("list", due, ("list", "--all"), nothing, soak=True),
    Scenario("history", due, ("history", "--all"), nothing, soak=True),
    Scenario("gc", due, ("gc",), nothing, soak=True),
    Scenario("request", beside_others, ("request", "docs/a.md", "-m", "please"), nothing, soak=True),
    Scenario("inbox", asked, ("inbox",), nothing, soak=True),
    Scenario("prepare-commit-msg", installed, ("hook", "prepare-commit-msg", "m"), nothing, soak=True),
    Scenario("pre-merge-commit", installed, ("hook", "pre-merge-commit"), nothing, soak=True),
    Scenario(
        "narrow", beside_others, ("release", "src/part.py"),
        becomes("alice: src/*", "alice: src/* !src/part.py"), again=(0, 13), soak=True,
    ),
)  # fmt: skip
