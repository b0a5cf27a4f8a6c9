"""`git lock ci`: may a branch land? In fresh and shallow clones, on each platform, by ledgers, receipts and fences."""

import json
import os
from pathlib import Path

import pytest

from tests.kit.gate import typed
from tests.kit.program import ROOT, program
from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.schemas import assert_fits

A, B = "src/a.py", "src/b.py"
FILES = {A: "1\n", B: "1\n", ".gitlock.toml": "version = 1\n"}
CLEAR, USAGE, UNCHECKED, VIOLATION = 0, 2, 20, 22


class Team:
    """An origin, and a clone in which branches are made. Receipts are written by hand: no hooks, no store."""

    def __init__(self, folder: Path, files: dict[str, str] = FILES) -> None:
        self.folder = folder
        self.origin = Repo.new(folder, dict(files), bare=True, name="origin.git")
        self.dev = self.origin.clone("dev")

    def commit(
        self, branch: str, files: dict[str, str], *, agent: str = "alice", fence: int = 5, store: str = "s1",
        claim: str | None = None, more: str = "", start: str = "origin/main",
    ) -> str:  # fmt: skip
        """A pushed commit with a receipt for what it changes (``claim`` "" is none)."""
        if self.dev.git("rev-parse", "-q", "--verify", branch, check=False).code:
            self.dev.git("checkout", "--quiet", "-b", branch, start)
        self.dev.git("checkout", "--quiet", branch)
        claim = " ".join(files) if claim is None else claim
        lines = f"\n\nLock-Agent: {agent}\nLock-Lease: aa{fence} store={store} fence={fence} {claim}" if claim else ""
        self.dev.commit("work" + lines + more, files)
        self.dev.git("push", "--quiet", "origin", branch)
        return self.dev.head

    def holds(self, agent: str, *claim: str) -> Repo:
        """A clone of the agent's, which has published what it holds."""
        clone = self.origin.clone(agent)
        clone.lock("claim", *claim, "--reason", "at work", agent=agent).ok()
        clone.lock("publish", agent=agent).ok()
        return clone

    def runner(self, name: str = "runner", *options: str, branch: str = "work") -> Repo:
        """A fresh clone, as CI has one."""
        there = Repo(self.folder / name)
        url = f"file://{self.origin.path}"
        self.origin.git("clone", "--quiet", *options, "--branch", branch, url, str(there.path))
        return there


def ci(repo: Repo, *args: str, env: dict[str, str | None] | None = None) -> Result:
    return repo.lock("ci", *args, agent=None, env=env)


def data(repo: Repo, *args: str, env: dict[str, str | None] | None = None) -> dict[str, object]:
    envelope = repo.json("ci", *args, agent=None, env=env)
    assert_fits("ci", envelope)
    found = envelope["data"]
    assert isinstance(found, dict)
    return found


def kinds(found: dict[str, object]) -> list[tuple[str, str]]:
    violations = found["violations"]
    assert isinstance(violations, list)
    return [(one["path"], one["kind"]) for one in violations]


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


# -- the rules, in a clone that has no store of its own


@pytest.mark.parametrize("options", [(), ("--depth", "1"), ("--single-branch",)])
def test_a_fresh_or_shallow_clone_hears_what_others_hold(options: tuple[str, ...], team: Team) -> None:
    team.commit("work", {A: "2\n"}, claim="")
    team.holds("bob", A)
    runner = team.runner("runner", *options)
    found = data(runner, "--base", "main", "--head", "HEAD")
    assert kinds(found) == [(A, "held")] and found["ledgers"] == 1
    assert not runner.store.exists()


def test_what_the_branch_has_receipts_for_may_land(team: Team) -> None:
    team.commit("work", {A: "2\n"})
    assert "may land in main" in ci(team.runner()).ended(CLEAR).out


def test_what_nobody_has_claimed_may_not_and_the_command_that_is_named_mends_it(team: Team) -> None:
    team.commit("work", {A: "2\n"}, claim="")
    runner = team.runner()
    result = ci(runner).ended(VIOLATION)
    assert f"'{A}' is not claimed" in result.err
    runner.install()
    command = next(row for row in result.err.splitlines() if "git lock claim" in row).partition(": git lock ")[2]
    typed(runner, f"git lock {command}", agent="alice").ok()
    ci(runner).ended(CLEAR)


def test_what_another_has_landed_under_a_later_fence_overtakes_and_the_command_that_is_named_mends_it(
    team: Team,
) -> None:
    team.commit("work", {A: "mine\n"})
    team.commit("main", {A: "bob's\n"}, agent="bob", fence=6)
    runner = team.runner()
    (found,) = runner.json("ci", agent=None)["data"]["violations"]
    assert (found["kind"], found["code"]) == ("overtaken", 19)
    assert found["receipt"]["fence"] == 6 and found["own_receipt"]["fence"] == 5
    result = typed(runner, found["next"], agent="alice")
    assert "CONFLICT" in result.out + result.err  # they touched the same line: look again
    runner.write(A, "bob's\nmine\n")
    runner.git("add", A)
    runner.git("rebase", "--continue", env={"GIT_EDITOR": "true"})
    ci(runner).ended(CLEAR)


def test_a_fence_of_another_store_is_a_warning_that_names_it(team: Team) -> None:
    team.commit("work", {A: "2\n"})
    team.commit("main", {A: "3\n"}, agent="bob", store="s2", fence=900)
    result = ci(team.runner()).ended(CLEAR)
    assert "another store (s2)" in result.err and "bob landed" in result.err


def test_a_branch_that_was_first_is_warned_of_who_came_after(team: Team) -> None:
    team.commit("work", {A: "2\n"})
    team.holds("bob", A)
    result = ci(team.runner()).ended(CLEAR)
    assert "this branch was first, and now it is held by bob" in result.err


def test_another_open_branch_that_changes_the_same_is_a_warning(team: Team) -> None:
    team.commit("theirs", {A: "3\n"}, agent="bob")
    team.commit("work", {A: "2\n"})
    assert "'src/a.py': changed on 'theirs' too" in ci(team.runner()).ended(CLEAR).err


def test_an_unlanded_branch_that_was_merged_opens_nothing_but_what_it_changes(team: Team) -> None:
    team.commit("theirs", {B: "bob's\n"}, agent="bob", fence=4)
    team.commit("work", {A: "2\n"}, claim="")
    team.dev.git("merge", "--quiet", "--no-edit", "theirs")
    team.dev.git("push", "--quiet", "origin", "work")
    team.holds("bob", A, B)
    assert kinds(data(team.runner())) == [(A, "held")]


@pytest.mark.parametrize("lead", ["    ", "> "])
def test_a_log_that_is_quoted_opens_nothing(lead: str, team: Team) -> None:
    quoted = "".join(f"\n{lead}{row}" for row in ("Lock-Agent: bob", f"Lock-Lease: bb store=s1 fence=4 {A}"))
    team.commit("work", {A: "2\n"}, claim="", more=f"\n\nbob wrote:\n{quoted}")
    team.holds("bob", A)
    assert kinds(data(team.runner())) == [(A, "held")]


def test_work_that_went_on_without_a_receipt_is_not_work_of_before(team: Team) -> None:
    team.commit("work", {A: "2\n"})
    team.holds("bob", A)
    ci(team.runner()).ended(CLEAR)
    team.dev.write(A, "3\n")
    later: dict[str, str | None] = {"GIT_COMMITTER_DATE": "@4000000000 +0000"}
    team.dev.git("commit", "--quiet", "-am", "more", env=later)
    team.dev.git("push", "--quiet", "origin", "work")
    assert kinds(data(team.runner("again"))) == [(A, "held")]


def test_a_bypass_is_shown(team: Team) -> None:
    team.commit("work", {A: "2\n"}, more="\nLock-Bypass: the build is broken")
    assert 'got past a gate (alice): "the build is broken"' in ci(team.runner()).ended(CLEAR).err


def test_the_clone_s_own_store_counts_as_it_is_now(team: Team) -> None:
    team.commit("work", {A: "2\n"}, claim="")
    runner = team.runner()
    runner.worktree("bobs").lock("claim", A, agent="bob").ok()
    result = ci(runner).ended(VIOLATION)
    assert "held by bob" in result.err and "as published" not in result.err


def test_whoever_works_on_the_branch_holds_for_it(team: Team) -> None:
    team.commit("work", {A: "2\n"}, claim="")
    clone = team.runner("alices")
    clone.lock("claim", A, agent="alice").ok()
    clone.lock("publish", agent="alice").ok()
    assert data(team.runner())["agents"] == ["alice"]


@pytest.mark.parametrize("name", ["work", "origin/work", "refs/heads/work"])
def test_a_branch_that_is_named_is_that_branch(name: str, team: Team) -> None:
    team.commit("work", {A: "2\n"}, claim="")
    runner = team.runner()
    assert data(runner, "--base=origin/main", f"--head={name}")["branch"] == "work"
    runner.git("checkout", "--quiet", "-b", "elsewhere", "origin/main")
    assert data(runner, f"--head={name}")["branch"] == "work"


def test_it_answers_the_same_from_a_subfolder_and_a_linked_worktree(team: Team) -> None:
    team.commit("work", {A: "2\n"}, claim="")
    runner = team.runner()
    below = runner.lock("ci", agent=None, cwd="src").ended(VIOLATION)
    linked = runner.worktree("linked")
    ci(linked, "--head", "work").ended(VIOLATION)
    assert f"'{A}' is not claimed" in below.err


def test_a_detached_head_is_compared_with_the_default_branch(team: Team) -> None:
    team.commit("work", {A: "2\n"}, claim="")
    runner = team.runner()
    runner.git("checkout", "--quiet", "--detach")
    found = data(runner)
    assert (kinds(found), found["branch"], found["target"]) == ([(A, "unclaimed")], None, "main")


# -- the policy is the base's


@pytest.mark.parametrize("options", [("--single-branch",), ("--depth", "1")])
def test_a_clone_of_one_branch_asks_what_its_work_is_for(options: tuple[str, ...], team: Team) -> None:
    """Compared with its own copy at the remote, any branch would be clear."""
    team.commit("work", {A: "2\n"}, claim="")
    assert kinds(data(team.runner("runner", *options))) == [(A, "unclaimed")]


def test_what_git_replace_shows_here_is_not_what_lands(team: Team) -> None:
    head = team.commit("work", {A: "2\n"}, claim="")
    runner = team.runner()
    runner.git("replace", "--graft", "origin/main", head)
    runner.git("replace", head, "origin/main")
    assert kinds(data(runner, "--base=origin/main", f"--head={head}")) == [(A, "unclaimed")]


def test_a_branch_can_t_loosen_what_it_is_judged_by(team: Team) -> None:
    team.commit("work", {A: "2\n", ".gitlock.toml": 'version = 1\n[policy]\nmode = "off"\n'}, claim=".gitlock.toml")
    result = ci(team.runner()).ended(VIOLATION)
    assert "this branch changes .gitlock.toml: it is judged by the base's" in result.err


def test_in_warn_it_is_said_and_stops_nobody(tmp_path: Path) -> None:
    team = Team(tmp_path, {**FILES, ".gitlock.toml": 'version = 1\n[policy]\nmode = "warn"\n'})
    team.commit("work", {A: "2\n"}, claim="")
    assert "warning: 'src/a.py' is not claimed" in ci(team.runner()).ended(CLEAR).err


def test_a_base_without_a_map_file_and_without_ledgers_is_clear_and_says_why(tmp_path: Path) -> None:
    team = Team(tmp_path, {A: "1\n"})
    team.commit("work", {A: "2\n"}, claim="")
    runner = team.runner()
    assert "nothing to judge by" in ci(runner).ended(CLEAR).out
    assert not runner.store.exists()


# -- what can't be known is never clear


def test_a_map_file_that_can_t_be_read_is_no_policy(tmp_path: Path) -> None:
    team = Team(tmp_path, {**FILES, ".gitlock.toml": "version = 1\n[policy]\nmode = 3\n"})
    team.commit("work", {A: "2\n"})
    assert ".gitlock.toml:3" in ci(team.runner()).ended(UNCHECKED).err


def test_a_remote_that_does_not_answer_is_no_empty_ledger(team: Team) -> None:
    team.commit("work", {A: "2\n"})
    runner = team.runner()
    runner.git("remote", "set-url", "origin", str(team.folder / "gone"))
    envelope = runner.json("ci", "--base", "origin/main", "--head", "HEAD", agent=None)
    assert_fits("ci", envelope)
    assert envelope["code"] == UNCHECKED


def test_a_ledger_that_can_t_be_read_is_not_empty(team: Team) -> None:
    team.commit("work", {A: "2\n"})
    blob = team.origin.git("hash-object", "-w", "--stdin", input="{not a ledger\n").out.strip()
    tree = team.origin.git("mktree", input=f"100644 blob {blob}\tledger\n").out.strip()
    commit = team.origin.git("commit-tree", "-m", "x", tree).out.strip()
    team.origin.git("update-ref", "refs/agentlocks/abc123", commit)
    assert "could not check" in ci(team.runner()).ended(UNCHECKED).err


def test_a_shallow_clone_that_can_t_fetch_is_not_clear(team: Team) -> None:
    team.commit("work", {A: "2\n"})
    runner = team.runner("runner", "--depth", "1", "--no-single-branch")
    runner.git("remote", "remove", "origin")
    head = runner.head
    base = team.origin.git("rev-parse", "main").out.strip()
    assert "shallow" in ci(runner, "--base", base, "--head", head).ended(UNCHECKED).err


@pytest.mark.parametrize("name", ["nothing", "--all", "a..b"])
def test_a_name_that_names_nothing_is_a_mistake(name: str, team: Team) -> None:
    ci(team.runner("runner", branch="main"), f"--base={name}").ended(USAGE)


@pytest.mark.parametrize("option", ["--base", "--head"])
def test_an_empty_name_is_a_mistake_and_not_what_is_checked_out(option: str, team: Team) -> None:
    team.commit("work", {A: "2\n"}, claim="")
    assert f"{option} is empty" in ci(team.runner(), option, "").ended(USAGE).err


# -- platforms


def _event(folder: Path, content: dict[str, object]) -> str:
    path = folder / "event.json"
    path.write_text(json.dumps(content))
    return str(path)


def _github(folder: Path, name: str, content: dict[str, object], **more: str) -> dict[str, str | None]:
    return {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": _event(folder, content), **more}


def _merge_ref(team: Team) -> tuple[str, str]:
    """The merge that a platform makes of the branch; it, and the branch's tip."""
    head = team.dev.git("rev-parse", "work").out.strip()
    team.dev.git("checkout", "--quiet", "--detach", "origin/main")
    team.dev.git("merge", "--quiet", "--no-ff", "-m", "Merge", "work")
    team.dev.git("push", "--quiet", "origin", "HEAD:refs/pull/1/merge")
    return team.dev.head, head


def _checkout(team: Team, ref: str, depth: int) -> Repo:
    """As actions/checkout does it."""
    runner = Repo.new(team.folder, name="job")
    runner.git("remote", "add", "origin", f"file://{team.origin.path}")
    runner.git("fetch", "--quiet", "--no-tags", f"--depth={depth}", "origin", f"+{ref}:refs/remotes/job")
    runner.git("checkout", "--quiet", "--detach", "refs/remotes/job")
    runner.git("branch", "-D", "main")
    return runner


@pytest.mark.parametrize("depth", [1, 2, 99])
def test_a_pull_request_is_what_the_merge_of_github_was_made_of(depth: int, team: Team) -> None:
    team.commit("work", {A: "2\n"}, claim="")
    stale = team.origin.git("rev-parse", "main").out.strip()
    team.commit("main", {B: "2\n"}, agent="bob")
    _, head = _merge_ref(team)
    runner = _checkout(team, "refs/pull/1/merge", depth)
    content: dict[str, object] = {"pull_request": {"head": {"sha": head}, "base": {"sha": stale, "ref": "main"}}}
    found = data(runner, env=_github(team.folder, "pull_request", content, GITHUB_HEAD_REF="work"))
    assert kinds(found) == [(A, "unclaimed")] and found["branch"] == "work"
    assert found["base"] == team.origin.git("rev-parse", "main").out.strip()


def test_a_pull_request_whose_head_is_checked_out_is_compared_with_the_target_of_now(team: Team) -> None:
    head = team.commit("work", {A: "2\n"})
    stale = team.origin.git("rev-parse", "main").out.strip()
    team.commit("main", {A: "3\n"}, agent="bob", fence=9)
    runner = _checkout(team, "refs/heads/work", 1)
    content: dict[str, object] = {"pull_request": {"head": {"sha": head}, "base": {"sha": stale, "ref": "main"}}}
    assert kinds(data(runner, env=_github(team.folder, "pull_request", content))) == [(A, "overtaken")]


def test_a_merge_queue_is_compared_with_the_target_and_not_with_the_entry_before(team: Team) -> None:
    before = team.commit("queue1", {B: "2\n"}, claim="")
    head = team.commit("queue2", {A: "2\n"}, start="origin/queue1")
    runner = _checkout(team, "refs/heads/queue2", 1)
    content: dict[str, object] = {
        "merge_group": {"base_sha": before, "head_sha": head, "base_ref": "refs/heads/main"}
    }
    assert kinds(data(runner, env=_github(team.folder, "merge_group", content))) == [(B, "unclaimed")]


def test_a_push_to_the_default_branch_is_compared_with_what_was_there(team: Team) -> None:
    before = team.origin.git("rev-parse", "main").out.strip()
    after = team.commit("main", {A: "2\n"}, claim="")
    runner = _checkout(team, "refs/heads/main", 1)
    content: dict[str, object] = {"before": before, "repository": {"default_branch": "main"}}
    env = _github(team.folder, "push", content, GITHUB_SHA=after, GITHUB_REF_NAME="main")
    assert kinds(data(runner, env=env)) == [(A, "unclaimed")]


def test_an_event_that_says_nothing_is_said(team: Team) -> None:
    runner = team.runner("runner", branch="main")
    result = ci(runner, env=_github(team.folder, "schedule", {})).ended(USAGE)
    assert "git lock ci --base" in result.err


@pytest.mark.parametrize("kind", ["detached", "merged_result", "merge_train"])
def test_a_merge_request_is_found(kind: str, team: Team) -> None:
    base = team.origin.git("rev-parse", "main").out.strip()
    team.commit("work", {A: "2\n"}, claim="")
    team.commit("main", {B: "2\n"}, agent="bob")
    merge, head = _merge_ref(team)
    env: dict[str, str | None] = {
        "GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_EVENT_TYPE": kind,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "work", "CI_COMMIT_SHA": head,
    }  # fmt: skip
    if kind != "detached":
        env["CI_COMMIT_SHA"] = merge
        env["CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"] = head
        env["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] = team.origin.git("rev-parse", "main").out.strip()
    runner = _checkout(team, "refs/heads/work" if kind == "detached" else "refs/pull/1/merge", 20)
    found = data(runner, env=env)
    assert kinds(found) == [(A, "unclaimed")] and found["branch"] == "work"


@pytest.mark.parametrize(("repository", "found"), [("fork/it", [(A, "held")]), ("team/it", [])])
def test_a_fork_s_branch_is_not_the_one_of_the_same_name_here(
    repository: str, found: list[tuple[str, str]], team: Team
) -> None:
    team.holds("bob", A)  # who works on main
    head = team.commit("work", {A: "2\n"}, claim="")
    content: dict[str, object] = {
        "pull_request": {
            "head": {"sha": head, "repo": {"full_name": repository}},
            "base": {"ref": "main", "repo": {"full_name": "team/it"}},
        }
    }
    env = _github(team.folder, "pull_request", content, GITHUB_HEAD_REF="main")
    assert kinds(data(team.runner(), env=env)) == found


@pytest.mark.parametrize(("project", "found"), [("8", [(A, "held")]), ("7", [])])
def test_nor_is_it_in_gitlab(project: str, found: list[tuple[str, str]], team: Team) -> None:
    team.holds("bob", A)
    head = team.commit("work", {A: "2\n"}, claim="")
    env: dict[str, str | None] = {
        "GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "7", "CI_COMMIT_SHA": head, "CI_MERGE_REQUEST_PROJECT_ID": "7",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": project, "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "fork/it",
    }  # fmt: skip
    assert kinds(data(team.runner(), env=env)) == found


# -- reports


def test_github_gets_annotations_and_a_summary_and_no_text_is_a_command(team: Team, tmp_path: Path) -> None:
    hostile = "src/::error,x%0A|`a`.py"
    team.commit("work", {hostile: "2\n", "##[error]x": "2\n"}, claim="")
    summary = tmp_path / "summary.md"
    env: dict[str, str | None] = {"GITHUB_STEP_SUMMARY": str(summary)}
    content: dict[str, object] = {"pull_request": {"head": {}, "base": {"ref": "main"}}}
    result = ci(team.runner(), env={**_github(tmp_path, "pull_request", content), **env}).ended(VIOLATION)
    rows = result.out.splitlines()
    mark = rows[0].removeprefix("::stop-commands::")
    after = rows[rows.index(f"::{mark}::") + 1 :]
    assert len(mark) == 32 and all(row.startswith(("::error ", "::notice ", "::warning ")) for row in after)
    assert "file=src/%3A%3Aerror%2Cx%250A|`a`.py" in result.out
    assert "##[" not in result.err
    text = summary.read_text()
    assert "&#124;" in text and "`a`" not in text
    assert "&#35;x27;" not in text and "'src/" in text  # escaped once


def test_github_shows_ten_and_counts_the_rest(team: Team) -> None:
    team.commit("work", {f"new/{number}": "x" for number in range(15)}, claim="")
    rows = ci(team.runner(), "--format", "github").ended(VIOLATION).out.splitlines()
    errors = [row for row in rows if row.startswith("::error ")]
    assert len(errors) == 10 and "and 6 more paths" in errors[-1]


def test_gitlab_gets_a_code_quality_report_and_nothing_else(team: Team) -> None:
    team.commit("work", {A: "1\n2\n"}, claim="")
    (row,) = json.loads(ci(team.runner(), "--format", "gitlab").ended(VIOLATION).out)
    assert row["location"] == {"path": A, "lines": {"begin": 2}} and row["severity"] == "blocker"
    assert len(row["fingerprint"]) == 64


def test_sarif_names_rules_places_and_levels(team: Team) -> None:
    team.commit("work", {"sp ace#é.py": "2\n"}, claim="")
    (run,) = json.loads(ci(team.runner(), "--format", "sarif").ended(VIOLATION).out)["runs"]
    (result,) = run["results"]
    assert result["ruleId"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "sp%20ace%23%C3%A9.py" and result["level"] == "error"


def test_format_json_is_json(team: Team) -> None:
    team.commit("work", {A: "2\n"})
    assert_fits("ci", ci(team.runner(), "--format", "json").ended(CLEAR).json())


def test_where_there_is_no_repository_it_could_not_check(tmp_path: Path) -> None:
    nowhere = Repo(tmp_path / "nowhere")
    nowhere.path.mkdir()
    env: dict[str, str | None] = {"GIT_CEILING_DIRECTORIES": str(tmp_path)}
    result = nowhere.lock("ci", "--format", "github", env=env).ended(UNCHECKED)
    assert result.out.startswith("::error title=git-lock::could not check: this is not a git repository")


def test_could_not_check_is_an_annotation_too(team: Team) -> None:
    team.commit("work", {A: "2\n"})
    runner = team.runner()
    runner.git("remote", "set-url", "origin", str(team.folder / "gone"))
    assert ci(runner, "--format", "github").ended(UNCHECKED).out.startswith("::error title=git-lock::could not check: ")


# -- the templates, step by step


def _steps(text: str, lead: str) -> list[str]:
    """The shell commands of a job: all that begins so."""
    return [row.strip().removeprefix(lead) for row in text.splitlines() if row.strip().startswith(lead)]


def _path_with_pip(folder: Path) -> str:
    """A PATH whose pip has installed everything already."""
    (folder / "bin").mkdir()
    (folder / "bin/pip").write_text("#!/bin/sh\n[ \"$*\" = 'install git-lock' ]\n")
    (folder / "bin/pip").chmod(0o755)
    return os.pathsep.join([str(folder / "bin"), str(program().parent), os.environ["PATH"]])


def test_the_github_workflow_works_as_it_is(team: Team, tmp_path: Path) -> None:
    team.commit("work", {A: "2\n"})
    _, head = _merge_ref(team)
    runner = _checkout(team, "refs/pull/1/merge", 99)
    content: dict[str, object] = {"pull_request": {"head": {"sha": head}, "base": {"ref": "main"}}}
    env = {**_github(tmp_path, "pull_request", content), "CI": "true", "PATH": _path_with_pip(tmp_path)}
    steps = _steps((ROOT / "templates/github-workflow.yml").read_text(), "- run: ")
    assert [runner.run("bash", "-e", "-c", step, env=env).code for step in steps] == [0, 0]


def test_the_gitlab_job_works_as_it_is(team: Team, tmp_path: Path) -> None:
    head = team.commit("work", {A: "2\n"}, claim="")
    runner = _checkout(team, "refs/heads/work", 99)
    env: dict[str, str | None] = {
        "GITLAB_CI": "true", "CI": "true", "CI_MERGE_REQUEST_IID": "7", "CI_COMMIT_SHA": head,
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "PATH": _path_with_pip(tmp_path),
    }  # fmt: skip
    script = (ROOT / "templates/gitlab-job.yml").read_text().partition("script:")[2].partition("artifacts:")[0]
    steps = _steps(script, "- ")
    assert [runner.run("bash", "-e", "-c", step, env=env).code for step in steps] == [0, VIOLATION]
    assert json.loads(runner.read("gl-code-quality-report.json"))[0]["location"]["path"] == A


@pytest.mark.parametrize(("claim", "code"), [("", 1), (A, 0)])
def test_a_server_s_hook_judges_what_lands_in_its_branch(claim: str, code: int, team: Team) -> None:
    hook = team.origin.path / "hooks/pre-receive"
    hook.write_text((ROOT / "templates/pre-receive.sh").read_text())
    hook.chmod(0o755)
    team.commit("work", {A: "2\n"}, claim=claim)  # another branch is nobody's concern
    result = team.dev.git("push", "origin", "work:main", check=False)
    assert result.code == code
    assert ("is not claimed" in result.err) == (code == 1)


@pytest.mark.parametrize("allowed", [False, True])
def test_a_server_s_hook_does_not_let_its_branch_be_rewound(allowed: bool, team: Team) -> None:
    team.commit("main", {A: "2\n"})
    hook = team.origin.path / "hooks/pre-receive"
    hook.write_text((ROOT / "templates/pre-receive.sh").read_text())
    hook.chmod(0o755)
    if allowed:
        team.origin.git("config", "gitlock.rewind", "true")
    result = team.dev.git("push", "--force", "origin", "main~1:main", check=False)
    assert result.code == (0 if allowed else 1) and ("would lose" in result.err) != allowed
