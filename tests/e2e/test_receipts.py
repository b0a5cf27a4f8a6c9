"""Receipts: the trailers of a commit that was made under leases, and what becomes of them."""

from pathlib import Path

import pytest

from gitlock.domain.receipt import Declared, declared
from tests.kit.gate import FREE, HELD, OWN, guarded
from tests.kit.repo import Repo
from tests.kit.shapes import linked_worktree

EDITOR = "sh -c 'printf \"%s\\n\" \"$TEXT\" | cat - \"$1\" > \"$1.new\" && mv \"$1.new\" \"$1\"' editor"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return guarded(tmp_path).here


def _message(repo: Repo, commit: str = "HEAD") -> str:
    return repo.git("log", "-1", "--format=%B", commit).out


def _declared(repo: Repo, commit: str = "HEAD") -> Declared:
    return declared(_message(repo, commit))


def _trailers(repo: Repo) -> list[str]:
    """The names of what git itself takes for the message's trailers."""
    return repo.git("log", "-1", "--format=%(trailers:keyonly)").out.split()


def _edit(repo: Repo, text: str = "2\n", path: str = OWN) -> None:
    repo.write(path, text)
    repo.git("add", path)


def _by_editor(repo: Repo, text: str, *args: str, check: bool = True) -> int:
    """Commits in an editor that writes this before what is in the message."""
    return repo.git("commit", *args, agent="bob", env={"GIT_EDITOR": EDITOR, "TEXT": text}, check=check).code


def test_a_commit_names_its_agent_and_the_lease_that_covered_its_path(repo: Repo) -> None:
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    found = _declared(repo)
    lease = repo.json("mine", agent="bob")["data"]["leases"][0]
    (receipt,) = found.receipts
    assert (found.agents, receipt.lease, receipt.fence) == (("bob",), lease["id"], lease["fence"])
    assert (receipt.store, receipt.include) == (repo.state()["store"], (OWN,))


def test_only_leases_that_cover_a_path_of_the_commit_are_named(repo: Repo) -> None:
    repo.lock("claim", "docs/**", "db/x.sql", agent="bob").ok()
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    assert [one.include for one in _declared(repo).receipts] == [(OWN,)]


def test_no_token_host_or_session_is_in_a_message(repo: Repo) -> None:
    env = {"CLAUDE_CODE_SESSION_ID": "5b0cf1e2-1111-4222-8333-444455556666", "CLAUDECODE": "1"}
    taken = repo.json("claim", "docs/a", agent=None, env=env)["data"]
    repo.write("docs/a", "1")
    repo.git("add", "docs/a")
    repo.git("commit", "-m", "its", env=env)
    text = _message(repo)
    assert "Lock-Lease:" in text
    assert taken["token"] not in text and env["CLAUDE_CODE_SESSION_ID"] not in text
    assert taken["lease"]["holder"]["host"] not in text.split("store=")[1]


def test_a_parents_lease_counts_for_its_child_and_is_named(repo: Repo) -> None:
    repo.commit("the child's", {OWN: "2\n"}, agent="bob/helper")
    assert _declared(repo).agents == ("bob/helper",)
    assert [one.include for one in _declared(repo).receipts] == [(OWN,)]


def test_in_a_linked_worktree_it_is_the_same(tmp_path: Path) -> None:
    repo = guarded(tmp_path, linked_worktree).here
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    assert _declared(repo).agents == ("bob",)


def test_a_team_can_do_without(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy="[policy]\nreceipts = false").here
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    assert _message(repo).strip() == "bob's"


def test_what_nobody_had_to_claim_carries_nothing(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy='[policy]\nunclaimed = "allow"').here
    repo.commit("free", {FREE: "2\n"}, agent="bob")
    assert _message(repo).strip() == "free"


def test_a_bypass_is_carried_with_its_reason(repo: Repo) -> None:
    repo.commit("past it", {HELD: "2\n"}, agent="bob", env={"GITLOCK_BYPASS": "the build\nis broken"})
    assert _declared(repo) == Declared(("bob",), (), ("the build is broken",))


@pytest.mark.parametrize(
    "name", ["with space.py", "a:b.py", "!odd.py", "café.py", 'q"uote\\.py', "new\nline.py", "[x].py"]
)
def test_any_name_comes_back_as_it_was(name: str, repo: Repo) -> None:
    lease = repo.json("claim", "--path", name, agent="bob")["data"]["lease"]
    repo.commit("odd", {name: "1"}, agent="bob")
    assert list(_declared(repo).receipts[0].include) == lease["include"]


def test_a_name_that_is_not_utf8_comes_back_as_it_was(repo: Repo) -> None:
    name = b"caf\xe9.py"
    repo.lock("claim", "--path", name.decode("utf-8", "surrogateescape"), agent="bob").ok()
    (repo.path / name.decode("utf-8", "surrogateescape")).write_text("1")
    repo.git("add", "-A")
    repo.git("commit", "-m", "odd", agent="bob")
    assert _declared(repo).receipts[0].include == ("caf\udce9.py",)


# -- the message's own shape


def test_other_trailers_stay_trailers(repo: Repo) -> None:
    _edit(repo)
    repo.git("commit", "-m", "bob's\n\nWhy.\n\nCo-authored-by: Ann <ann@example.com>", "--signoff", agent="bob")
    assert _trailers(repo) == ["Co-authored-by", "Signed-off-by", "Lock-Agent", "Lock-Lease"]


def test_a_message_without_a_newline_at_its_end_is_completed(repo: Repo) -> None:
    _edit(repo)
    repo.git("commit", "-F", "-", agent="bob", input="fix: the thing")
    subject, blank, agent = _message(repo).split("\n")[:3]
    assert (subject, blank, agent) == ("fix: the thing", "", "Lock-Agent: bob")


def test_a_line_of_dashes_is_text_and_no_end(repo: Repo) -> None:
    _edit(repo)
    repo.git("commit", "-m", "bob's\n\n---\nbelow", agent="bob")
    assert _message(repo).startswith("bob's\n\n---\nbelow\n\nLock-Agent: bob\n")


@pytest.mark.parametrize("cleanup", ["verbatim", "whitespace", "strip", "scissors", "default"])
def test_however_git_cleans_up_the_receipt_is_there_once(cleanup: str, repo: Repo) -> None:
    repo.git("config", "commit.cleanup", cleanup)
    _edit(repo)
    repo.git("commit", "-m", "bob's\n\n  text  \n# a line", agent="bob")
    assert _message(repo).count("Lock-Lease:") == 1
    assert _trailers(repo) == ["Lock-Agent", "Lock-Lease"]


def test_a_subject_that_begins_with_the_comment_character_is_a_subject(repo: Repo) -> None:
    _edit(repo)
    repo.git("commit", "-m", "#12 is mended", agent="bob")
    assert _message(repo).startswith("#12 is mended\n\nLock-Agent: bob\n")


@pytest.mark.parametrize("char", ["#", ";", "auto"])
@pytest.mark.parametrize("verbose", [(), ("--verbose",)])
def test_an_editor_leaves_comments_and_scissors_where_git_finds_them(
    char: str, verbose: tuple[str, ...], repo: Repo
) -> None:
    repo.git("config", "core.commentChar", char)
    _edit(repo)
    _by_editor(repo, "bob's", *verbose)
    assert _message(repo).startswith("bob's\n\nLock-Agent: bob\nLock-Lease: ")
    assert _message(repo).strip().count("\n") == 3


def test_scissors_alone_keep_what_is_below_out(repo: Repo) -> None:
    repo.git("config", "commit.cleanup", "scissors")
    _edit(repo)
    _by_editor(repo, "bob's")
    assert _message(repo).startswith("bob's\n\nLock-Agent: bob\nLock-Lease: ")
    assert ">8" not in _message(repo)


@pytest.mark.parametrize("text", ["", "# only a comment", "Signed-off-by: Dana <dana@example.com>"])
def test_an_empty_message_still_makes_no_commit(text: str, repo: Repo) -> None:
    before = repo.head
    _edit(repo)
    assert _by_editor(repo, text, check=False) == 1
    assert repo.head == before


def test_a_message_given_empty_still_makes_no_commit(repo: Repo) -> None:
    _edit(repo)
    result = repo.git("commit", "-m", "", agent="bob", check=False)
    assert result.code == 1 and "empty commit message" in result.err


def test_a_template_that_nobody_edited_still_makes_no_commit(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "template").write_text("What:\n\nWhy:\n")
    _edit(repo)
    result = repo.git("commit", "-t", str(tmp_path / "template"), agent="bob", check=False, env={"GIT_EDITOR": "true"})
    assert result.code == 1 and "did not edit the message" in result.err


def test_a_template_that_was_edited_gets_its_receipt(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "template").write_text("Why:\n")
    _edit(repo)
    _by_editor(repo, "bob's", "-t", str(tmp_path / "template"))
    assert _message(repo).startswith("bob's\nWhy:\n\nLock-Agent: bob\n")


def test_whoever_empties_an_amended_message_gets_no_commit(repo: Repo) -> None:
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    before = repo.head
    _edit(repo, "3\n")
    editor = "sed -i -e /^bob/d"
    assert repo.git("commit", "--amend", agent="bob", env={"GIT_EDITOR": editor}, check=False).code == 1
    assert repo.head == before


# -- what becomes of them


def test_an_amend_keeps_one_receipt_of_a_lease(repo: Repo) -> None:
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    _edit(repo, "3\n")
    repo.git("commit", "--amend", "--no-edit", agent="bob")
    assert _message(repo).count("Lock-") == 2


def test_an_amend_replaces_the_receipt_of_a_lease_that_was_narrowed(repo: Repo) -> None:
    repo.lock("claim", "docs/**", agent="bob").ok()
    repo.commit("bob's", {"docs/a": "1", "docs/b": "1"}, agent="bob")
    repo.lock("release", "docs/b", agent="bob").ok()
    _edit(repo, "2\n", "docs/a")
    repo.git("commit", "--amend", "-m", _message(repo), agent="bob")
    (receipt,) = _declared(repo).receipts
    assert receipt.exclude == ("docs/b",)


def test_an_amend_adds_another_agents_receipt_and_keeps_the_first(repo: Repo) -> None:
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    _edit(repo, "3\n", HELD)
    repo.git("commit", "--amend", "--no-edit", agent="alice", env={"GITLOCK_BYPASS": "together"})
    assert [(one.agent, one.title) for one in _declared(repo).receipts] == [("bob", OWN), ("alice", "src/auth/*")]


def test_a_second_lease_of_the_same_agent_goes_below_the_same_name(repo: Repo) -> None:
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    repo.lock("claim", FREE, agent="bob").ok()
    _edit(repo, "3\n", FREE)
    repo.git("commit", "--amend", "--no-edit", agent="bob")
    assert _message(repo).count("Lock-Agent:") == 1 and len(_declared(repo).receipts) == 2


def test_an_amend_without_a_change_adds_what_was_claimed_since(repo: Repo) -> None:
    repo.commit("too early", {FREE: "2\n"}, agent="bob", env={"GITLOCK_BYPASS": "why"})
    repo.lock("claim", FREE, agent="bob").ok()
    repo.git("commit", "--amend", "--no-edit", agent="bob")
    assert [one.title for one in _declared(repo).receipts] == [FREE]
    assert _declared(repo).bypass == ("why",)


def test_a_rebase_keeps_them(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "work")
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    before = _declared(repo)
    repo.git("checkout", "--quiet", "main")
    repo.commit("alice's", {HELD: "2\n"}, agent="alice")
    repo.git("rebase", "--quiet", "main", "work", agent="bob")
    assert _declared(repo) == before and _message(repo).count("Lock-") == 2


def test_a_cherry_pick_keeps_them_and_adds_those_of_who_picks(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "work")
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    repo.git("checkout", "--quiet", "main")
    repo.lock("release", "--all", agent="bob").ok()
    repo.lock("claim", OWN, agent="carol").ok()
    repo.git("cherry-pick", "-x", "work", agent="carol")
    assert _declared(repo).agents == ("bob", "carol") and len(_declared(repo).receipts) == 2


def test_a_revert_inherits_nothing(repo: Repo) -> None:
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    repo.lock("release", "--all", agent="bob").ok()
    repo.lock("claim", OWN, agent="carol").ok()
    repo.git("revert", "--no-edit", "HEAD", agent="carol")
    assert _declared(repo).agents == ("carol",)


def test_a_squash_merge_holds_those_of_every_commit(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "work")
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    repo.commit("alice's", {HELD: "2\n"}, agent="alice")
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--squash", "work", agent="bob")
    repo.git("commit", "--no-edit", agent="bob", env={"GITLOCK_BYPASS": "squashed"})
    assert {(one.agent, one.title) for one in _declared(repo).receipts} == {("bob", OWN), ("alice", "src/auth/*")}


def test_a_rebase_that_squashes_keeps_both(repo: Repo) -> None:
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    repo.lock("claim", FREE, agent="bob").ok()
    repo.commit("fixup! bob's", {FREE: "2\n"}, agent="bob")
    env = {"GIT_SEQUENCE_EDITOR": "sed -i s/^fixup/squash/"}
    repo.git("rebase", "-i", "--autosquash", "HEAD~2", agent="bob", env=env)
    assert {one.title for one in _declared(repo).receipts} == {OWN, FREE}


def test_a_commit_without_verification_has_its_receipt(repo: Repo) -> None:
    _edit(repo)
    repo.git("commit", "--no-verify", "-m", "bob's", agent="bob")
    assert _declared(repo).agents == ("bob",)


def test_a_merge_that_git_made_carries_nothing(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "work")
    repo.commit("bob's", {OWN: "2\n"}, agent="bob")
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--no-ff", "--no-edit", "work", agent="carol")
    assert "Lock-" not in _message(repo)


def test_a_receipt_that_cant_be_written_costs_no_commit(repo: Repo, tmp_path: Path) -> None:
    _edit(repo)
    env = {"GIT_EXEC_PATH": str(_git_without_trailers(repo, tmp_path / "programs"))}
    result = repo.git("commit", "-m", "bob's", agent="bob", env=env)
    assert _message(repo).strip() == "bob's"
    assert result.err.count("without receipts") == 1


def _git_without_trailers(repo: Repo, folder: Path) -> Path:
    """Git's own programs, of which one fails."""
    folder.mkdir()
    programs = Path(repo.git("--exec-path").out.strip())
    for program in programs.iterdir():
        (folder / program.name).symlink_to(program)
    (folder / "git").unlink(missing_ok=True)
    (folder / "git").write_text(
        f'#!/bin/sh\ncase " $* " in *" interpret-trailers "*) exit 1 ;; esac\nexec "{programs / "git"}" "$@"\n'
    )
    (folder / "git").chmod(0o755)
    return folder
