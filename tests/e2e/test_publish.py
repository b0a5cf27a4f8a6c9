"""publish and fetch over real remotes: what one clone holds is known in the others, and nothing else is touched."""

import json
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitlock.domain.lease import Holder
from gitlock.stores.clock import SystemClock
from gitlock.stores.opening import open_store
from tests.kit.agents import Worker
from tests.kit.processes import Job, Running, run_at_once, start, until
from tests.kit.program import ROOT, child_environment, program
from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.schemas import assert_fits


class Team:
    """A bare hub, and clones of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hub = Repo.new(folder, files={"src/a.py": "a\n", "docs/x.md": "x\n"}, bare=True, name="hub.git")
        self.a = self.clone("a")
        self.b = self.clone("b")

    def clone(self, name: str, *options: str, url: str | None = None) -> Repo:
        self.hub.git("clone", "-q", *options, url or str(self.hub.path), str(self.folder / name))
        return Repo(self.folder / name)

    def ledgers(self) -> list[str]:
        return self.hub.git("for-each-ref", "--format=%(refname)", "refs/agentlocks/").out.split()


def says(result: Result, *texts: str) -> bool:
    """Whether all of this was said, to whichever stream."""
    for text in texts:
        assert text in result.out + result.err, result
    return True


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


def test_what_is_published_is_known_elsewhere_and_blocks_nobody(team: Team) -> None:
    team.a.lock("claim", "src/*", "-m", "new login").ok()
    team.a.lock("publish").ok()
    heard = team.b.lock("fetch", agent="bob").ok()
    assert says(heard, "alice on 'main'", "new login", "as of")
    claimed = team.b.lock("claim", "src/a.py", agent="bob").ok()
    assert "held in another clone by alice" in claimed.err
    assert "both cover 'src/a.py'" in claimed.err
    for words in (["check", "src/a.py"], ["who", "src"]):
        assert "held in another clone" in team.b.lock(*words, agent="bob").err


def test_the_list_counts_what_is_elsewhere_and_shows_it_when_asked(team: Team) -> None:
    team.a.lock("claim", "src/*", "deploy:staging").ok()
    team.a.lock("publish").ok()
    team.b.lock("fetch", agent="bob").ok()
    assert "1 lease is held in other clones" in team.b.lock("list").ok().out
    assert "deploy:staging src/*" in team.b.lock("list", "--all").ok().out
    answer = team.b.json("list")
    assert_fits("list", answer)
    assert [one["lease"]["agent"] for one in answer["data"]["elsewhere"]] == ["alice"]


def test_no_branch_tag_file_or_history_is_touched(team: Team) -> None:
    def seen(repo: Repo) -> list[str]:
        return [
            repo.git(*words).out
            for words in (
                ["branch", "-a"], ["tag"], ["log", "--all", "--format=%H"], ["reflog"], ["fsck", "--no-dangling"],
            )
        ]  # fmt: skip

    before = [seen(team.a), seen(team.b)]
    team.a.lock("claim", "src/*").ok()
    team.a.lock("publish").ok()
    team.b.lock("fetch", agent="bob").ok()
    assert [seen(team.a), seen(team.b)] == before
    assert team.b.git("status", "--porcelain").out == ""
    assert not (team.b.common_dir / "FETCH_HEAD").exists()


def test_the_overview_counts_what_other_clones_hold(team: Team) -> None:
    team.a.lock("claim", "src/*").ok()
    team.a.lock("publish").ok()
    team.b.lock("fetch").ok()
    said = team.b.lock().ok().lines
    assert said[:2] == [
        "nothing is held in this clone", "1 lease is held in other clones, as fetched last (git lock list --all)",
    ]  # fmt: skip
    answer = team.b.json()
    assert_fits("overview", answer)
    assert [one["lease"]["agent"] for one in answer["data"]["elsewhere"]] == ["alice"]


def test_a_release_reaches_the_others(team: Team) -> None:
    team.a.lock("claim", "src/*").ok()
    team.a.lock("publish").ok()
    team.b.lock("fetch").ok()
    team.a.lock("release", "--all").ok()
    assert says(team.a.lock("publish").ok(), "0 leases, 1 lately ended")
    assert "nothing is held in other clones" in team.b.lock("fetch").ok().out
    assert team.b.lock("claim", "src/a.py", agent="bob").ok().err == ""


def test_publishing_the_same_again_changes_nothing_there(team: Team) -> None:
    team.a.lock("claim", "src/*").ok()
    first = team.a.json("publish")
    again = team.a.json("publish")
    assert_fits("publish", first)
    assert (first["data"]["changed"], again["data"]["changed"]) == (True, False)
    assert first["data"]["commit"] == again["data"]["commit"]
    assert len(team.ledgers()) == 1


def test_a_clone_that_never_held_anything_says_nothing(team: Team) -> None:
    answer = team.a.json("publish")
    assert_fits("publish", answer)
    assert answer["data"]["commit"] is None
    assert team.ledgers() == []


def test_a_ledger_that_was_lost_at_the_remote_is_put_back(team: Team) -> None:
    team.a.lock("claim", "src/*").ok()
    team.a.lock("publish").ok()
    team.hub.git("update-ref", "-d", team.ledgers()[0])
    team.a.lock("publish").ok()
    assert len(team.ledgers()) == 1


def test_an_answer_that_was_lost_is_no_stranger(team: Team) -> None:
    team.a.lock("claim", "src/*").ok()
    team.a.lock("publish").ok()
    fetched = team.a.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/agentlocks-remote/").out.split()
    team.a.lock("claim", "docs/*").ok()
    team.a.lock("publish").ok()
    team.a.git("update-ref", fetched[1], fetched[0])  # as if the answer to the second had not come
    team.a.lock("release", "docs/*").ok()
    team.a.lock("publish").ok()
    assert len(team.ledgers()) == 1


def test_a_copy_of_a_clone_gets_a_name_of_its_own(team: Team) -> None:
    team.a.lock("claim", "src/*").ok()
    team.a.lock("publish").ok()
    shutil.copytree(team.a.path, team.folder / "copy")
    copy = Repo(team.folder / "copy")
    copy.lock("claim", "docs/*", agent="carol").ok()
    copy.lock("publish").ok()
    team.a.lock("publish").ok()
    assert len(team.ledgers()) == 2


def test_fifty_clones_publish_at_one_moment(team: Team) -> None:
    """One clone is made, and copied: fifty writers, one remote."""
    names = [f"clone-{number}" for number in range(50)]
    for name in names:
        shutil.copytree(team.a.path, team.folder / name)
        store = open_store("files", str(team.folder / name / ".git"), SystemClock())
        Worker(store, name, holder=Holder("host")).takes(f"src/{name}")
    argv = [str(program()), "publish", "--timeout", "60s"]
    jobs = [Job(argv, team.folder / name, child_environment()) for name in names]
    results = run_at_once(jobs)
    assert [result.code for result in results] == [0] * 50, [result.err for result in results if result.code]
    answer = team.b.json("fetch")
    assert_fits("fetch", answer)
    assert {one["lease"]["agent"] for one in answer["data"]["elsewhere"]} == set(names)


def test_ten_publications_of_one_clone_end_in_one_ledger(team: Team) -> None:
    for number in range(10):
        team.a.lock("claim", f"src/{number}", agent=f"agent-{number}").ok()
    jobs = [Job([str(program()), "publish", "--timeout", "60s"], team.a.path, child_environment()) for _ in range(10)]
    assert [result.code for result in run_at_once(jobs)] == [0] * 10
    assert len(team.ledgers()) == 1
    assert len(team.b.json("fetch")["data"]["elsewhere"]) == 10


def test_three_agents_in_two_clones_see_one_another(team: Team) -> None:
    team.a.lock("claim", "src/*", agent="alice").ok()
    team.a.lock("claim", "docs/*", agent="bob").ok()
    team.b.lock("claim", "tools/*", agent="carol").ok()
    for repo in (team.a, team.b):
        repo.lock("publish").ok()
    for repo in (team.a, team.b):
        repo.lock("fetch").ok()
    elsewhere = {
        repo.path.name: sorted(one["lease"]["agent"] for one in repo.json("list")["data"]["elsewhere"])
        for repo in (team.a, team.b)
    }
    assert elsewhere == {"a": ["carol"], "b": ["alice", "bob"]}


def test_it_works_from_a_linked_worktree_a_subfolder_and_in_a_shallow_clone(team: Team) -> None:
    team.a.worktree("wt").lock("claim", "src/*").ok()
    Repo(team.folder / "wt").lock("publish", cwd="src").ok()
    shallow = team.clone("shallow", "--depth", "1", url=team.hub.path.as_uri())
    shallow.lock("claim", "docs/*", agent="bob").ok()
    shallow.lock("publish").ok()
    assert says(shallow.lock("fetch", agent="bob").ok(), "src/*")
    assert len(team.ledgers()) == 2


def test_a_mirror_publishes_too(team: Team) -> None:
    mirror = team.clone("mirror.git", "--mirror")
    mirror.git("config", "remote.origin.mirror", "true")
    mirror.lock("claim", "deploy:staging").ok()
    mirror.lock("publish").ok()
    assert len(team.ledgers()) == 1
    assert "deploy:staging" in team.b.lock("fetch").ok().out


def test_hooks_of_the_repository_do_not_run(team: Team) -> None:
    for name in ("pre-push", "reference-transaction", "post-commit"):
        hook = team.a.write(f".git/hooks/{name}", f"#!/bin/sh\ntouch {team.folder}/ran-{name}\nexit 1\n")
        hook.chmod(0o755)
    team.a.lock("claim", "src/*").ok()
    team.a.lock("publish").ok()
    team.a.lock("fetch").ok()
    assert not list(team.folder.glob("ran-*"))


# -- what stands in the way


def test_without_a_remote_it_says_how_to_have_one(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path)
    assert says(repo.lock("publish").ended(1), "no remote", "git remote add origin")
    repo.lock("publish", "--remote", "nowhere").ended(2)


def test_a_remote_out_of_reach_is_20_with_a_command_that_shows_why(team: Team) -> None:
    team.a.git("remote", "set-url", "origin", str(team.folder / "gone.git"))
    team.a.lock("claim", "src/*").ok()
    for verb in ("publish", "fetch"):
        assert says(team.a.lock(verb).ended(20), "out of reach", "git ls-remote origin")
        answer = team.a.json(verb)
        assert_fits(verb, answer)
        assert answer["error"]["id"] == "remote-unreachable"


def test_a_remote_that_never_answers_is_left_after_the_time_out(team: Team) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        team.a.git("remote", "set-url", "origin", f"git://127.0.0.1:{silent.getsockname()[1]}/x")
        team.a.lock("claim", "src/*").ok()
        assert says(team.a.lock("publish", "--timeout", "1s").ended(20), "no answer within 1 s")


def test_a_server_that_refuses_is_17_and_says_what_to_do(team: Team) -> None:
    hook = team.hub.write("hooks/pre-receive", "#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    team.a.lock("claim", "src/*").ok()
    assert says(team.a.lock("publish").ended(17), "does not take the ledger", "refs/agentlocks/*")


def test_the_policy_never_is_kept(team: Team) -> None:
    team.a.write(".gitlock.toml", 'version = 1\n[policy]\npublish = "never"\n')
    team.a.lock("claim", "src/*").ok()
    assert says(team.a.lock("publish").ended(17), ".gitlock.toml:3")
    assert team.ledgers() == []


def test_a_hostile_ledger_is_named_and_the_others_are_read(team: Team) -> None:
    team.a.lock("claim", "src/*").ok()
    team.a.lock("publish").ok()
    stolen = team.hub.git("rev-parse", team.ledgers()[0]).out.strip()
    garbage = team.hub.git("hash-object", "-w", "--stdin", input="\x1b[2Jnot a ledger\n").out.strip()
    team.hub.git("update-ref", "refs/agentlocks/beef", garbage)
    team.hub.git("update-ref", "refs/agentlocks/cafe", stolen)
    heard = team.b.lock("fetch").ok()
    assert "alice" in heard.out
    assert "refs/agentlocks-remote/origin/beef" in heard.err
    assert "says that it is another's" in heard.err
    assert "\x1b" not in heard.out + heard.err
    answer = team.b.json("fetch")
    assert_fits("fetch", answer)
    assert len(answer["data"]["faults"]) == 2


def test_a_cache_that_is_damaged_is_no_hindrance(team: Team) -> None:
    team.a.lock("claim", "src/*").ok()
    team.a.lock("publish").ok()
    team.b.lock("fetch").ok()
    (team.b.store / "elsewhere.json").write_bytes(b"\0\0{")
    team.b.lock("claim", "src/a.py", agent="bob").ok()
    assert team.b.json("list")["data"]["elsewhere"] == []


# -- on its own


def test_with_auto_a_claim_and_a_release_are_published_in_the_background(team: Team) -> None:
    team.a.write(".gitlock.toml", 'version = 1\n[policy]\npublish = "auto"\n')
    team.a.lock("claim", "src/*").ok()
    _until_fetched(team.b, ["alice"])
    team.a.lock("release", "--all").ok()
    _until_fetched(team.b, [])


def _until_fetched(repo: Repo, agents: list[str]) -> None:
    until(lambda: [one["lease"]["agent"] for one in repo.json("fetch")["data"]["elsewhere"]] == agents, str(agents))


def test_gc_takes_a_ledger_away_that_says_nothing_any_more(team: Team) -> None:
    team.a.lock("claim", "src/*").ok()
    team.a.lock("publish").ok()
    ref = team.ledgers()[0]
    team.a.lock("gc").ok()
    assert team.ledgers() == [ref]
    # as if it were eight days later: the same ledger, of then
    text = team.hub.git("cat-file", "blob", f"{ref}:ledger").out.splitlines()
    old = json.loads(text[0])
    old["published"] -= 8 * 86400
    lease = json.loads(text[1])
    lease["lease"]["renewed"] -= 8 * 86400
    aged = "\n".join([json.dumps(old), json.dumps(lease), ""])
    _replace_own(team, ref, aged, old["published"])
    team.a.lock("gc").ok()
    assert team.ledgers() == []


def _replace_own(team: Team, ref: str, text: str, published: float) -> None:
    blob = team.a.git("hash-object", "-w", "--stdin", input=text).out.strip()
    tree = team.a.git("mktree", input=f"100644 blob {blob}\tledger\n").out.strip()
    date = f"{int(published)} +0000"
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in
           (("NAME", "git-lock"), ("EMAIL", "git-lock@localhost"), ("DATE", date))}  # fmt: skip
    commit = team.a.git("commit-tree", "-m", "git-lock: a ledger", tree, env=who).out.strip()
    team.a.git("push", "-q", "--force", "origin", f"{commit}:{ref}")
    team.a.git("update-ref", ref.replace("refs/agentlocks/", "refs/agentlocks-remote/origin/"), blob)


# -- over the network


@pytest.fixture
def daemon(team: Team) -> Iterator[str]:
    """The hub's address, served by git daemon on the loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [
        "git", "daemon", "--reuseaddr", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1",
        f"--port={port}", f"--base-path={team.folder}", "--verbose", str(team.folder),
    ]  # fmt: skip
    serving: Running
    with start(argv, cwd=team.folder) as serving:
        serving.says("Ready to rumble")
        yield f"git://127.0.0.1:{port}/hub.git"


def test_two_clones_meet_over_the_network(team: Team, daemon: str) -> None:
    for repo in (team.a, team.b):
        repo.git("remote", "set-url", "origin", daemon)
    team.a.lock("claim", "src/*").ok()
    team.a.lock("publish").ok()
    assert "src/*" in team.b.lock("fetch").ok().out
    team.a.lock("release", "--all").ok()
    team.a.lock("publish").ok()
    assert "nothing is held" in team.b.lock("fetch").ok().out
    assert os.environ.get("GIT_TERMINAL_PROMPT") == "0"


# -- a server that looks at what it is given


@pytest.fixture
def guarded_team(team: Team) -> Team:
    """The hub runs the pre-receive script."""
    hook = team.hub.write("hooks/pre-receive", (ROOT / "templates/pre-receive.sh").read_text())
    hook.chmod(0o755)
    return team


def test_a_server_takes_ledgers_and_their_removal(guarded_team: Team) -> None:
    guarded_team.a.lock("claim", "src/*").ok()
    guarded_team.a.lock("publish").ok()
    guarded_team.a.lock("release", "--all").ok()
    guarded_team.a.lock("publish").ok()
    ref = guarded_team.ledgers()[0]
    guarded_team.a.git("push", "-q", "origin", f":{ref}")
    assert guarded_team.ledgers() == []


def test_a_server_refuses_what_is_no_ledger_and_keeps_nothing_of_it(guarded_team: Team) -> None:
    team = guarded_team
    team.a.lock("claim", "src/*").ok()
    team.a.lock("publish").ok()
    own = team.ledgers()[0]
    commit = team.hub.git("rev-parse", own).out.strip()
    team.a.commit("no ledger", {"ledger": "x\n"}, env={"GITLOCK_BYPASS": "a test"})
    for what in (f"HEAD:{own}", "HEAD:refs/agentlocks/beef", f"{commit}:refs/agentlocks/beef"):
        refused = team.a.git("push", "--force", "origin", what, check=False).ended(1)
        assert "is refused" in refused.err
    assert team.ledgers() == [own]
    assert team.hub.git("cat-file", "-e", team.a.head, check=False).code != 0
    assert_fits("receive-ledgers", team.hub.json("receive-ledgers", input=""))
