"""Two dozen agents begin at one moment: all of them get a whole worktree, and whoever looks meanwhile sees no half."""

from pathlib import Path

from tests.kit.processes import PATIENCE, Crowd, Job
from tests.kit.program import child_environment, program
from tests.kit.repo import Repo

AGENTS = 24
READER = "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do git worktree list --porcelain >/dev/null || exit 1; done"


def test_two_dozen_at_once_all_succeed(tmp_path: Path) -> None:
    origin = Repo.new(tmp_path, {"src/x": "1\n"}, name="origin")
    repo = origin.clone("repo")
    repo.git("config", "branch.autoSetupMerge", "always")
    config = (repo.path / ".git/config").read_bytes()
    words = [[str(program()), "spawn", f"a{n}", "--base", "origin/main", "--claim", f"own/{n}"] for n in range(AGENTS)]
    jobs = [Job(one, cwd=repo.path, env=child_environment()) for one in words]
    readers = [Job(["sh", "-c", READER], cwd=repo.path, env=child_environment()) for _ in range(2)]
    with Crowd([*jobs, *readers]) as crowd:
        results = crowd.go().results(timeout=PATIENCE * 3)
    assert [one.code for one in results] == [0] * len(results), [one for one in results if one.code]
    assert not [one for one in results if "lock" in one.err.lower()]
    found = repo.git("worktree", "list", "--porcelain").out.count("branch refs/heads/agent/")
    branches = repo.git("for-each-ref", "refs/heads/agent").lines
    leases = repo.json("list")["data"]["leases"]
    assert (found, len(branches), len({lease["agent"] for lease in leases})) == (AGENTS, AGENTS, AGENTS)
    assert (repo.path / ".git/config").read_bytes() == config
    slots = [path.read_text() for path in (repo.store / "worktrees").glob("*.json")]
    assert len({text.partition('"slot":')[2].partition(",")[0] for text in slots}) == AGENTS
    assert not list((repo.store / "worktrees").glob("*.making"))


def test_one_of_two_dozen_gets_a_name_that_all_want(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path, {"src/x": "1\n"})
    job = Job([str(program()), "spawn", "same"], cwd=repo.path, env=child_environment())
    with Crowd([job] * 8) as crowd:
        codes = sorted(one.code for one in crowd.go().results(timeout=PATIENCE))
    assert codes == [0] + [17] * 7
