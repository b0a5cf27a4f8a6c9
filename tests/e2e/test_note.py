"""`git lock note`: one shared file for each branch, replaced whole."""

import json
from pathlib import Path

import pytest

from tests.kit.processes import Job, run_at_once
from tests.kit.program import child_environment, program
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits


def versions(repo: Repo, *words: str) -> list[str]:
    answer = repo.json("note", "--history", *words)
    assert_fits("note", answer)
    return [one["text"] for one in answer["data"]["versions"]]


def test_a_note_is_of_its_branch_and_seen_from_every_worktree(repo: Repo) -> None:
    there = repo.worktree("there")
    repo.lock("note", "--set", "for main").ok()
    there.lock("note", "--set", "for there", agent="bob").ok()
    assert repo.lock("note").ok().out == "for main\n"
    assert there.lock("note", "--branch", "main").ok().out == "for main\n"
    said = repo.lock("note", "-b", "there").ok()
    assert said.out == "for there\n" and "by bob at" in said.err


def test_only_a_note_that_was_there_is_said_to_be_replaced(repo: Repo) -> None:
    first = repo.lock("note", "--set", "one").ok().out
    assert first == "the note of 'main' is set (4 bytes)\n"
    second = repo.lock("note", "--set", "two").ok().lines
    was = "  what it was: git lock note --branch main --history"
    assert second == ["the note of 'main' is replaced (4 bytes)", was]


def test_what_it_was_stays_in_history(repo: Repo) -> None:
    for text in ("one", "two", "three"):
        repo.lock("note", "--set", text).ok()
    assert versions(repo) == ["one\n", "two\n", "three\n"]


def test_a_text_of_64_kib_and_more_is_kept_byte_for_byte(repo: Repo) -> None:
    text = (b"line \xc3\xa9 \xff\n" * 12_000)[: 128 << 10]
    repo.lock("note", "-F", "-", input=text).ok()
    assert repo.lock("note", "--raw").ok().raw_out == text
    repo.lock("note", "--set", "").ok()
    assert len(versions(repo)) == 2 and versions(repo)[0].startswith("line")


def test_a_text_that_is_too_long_changes_nothing(repo: Repo) -> None:
    repo.lock("note", "--set", "kept").ok()
    refused = repo.lock("note", "-F", "-", input=b"x" * ((256 << 10) + 1)).ended(2)
    assert "may have 262144" in refused.err
    assert repo.lock("note").ok().out == "kept\n"


def test_a_file_that_is_not_there_changes_nothing(repo: Repo) -> None:
    repo.lock("note", "--set", "kept").ok()
    repo.lock("note", "-F", "nowhere.txt").ended(2)
    assert repo.lock("note").ok().out == "kept\n"


def test_a_detached_head_has_no_note_but_another_branch_s_can_be_named(repo: Repo) -> None:
    repo.git("switch", "-q", "--detach")
    assert "--branch NAME" in repo.lock("note").ended(1).err
    repo.lock("note", "--branch", "main", "--set", "x").ok()


@pytest.mark.parametrize("name", ["", "a..b", "-x", "a b", "x.lock", "\x1b", "@{-1}"])
def test_what_can_t_be_a_branch_has_no_note(repo: Repo, name: str) -> None:
    assert "\x1b" not in repo.lock("note", f"--branch={name}", "--set", "x").ended(2).err


def test_branches_whose_names_differ_in_case_or_slashes_have_notes_of_their_own(repo: Repo) -> None:
    names = ["feature/x", "Feature/x", "feature_x", "feature/X"]
    for name in names:
        repo.lock("note", "-b", name, "--set", name).ok()
    assert [repo.lock("note", "-b", name).ok().out for name in names] == [f"{name}\n" for name in names]


def test_somebody_else_s_text_is_shown_as_text(repo: Repo) -> None:
    repo.lock("note", "--set", "a\tb\n\x1b[2J\u202ec\n").ok()
    assert repo.lock("note").ok().out == "a\tb\n\\x1b[2J\\u202ec\n"
    assert repo.lock("note", "--raw").ok().out == "a\tb\n\x1b[2J\u202ec\n"


def test_a_branch_without_a_note_says_how_to_write_one(repo: Repo) -> None:
    said = repo.lock("note").ok()
    assert (said.out, "git lock note --branch main --set TEXT" in said.err) == ("", True)
    answer = repo.json("note")
    assert_fits("note", answer)
    assert answer["data"] == {"branch": "main", "note": None}


def test_in_a_bare_repository_the_branch_is_its_head_s(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path, bare=True)
    repo.lock("note", "--set", "x").ok()
    assert repo.json("note")["data"]["branch"] == "main"


def test_a_note_that_is_none_is_said_and_not_shown_as_empty(repo: Repo) -> None:
    repo.lock("note", "--set", "x").ok()
    (repo.store / "notes/main.json").write_text("{")
    assert "is not a note" in repo.lock("note").ended(20).err


@pytest.mark.parametrize("words", [["--set", "x", "-F", "y"], ["--set", "x", "--history"], ["--set", "x", "--raw"]])
def test_ways_that_exclude_each_other(repo: Repo, words: list[str]) -> None:
    repo.lock("note", *words).ended(2)


def test_many_writers_and_readers_never_see_a_torn_note(repo: Repo) -> None:
    texts = [f"{number:02} " * 20_000 for number in range(25)]
    for number, text in enumerate(texts):
        (repo.path.parent / f"{number}.txt").write_text(text)
    repo.lock("note", "-F", "../0.txt").ok()
    env = child_environment({}, agent="alice")
    jobs = []
    for number in range(len(texts)):
        jobs.append(Job([str(program()), "note", "-F", f"../{number}.txt"], repo.path, env))
        jobs.append(Job([str(program()), "note", "--raw"], repo.path, env))
    answers = run_at_once(jobs)
    assert {answer.code for answer in answers} == {0}
    assert {answer.out for answer in answers[1::2]} <= set(texts)
    final = json.loads((repo.store / "notes/main.json").read_bytes())["text"]
    assert final in texts
    assert sorted(versions(repo)) == sorted([texts[0], *texts])
    assert [path.name for path in (repo.store / "notes").iterdir()] == ["main.json"]
