"""What the map file and git's settings make of a violation, and where they are read."""

from pathlib import Path

import pytest

from tests.kit.gate import FREE, HELD, OWN, guarded, map_file, next_command, typed
from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.shapes import is_clean, traces

NO_HOOKS = ("-c", "core.hooksPath=/dev/null")


def _commits(repo: Repo, path: str, *, agent: str | None = "bob", code: int = 0) -> Result:
    return repo.commit("x", {path: f"changed by {agent}\n"}, agent=agent, check=False).ended(code)


def _unguarded(repo: Repo, message: str) -> None:
    repo.git(*NO_HOOKS, "commit", "--quiet", "-am", message)


# -- unclaimed


def test_an_unclaimed_path_is_claimed_on_the_spot_and_said(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy='[policy]\nunclaimed = "claim"').here
    said = _commits(repo, FREE).err
    assert said.startswith(f"git-lock: claimed for bob: {FREE} (fence ") and len(said.splitlines()) == 1
    (lease,) = repo.json("who", FREE)["data"]["results"][0]["leases"]
    assert (lease["agent"], lease["mode"], lease["ttl_s"]) == ("bob", "exclusive", 900.0)
    assert f"'{FREE}' is held by bob" in _commits(repo, FREE, agent="carol", code=1).err


def test_a_refused_commit_claims_nothing(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy='[policy]\nunclaimed = "claim"').here
    repo.write(FREE, "changed\n")
    repo.git("add", FREE)
    said = _commits(repo, HELD, code=1).err
    assert "1 path is held by another" in said and "claimed for" not in said
    assert "nobody" in repo.lock("who", FREE).ok().out


def test_what_can_not_be_claimed_on_the_spot_is_not_let_through(tmp_path: Path) -> None:
    whole = '[policy]\nunclaimed = "claim"\n[[key]]\nname = "schema:main"\npaths = ["db/**"]\ntakes = "whole"'
    repo = guarded(tmp_path, policy=whole).here
    repo.lock("claim", "db/one.sql", agent="alice").ok()
    assert "'db/two.sql' is not claimed by you" in _commits(repo, "db/two.sql", code=1).err
    assert "claimed for alice" in _commits(repo, "db2.sql", agent="alice").err


def test_where_the_policy_allows_it_an_unclaimed_path_may_be_changed(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy='[policy]\nunclaimed = "allow"').here
    assert _commits(repo, FREE).err == "" and repo.json("list")["data"]["leases"][0]["agent"] == "alice"


@pytest.mark.parametrize("patterns", ['["*.md"]', '["**", "!src/**"]'])
def test_an_open_path_may_be_changed_unclaimed_and_no_other(patterns: str, tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy=f"[policy]\nopen = {patterns}").here
    assert _commits(repo, FREE).err == ""
    assert "'src/x.py' is not claimed by you" in _commits(repo, "src/x.py", code=1).err


@pytest.mark.parametrize("policy", ['unclaimed = "allow"', 'open = ["**"]', 'unclaimed = "claim"'])
def test_no_openness_opens_what_another_holds(policy: str, tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy=f"[policy]\n{policy}").here
    assert f"'{HELD}' is held by alice" in _commits(repo, HELD, code=1).err


# -- modes


def test_warn_stops_nobody_and_says_it_once(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy='[policy]\nmode = "warn"').here
    said = _commits(repo, HELD).err
    assert said.startswith("git-lock: warning: the commit goes on (mode warn): 1 path is held by another (you are ")
    assert said.count("git-lock:") == 1 and "GITLOCK_BYPASS" not in said and is_clean(repo)


def test_off_says_nothing(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.write(".gitlock.toml", map_file('[policy]\nmode = "off"'))
    repo.git("add", ".gitlock.toml")
    _unguarded(repo, "off")
    assert _commits(repo, HELD).err == "" and _commits(repo, FREE).err == ""


def test_people_may_be_warned_where_agents_are_stopped(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy='[policy]\nhumans = "warn"').here
    assert "refused" in _commits(repo, HELD, code=1).err
    said = _commits(repo, HELD, agent=None).err
    assert "warning: the commit goes on (mode warn)" in said and "(you are dana@example.com)" in said


def test_a_strict_key_is_strict_in_a_repository_that_warns(tmp_path: Path) -> None:
    policy = '[policy]\nmode = "warn"\n[[key]]\nname = "schema:main"\npaths = ["db/**"]\nmode = "enforce"'
    repo = guarded(tmp_path, policy=policy).here
    assert "warning" in _commits(repo, FREE).err
    repo.write("docs/a.md", "1\n")
    repo.git("add", "docs/a.md")
    said = _commits(repo, "db/one.sql", code=1).err
    assert "'db/one.sql' is not claimed by you\n" in said
    assert "'docs/a.md' is not claimed by you (a warning only)" in said
    assert "git lock claim db/one.sql\n" in said


def test_a_lenient_key_is_lenient_in_a_repository_that_enforces(tmp_path: Path) -> None:
    policy = '[[key]]\nname = "docs:all"\npaths = ["*.md"]\nmode = "warn"'
    repo = guarded(tmp_path, policy=policy).here
    assert "warning: the commit goes on" in _commits(repo, FREE).err
    assert "refused" in _commits(repo, HELD, code=1).err


@pytest.mark.parametrize(("mode", "code"), [("warn", 0), ("off", 0), ("enforce", 1)])
def test_git_s_own_setting_stands_above_the_file(mode: str, code: int, tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy='[policy]\nmode = "warn"' if mode == "enforce" else "").here
    repo.git("config", "gitlock.mode", mode)
    assert ("goes on (mode warn)" in _commits(repo, HELD, code=code).err) == (mode == "warn")


def test_git_s_setting_may_be_given_for_one_commit(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.write(HELD, "changed\n")
    done = repo.git("-c", "gitlock.mode=warn", "commit", "--quiet", "-am", "x", agent="bob")
    assert "goes on (mode warn)" in done.err
    assert "refused" in _commits(repo, "src/auth/token.py", code=1).err


# -- where the policy is read

LOOSE = map_file('[policy]\nmode = "off"\nunclaimed = "allow"\nopen = ["**"]')


@pytest.mark.parametrize("policy", [None, ""])
@pytest.mark.parametrize("staged", [False, True])
def test_a_loosening_that_is_not_committed_loosens_nothing(policy: str | None, staged: bool, tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy=policy).here
    repo.lock("claim", ".gitlock.toml", agent="bob").ok()
    repo.write(".gitlock.toml", LOOSE)
    if staged:
        repo.git("add", ".gitlock.toml")
    assert "held by alice" in _commits(repo, HELD, code=1).err


def test_a_policy_counts_from_the_commit_after_the_one_that_brings_it(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.lock("claim", ".gitlock.toml", agent="bob").ok()
    repo.commit("loose", {".gitlock.toml": LOOSE}, agent="bob").ok()
    assert _commits(repo, HELD).err == ""


def test_each_branch_has_the_policy_of_its_own_head(tmp_path: Path) -> None:
    place = guarded(tmp_path)
    loose = place.here.worktree("loose")
    loose.write(".gitlock.toml", LOOSE)
    loose.git("add", ".gitlock.toml")
    _unguarded(loose, "loose")
    assert _commits(loose, HELD).err == "" and "refused" in _commits(place.here, HELD, code=1).err


# -- what can't be read


@pytest.fixture
def broken(tmp_path: Path) -> Repo:
    """A map file at HEAD whose fourth line makes no sense."""
    repo = guarded(tmp_path, policy="").here
    return _broken(repo)


def _broken(repo: Repo) -> Repo:
    repo.write(".gitlock.toml", map_file('[policy]\nmode = "strict"'))
    _unguarded(repo, "broken")
    return repo


def test_a_broken_map_file_is_could_not_check_and_names_file_and_line(broken: Repo) -> None:
    before = traces(broken)
    broken.write(OWN, "changed\n")
    refused = broken.git("commit", "-am", "x", agent="bob", check=False).ended(1).err
    assert "git-lock: could not check, so this is refused: .gitlock.toml:4: 'mode' must be one of" in refused
    assert broken.head == before["HEAD"].strip() and "is held" not in refused


def test_a_broken_map_file_can_be_mended_as_the_message_says(broken: Repo) -> None:
    broken.write(".gitlock.toml", map_file(""))
    refused = broken.git("commit", "-am", "mend", agent="bob", check=False).ended(1).err
    assert "GITLOCK_BYPASS='why' git commit ..." in refused
    done = broken.git("commit", "--quiet", "-am", "mend", agent="bob", env={"GITLOCK_BYPASS": "mends it"})
    assert done.err.count("git-lock:") == 1 and "could not check, and goes on (GITLOCK_BYPASS: mends it)" in done.err
    assert "bob made a commit that could not be checked (GITLOCK_BYPASS: mends it" in _commits(broken, OWN).err


@pytest.mark.parametrize("how", ["setting", "last known"])
def test_a_broken_map_file_stops_nobody_where_the_mode_is_warn(how: str, tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy='[policy]\nmode = "warn"' if how == "last known" else "").here
    _commits(repo, OWN)
    if how == "setting":
        repo.git("config", "gitlock.mode", "warn")
    said = _commits(_broken(repo), HELD).err
    assert said.startswith("git-lock: could not check, and goes on (mode warn): .gitlock.toml:4:")
    assert len(said.splitlines()) == 1


def test_a_map_file_that_is_no_file_is_could_not_check(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.write(".gitlock.toml/inside", "1\n")
    repo.git("add", ".gitlock.toml")
    _unguarded(repo, "a folder")
    assert "could not check" in _commits(repo, OWN, code=1).err


def test_a_setting_that_makes_no_sense_is_could_not_check_and_named(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.git("config", "gitlock.mode", "strict")
    refused = _commits(repo, OWN, code=1).err
    assert "git config gitlock.mode is 'strict'" in refused and "git config --show-origin gitlock.mode" in refused


@pytest.mark.parametrize("damage", [b"", b"{", b"\x00" * 100, b'{"format": 99}\n'])
def test_a_store_that_can_t_be_read_is_could_not_check(damage: bytes, tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    (repo.store / "state.json").write_bytes(damage)
    refused = _commits(repo, OWN, code=1).err
    assert refused.startswith("git-lock: could not check, so this is refused: ") and refused.count("git-lock:") == 1


@pytest.mark.parametrize("policy", ['on_error = "open"', 'mode = "warn"'])
def test_a_store_that_can_t_be_read_costs_one_line_where_the_policy_says_so(policy: str, tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy=f"[policy]\n{policy}").here
    (repo.store / "state.json").write_bytes(b"{")
    said = _commits(repo, HELD).err
    assert said.startswith("git-lock: could not check, and goes on (") and len(said.splitlines()) == 1
    assert is_clean(repo)


def test_a_cherry_pick_that_could_not_be_checked_can_be_taken_back(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.git("checkout", "--quiet", "-b", "side")
    _commits(repo, OWN)
    repo.git("checkout", "--quiet", "main")
    repo.commit("here", {HELD: "1\n"}, agent="alice")
    (repo.store / "state.json").write_bytes(b"{")
    refused = repo.git("cherry-pick", "side", agent="bob", check=False).ended(128).err
    typed(repo, next_command(refused, "git cherry-pick --abort")).ok()
    assert is_clean(repo)
