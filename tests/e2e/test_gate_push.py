"""pre-push: every commit that the remote does not have yet, by its receipt, else by the leases that are live now."""

from pathlib import Path

import pytest

from tests.kit.gate import map_file, next_command, typed
from tests.kit.processes import until
from tests.kit.repo import Repo
from tests.kit.result import Result

SETTLED = "2020-01-01T00:00:00Z"  # before anybody could claim anything


class World:
    """A hub; a clone of it with the hooks in; a worktree each for alice and bob."""

    def __init__(self, folder: Path, policy: str | None = None) -> None:
        files: dict[str, str | bytes] = {"src/a.py": "a\n", "src/b.py": "b\n", "docs/x.md": "x\n"}
        if policy is not None:
            files[".gitlock.toml"] = map_file(policy)
        self.hub = Repo.new(folder, files=files, bare=True, name="hub.git")
        self.main = self.hub.clone("main")
        self.main.install()
        self.alice = self.main.worktree("alice-tree", "alice")
        self.bob = self.main.worktree("bob-tree", "bob")

    def work(self, agent: str, path: str, text: str, *, gate: bool = True) -> None:
        """One agent changes a file and commits it, past the gates if need be."""
        repo = {"alice": self.alice, "bob": self.bob}[agent]
        repo.write(path, text)
        repo.git("add", path)
        if gate:
            repo.git("commit", "-q", "-m", f"{agent}'s {path}", agent=agent)
        else:
            past_the_gates(repo, f"{agent}'s {path}")

    def push(self, agent: str, *what: str, env: dict[str, str | None] | None = None, to: str = "origin") -> Result:
        return {"alice": self.alice, "bob": self.bob}[agent].git("push", to, *what, agent=agent, env=env, check=False)

    def branches(self) -> list[str]:
        return self.hub.git("for-each-ref", "--format=%(refname:short)", "refs/heads/").out.split()


def past_the_gates(repo: Repo, message: str, *, when: str | None = None) -> None:
    """Commits the index as a program does that runs no hooks."""
    tree = repo.git("write-tree").out.strip()
    env = {} if when is None else {"GIT_COMMITTER_DATE": when}
    commit = repo.git("commit-tree", "-p", "HEAD", "-m", message, tree, env=env).out.strip()
    repo.git("update-ref", "HEAD", commit)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def overtaken(world: World) -> None:
    """alice commits under a lease that lapses; bob takes the same path, and lands on main."""
    world.alice.lock("claim", "src/a.py", "--ttl", "1s", agent="alice").ok()
    world.work("alice", "src/a.py", "alice\n")
    until(lambda: world.bob.lock("claim", "src/a.py", agent="bob").code == 0, "alice's lease lapses")
    world.work("bob", "src/a.py", "bob\n")
    world.push("bob", "HEAD:main").ok()


# -- what a receipt covers


def test_what_was_made_under_a_lease_is_pushed_and_the_ledger_with_it(world: World) -> None:
    world.alice.lock("claim", "src/*", agent="alice").ok()
    world.work("alice", "src/a.py", "new\n")
    pushed = world.push("alice", "alice").ok()
    assert "git-lock" not in pushed.err
    assert len(world.hub.git("for-each-ref", "refs/agentlocks/").lines) == 1


def test_a_receipt_counts_after_the_lease_was_given_back(world: World) -> None:
    world.alice.lock("claim", "src/*", agent="alice").ok()
    world.work("alice", "src/a.py", "new\n")
    world.alice.lock("release", "--all", agent="alice").ok()
    world.push("alice", "alice").ok()


def test_who_took_the_path_since_is_named_and_the_push_goes_on(world: World) -> None:
    world.alice.lock("claim", "src/a.py", agent="alice").ok()
    world.work("alice", "src/a.py", "new\n")
    world.alice.lock("release", "--all", agent="alice").ok()
    world.bob.lock("claim", "src/*", agent="bob").ok()
    pushed = world.push("alice", "alice").ok()
    assert "you were first, and now it is held by bob" in pushed.err


def test_work_that_was_overtaken_is_refused_by_commit_and_lease(world: World) -> None:
    overtaken(world)
    refused = world.push("alice", "alice").ended(1)
    head, landed = world.alice.head[:10], world.bob.head[:10]
    lease = world.bob.json("mine", agent="bob")["data"]["leases"][0]["id"]
    for text in (head, landed, lease, "overtaken", "fence 1", "fence 2"):
        assert text in refused.err
    assert "alice" not in world.branches()


def test_once_claimed_again_and_rebased_it_is_clear(world: World) -> None:
    overtaken(world)
    world.bob.lock("release", "--all", agent="bob").ok()
    world.alice.lock("claim", "src/a.py", agent="alice").ok()
    world.alice.git("rebase", "-q", "origin/main", agent="alice", check=False)
    world.alice.write("src/a.py", "both\n")
    world.alice.git("add", "src/a.py")
    world.alice.git("rebase", "--continue", agent="alice", env={"GIT_EDITOR": "true"})
    world.push("alice", "alice").ok()


def test_another_path_of_the_same_claim_is_not_overtaken(world: World) -> None:
    world.alice.lock("claim", "src/b.py", agent="alice").ok()
    world.work("alice", "src/b.py", "alice\n")
    world.bob.lock("claim", "src/a.py", agent="bob").ok()
    world.work("bob", "src/a.py", "bob\n")
    world.push("bob", "HEAD:main").ok()
    world.push("alice", "alice").ok()


# -- what no receipt covers


def test_a_path_that_another_holds_is_refused(world: World) -> None:
    world.bob.lock("claim", "src/*", "-m", "new login", agent="bob").ok()
    world.work("alice", "src/a.py", "past the gate\n", gate=False)
    refused = world.push("alice", "alice").ended(1)
    assert "held by bob" in refused.err
    assert "new login" in refused.err
    typed(world.alice, next_command(refused.err, "git lock who"), agent="alice").ok()
    assert "alice" not in world.branches()


def test_an_unclaimed_path_is_refused_with_a_command_that_works(world: World) -> None:
    world.bob.lock("claim", "docs/*", agent="bob").ok()
    world.work("alice", "src/a.py", "past the gate\n", gate=False)
    refused = world.push("alice", "alice").ended(1)
    typed(world.alice, next_command(refused.err, "git lock claim"), agent="alice").ok()
    world.push("alice", "alice").ok()


def test_without_any_claim_a_push_is_silent(world: World) -> None:
    world.work("alice", "src/a.py", "new\n", gate=False)
    pushed = world.push("alice", "alice").ok()
    assert "git-lock" not in pushed.err
    assert world.hub.git("for-each-ref", "refs/agentlocks/").out == ""


def test_what_is_older_than_the_store_passes(world: World) -> None:
    world.bob.lock("claim", "src/*", agent="bob").ok()
    world.alice.write("src/a.py", "old\n")
    world.alice.git("add", "src/a.py")
    past_the_gates(world.alice, "old", when=SETTLED)
    world.push("alice", "alice").ok()


def test_what_another_remote_has_is_not_judged_again(world: World) -> None:
    upstream = world.hub.clone("upstream")
    upstream.commit("theirs", {"src/a.py": "upstream\n"})
    world.bob.lock("claim", "src/*", agent="bob").ok()
    world.alice.git("remote", "add", "upstream", str(upstream.path))
    world.alice.git("fetch", "-q", "upstream")
    world.alice.git("merge", "-q", "--ff-only", "upstream/main")
    world.push("alice", "alice").ok()


@pytest.mark.parametrize(("mode", "said"), [("warn", True), ("off", False)])
def test_the_mode_decides_what_a_violation_does(world: World, mode: str, said: bool) -> None:
    world.bob.lock("claim", "src/*", agent="bob").ok()
    world.work("alice", "src/a.py", "x\n", gate=False)
    world.main.git("config", "gitlock.mode", mode)
    assert ("held by bob" in world.push("alice", "alice").ok().err) == said


def test_without_receipts_only_what_is_held_counts(tmp_path: Path) -> None:
    world = World(tmp_path, "[policy]\nreceipts = false")
    world.alice.lock("claim", "src/*", agent="alice").ok()
    world.work("alice", "src/a.py", "new\n")
    world.alice.lock("release", "--all", agent="alice").ok()
    world.push("alice", "alice").ok()
    world.bob.lock("claim", "src/b.py", agent="bob").ok()
    world.work("alice", "src/b.py", "new\n", gate=False)
    world.push("alice", "alice").ended(1)


def test_a_bypass_is_recorded_and_shown_at_the_next_gate(world: World) -> None:
    world.bob.lock("claim", "src/*", agent="bob").ok()
    world.work("alice", "src/a.py", "x\n", gate=False)
    world.push("alice", "alice", env={"GITLOCK_BYPASS": "the build is broken"}).ok()
    assert "the build is broken" in world.alice.lock("history", "--all").out
    world.alice.lock("claim", "docs/*", agent="alice").ok()
    world.alice.write("docs/x.md", "y\n")
    assert "pushed past the gate" in world.alice.git("commit", "-qam", "docs", agent="alice").err


# -- whatever the refs are called


@pytest.mark.parametrize("ref", ["HEAD:refs/heads/other", "HEAD:main", "+alice:refs/heads/x"])
def test_the_name_of_the_ref_does_not_matter(world: World, ref: str) -> None:
    world.bob.lock("claim", "src/*", agent="bob").ok()
    world.work("alice", "src/a.py", "x\n", gate=False)
    world.push("alice", ref).ended(1)


def test_what_git_replace_shows_here_is_not_what_is_pushed(world: World) -> None:
    world.bob.lock("claim", "src/a.py", agent="bob").ok()
    world.work("alice", "src/a.py", "new\n", gate=False)
    world.alice.git("replace", "HEAD", "HEAD~1")
    assert "is held by bob" in world.push("alice", "HEAD:refs/heads/new").ended(1).err


def test_a_tag_brings_its_commits(world: World) -> None:
    world.bob.lock("claim", "src/*", agent="bob").ok()
    world.work("alice", "src/a.py", "x\n", gate=False)
    world.alice.git("tag", "-a", "-m", "one", "v1")
    assert "held by bob" in world.push("alice", "v1").ended(1).err


def test_deletions_beside_other_refs_and_alone(world: World) -> None:
    world.bob.lock("claim", "docs/*", agent="bob").ok()
    world.push("alice", "main:refs/heads/old").ok()
    world.work("alice", "docs/x.md", "other\n", gate=False)
    world.push("alice", ":old", "alice").ended(1)
    world.push("alice", ":old").ok()
    assert world.branches() == ["main"]


def test_notes_are_about_commits_and_change_nobodys_file(world: World) -> None:
    world.bob.lock("claim", "**", agent="bob").ok()
    world.alice.git("notes", "add", "-m", "reviewed")
    world.push("alice", "refs/notes/commits").ok()


def test_a_push_to_a_url_is_judged_and_publishes_nothing(world: World) -> None:
    world.bob.lock("claim", "src/*", agent="bob").ok()
    world.push("alice", "alice", to=str(world.hub.path)).ok()
    world.work("alice", "src/a.py", "x\n", gate=False)
    assert "held by bob" in world.push("alice", "alice", to=str(world.hub.path)).ended(1).err
    assert world.hub.git("for-each-ref", "refs/agentlocks/").out == ""


def test_what_git_merged_by_itself_is_nobodys_change(world: World) -> None:
    world.bob.lock("claim", "src/*", agent="bob").ok()
    world.work("bob", "src/a.py", "bob\n")
    world.push("bob", "HEAD:main").ok()
    world.alice.lock("claim", "docs/*", agent="alice").ok()
    world.work("alice", "docs/x.md", "alice\n")
    world.alice.git("fetch", "-q")
    world.alice.git("merge", "-q", "--no-edit", "origin/main", agent="alice")
    world.push("alice", "alice").ok()


def test_a_thousand_refs_are_pushed_in_one_look(world: World) -> None:
    """The questions to git are counted: a new ref costs none of its own."""
    world.alice.lock("claim", "src/*", agent="alice").ok()
    world.work("alice", "src/a.py", "new\n")
    world.push("alice", "HEAD:refs/heads/first").ok()  # the ledger has arrived
    world.work("alice", "src/b.py", "new\n")
    few, many = (_questions(world, count) for count in (2, 1000))
    assert many == few > 0


def _questions(world: World, count: int) -> int:
    """How many gits the hook starts for that many new refs."""
    head = world.alice.head
    zero = "0" * 40
    lines = "".join(f"refs/heads/n{n} {head} refs/heads/n{n} {zero}\n" for n in range(count))
    trace = world.alice.path.parent / f"trace-{count}"
    env: dict[str, str | None] = {"GIT_TRACE": str(trace)}
    url = str(world.hub.path)
    world.alice.run("git-lock", "hook", "pre-push", "origin", url, agent="alice", input=lines, env=env).ok()
    return trace.read_text().count("trace: built-in: git")


# -- what goes with it


def test_a_ledger_that_does_not_arrive_only_warns(world: World) -> None:
    hook = world.hub.write("hooks/update", '#!/bin/sh\ncase $1 in refs/agentlocks/*) exit 1 ;; esac\n')
    hook.chmod(0o755)
    world.alice.lock("claim", "src/*", agent="alice").ok()
    world.work("alice", "src/a.py", "new\n")
    assert "was not published" in world.push("alice", "alice").ok().err


def test_the_policy_never_publishes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path, '[policy]\npublish = "never"')
    world.alice.lock("claim", "src/*", agent="alice").ok()
    world.work("alice", "src/a.py", "new\n")
    world.push("alice", "alice").ok()
    assert world.hub.git("for-each-ref", "refs/agentlocks/").out == ""


def test_what_was_pushed_is_given_back_once_it_has_arrived(tmp_path: Path) -> None:
    world = World(tmp_path, '[policy]\nrelease_on = "push"')
    world.alice.lock("claim", "src/*", agent="alice").ok()
    world.alice.lock("claim", "docs/*", agent="alice").ok()
    world.work("alice", "src/a.py", "new\n")
    world.push("alice", "alice").ok()
    until(lambda: "src/*" not in world.alice.lock("list").out, "the lease is given back")
    assert "docs/*" in world.alice.lock("list").out


def test_what_a_server_refused_is_kept(tmp_path: Path) -> None:
    world = World(tmp_path, '[policy]\nrelease_on = "push"')
    hook = world.hub.write("hooks/update", '#!/bin/sh\ncase $1 in refs/heads/*) exit 1 ;; esac\n')
    hook.chmod(0o755)
    world.alice.lock("claim", "src/*", agent="alice").ok()
    world.work("alice", "src/a.py", "new\n")
    world.push("alice", "alice").ended(1)
    hook.unlink()
    world.push("alice", "alice").ok()
    until(lambda: "src/*" not in world.alice.lock("list").out, "the lease is given back after the second push")
    released = [event for event in world.alice.json("history", "--all")["data"]["events"] if event["verb"] == "release"]
    assert len(released) == 1
