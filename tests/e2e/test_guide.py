"""`git lock guide`: what agents are told, printed, and put into files that are somebody else's."""

from pathlib import Path
from typing import Any

import pytest

from gitlock.domain.block import BEGIN, END
from gitlock.entrypoints.cli.guidance import guide, paragraph, skills
from gitlock.entrypoints.cli.running import load
from gitlock.entrypoints.cli.table import COMMANDS, HIDDEN
from gitlock.entrypoints.exitcodes import ADVICE, MEANINGS
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits

BLOCK = f"{BEGIN}\n{paragraph()}{END}"
SKILLS = [f"{folder}/{skill.name}/SKILL.md" for folder in (".agents/skills", ".claude/skills") for skill in skills()]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path)


def states(answer: dict[str, Any], repo: Repo) -> dict[str, str]:
    """Each file of an answer, relative to the repository, with its state."""
    assert_fits("guide", answer)
    return {str(Path(one["path"]).relative_to(repo.path)): one["state"] for one in answer["data"]["places"]}


def tree(repo: Repo) -> dict[str, bytes | str]:
    """Every file and link, without git's own."""
    found: dict[str, bytes | str] = {}
    for path in sorted(repo.path.rglob("*")):
        name = str(path.relative_to(repo.path))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file() and not name.startswith(".git/"):
            found[name] = path.read_bytes()
    return found


# -- shown


def test_it_is_printed_anywhere(tmp_path: Path) -> None:
    assert Repo(tmp_path).lock("guide").ok().out == guide()


def test_no_line_is_wider_than_a_terminal() -> None:
    assert [line for line in (*guide().splitlines(), *paragraph().splitlines()) if len(line) > 80] == []


def test_a_program_learns_every_command_and_option(tmp_path: Path) -> None:
    answer = Repo(tmp_path).json("guide")
    assert_fits("guide", answer)
    learned = {one["name"]: one for one in answer["data"]["guide"]["commands"]}
    common = answer["data"]["guide"]["common_options"]
    assert set(learned) == set(COMMANDS) - set(HIDDEN)
    for name, one in learned.items():
        declared = [list(option.names) for option in load(name).options]
        assert [option["names"] for option in (*one["options"], *common)] == declared


def test_a_program_learns_what_each_exit_code_asks_for(tmp_path: Path) -> None:
    codes = Repo(tmp_path).json("guide")["data"]["guide"]["exit_codes"]
    assert {one["code"]: (one["meaning"], one["advice"]) for one in codes} == {
        code: (MEANINGS[code], ADVICE[code]) for code in MEANINGS
    }


# -- the paragraph


def test_a_repository_without_any_gets_an_agents_file(repo: Repo) -> None:
    assert states(repo.json("guide", "--write"), repo) == {"AGENTS.md": "written"}
    assert repo.read("AGENTS.md") == BLOCK + "\n"


@pytest.mark.parametrize("text", ["# ours\n", "no newline at the end", "# ours\r\n\r\nmore\r\n", "", "\ufeffbom\n"])
def test_what_was_there_stays_and_comes_back(repo: Repo, text: str) -> None:
    repo.write("AGENTS.md", text.encode())
    repo.lock("guide", "--write").ok()
    assert (repo.path / "AGENTS.md").read_bytes().startswith(text.encode())
    repo.lock("guide", "--remove").ok()
    assert (repo.path / "AGENTS.md").read_bytes() == text.encode()


def test_a_second_time_nothing_is_written(repo: Repo) -> None:
    repo.lock("guide", "--write").ok()
    before = (repo.path / "AGENTS.md").stat()
    assert states(repo.json("guide", "--write"), repo) == {"AGENTS.md": "same"}
    assert (repo.path / "AGENTS.md").stat() == before


def test_an_older_paragraph_is_brought_up_to_date_where_it_stands(repo: Repo) -> None:
    repo.write("AGENTS.md", f"# ours\n{BEGIN}\nold\n{END}\n# more")
    assert states(repo.json("guide", "--check"), repo) == {"AGENTS.md": "old"}
    repo.lock("guide", "--write").ok()
    assert repo.read("AGENTS.md") == f"# ours\n{BLOCK}\n# more"


def test_permissions_stay(repo: Repo) -> None:
    repo.write("AGENTS.md", "ours\n").chmod(0o600)
    repo.lock("guide", "--write").ok()
    assert (repo.path / "AGENTS.md").stat().st_mode & 0o777 == 0o600


def test_the_check_ends_with_1_until_it_is_written(repo: Repo) -> None:
    answer = repo.json("guide", "--check")
    assert (answer["code"], answer["error"]["id"], answer["error"]["next"]) == (1, "drift", "git lock guide --write")
    repo.lock("guide", "--write").ok()
    repo.lock("guide", "--check").ok()


@pytest.mark.parametrize("name", ["CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md"])
def test_a_file_that_is_read_in_place_of_agents_md_gets_it_as_well(repo: Repo, name: str) -> None:
    repo.write(name, "ours\n")
    assert states(repo.json("guide", "--write"), repo) == {"AGENTS.md": "written", name: "written"}


@pytest.mark.parametrize("text", ["@AGENTS.md\n", "see @./AGENTS.md for more\n"])
def test_a_file_that_imports_agents_md_does_not(repo: Repo, text: str) -> None:
    repo.write("CLAUDE.md", text)
    assert states(repo.json("guide", "--write"), repo) == {"AGENTS.md": "written"}


@pytest.mark.parametrize("text", ["`@AGENTS.md`\n", "```\n@AGENTS.md\n```\n", "mail@AGENTS.md\n"])
def test_a_file_that_only_names_agents_md_does(repo: Repo, text: str) -> None:
    repo.write("CLAUDE.md", text)
    assert "CLAUDE.md" in states(repo.json("guide", "--write"), repo)


@pytest.mark.parametrize(("link", "file"), [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")])
def test_one_that_is_a_link_to_the_other_is_written_once(repo: Repo, link: str, file: str) -> None:
    repo.write(file, "ours\n")
    (repo.path / link).symlink_to(file)
    assert states(repo.json("guide", "--write"), repo) == {file: "written"}
    repo.lock("guide", "--check").ok()
    repo.lock("guide", "--remove").ok()
    assert repo.read(file) == "ours\n"


def test_a_file_can_be_named_from_the_folder_where_one_stands(repo: Repo) -> None:
    repo.write("docs/HOW.md", "ours\n")
    assert states(repo.json("guide", "--write", "HOW.md", cwd="docs"), repo) == {"docs/HOW.md": "written"}


def test_another_worktree_has_its_own(repo: Repo) -> None:
    there = repo.worktree("there")
    there.lock("guide", "--write").ok()
    assert (there.path / "AGENTS.md").exists() and not (repo.path / "AGENTS.md").exists()


# -- left alone


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (f"{BEGIN}\n".encode(), "has no '<!-- git-lock:end -->'"),
        (f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n".encode(), "there are 2 blocks"),
        (b"\xff\xfea\0", "it is not UTF-8"),
        (None, "it is a link to '../elsewhere.md'"),
    ],
)
@pytest.mark.parametrize("action", ["--write", "--check", "--remove"])
def test_what_is_in_doubt_is_left_alone(repo: Repo, data: bytes | None, why: str, action: str) -> None:
    repo.write("CLAUDE.md", "ours\n")
    if data is None:
        repo.write("../elsewhere.md", "theirs\n")
        (repo.path / "AGENTS.md").symlink_to("../elsewhere.md")
    else:
        repo.write("AGENTS.md", data)
    before = tree(repo)
    assert why in repo.lock("guide", action, "AGENTS.md").ended(17).err
    repo.lock("guide", "--write").ended(17)
    assert tree(repo) == before  # not CLAUDE.md either: all or nothing


def test_a_file_that_another_holds_is_left_alone(repo: Repo) -> None:
    repo.lock("claim", "AGENTS.md", agent="bob").ok()
    answer = repo.json("guide", "--write")
    assert_fits("guide", answer)
    assert (answer["code"], answer["error"]["next"]) == (10, "git lock request AGENTS.md -m 'why you need it'")
    assert not (repo.path / "AGENTS.md").exists()
    repo.lock("guide", "--write", agent="bob").ok()


@pytest.mark.parametrize(
    "words",
    [
        ["AGENTS.md"],
        ["--write", "--check"],
        ["--write", "src"],
        ["--write", ""],
        ["--write", "--skills", "README.md"],
    ],
    ids=" ".join,
)
def test_what_makes_no_sense_is_said(repo: Repo, words: list[str]) -> None:
    repo.write("src/a", "a\n")
    before = tree(repo)
    repo.lock("guide", *words).ended(2)
    assert tree(repo) == before


def test_a_file_that_is_longer_than_codex_reads_is_warned_of(repo: Repo) -> None:
    repo.write("AGENTS.md", "x\n" * 20_000)
    assert "Codex will not read" in repo.lock("guide", "--write").ok().err


def test_only_what_is_in_the_worktree_is_to_be_committed(repo: Repo, tmp_path: Path) -> None:
    assert "commit it" in repo.lock("guide", "--write", "docs.md").ok().err
    for words in ([str(tmp_path / "mine.md")], ["--skills", str(tmp_path / "skills")]):
        assert "commit it" not in repo.lock("guide", "--write", *words).ok().err


# -- the skills


def test_the_skills_go_where_programs_look(repo: Repo) -> None:
    assert states(repo.json("guide", "--write", "--skills"), repo) == dict.fromkeys(SKILLS, "written")
    assert [repo.read(path) for path in SKILLS] == [skill.text for skill in skills()] * 2
    repo.lock("guide", "--check", "--skills").ok()


def test_taking_the_skills_away_leaves_nothing(repo: Repo) -> None:
    before = tree(repo)
    repo.lock("guide", "--write", "--skills").ok()
    assert states(repo.json("guide", "--remove", "--skills"), repo) == dict.fromkeys(SKILLS, "removed")
    assert tree(repo) == before and not (repo.path / ".agents").exists()


def test_a_folder_with_other_skills_stays(repo: Repo) -> None:
    repo.write(".claude/skills/mine/SKILL.md", "mine\n")
    repo.lock("guide", "--write", "--skills").ok()
    repo.lock("guide", "--remove", "--skills").ok()
    assert repo.read(".claude/skills/mine/SKILL.md") == "mine\n"


@pytest.mark.parametrize("action", ["--write", "--remove"])
def test_a_skill_that_was_changed_by_hand_is_left_alone(repo: Repo, action: str) -> None:
    repo.lock("guide", "--write", "--skills").ok()
    repo.write(SKILLS[0], repo.read(SKILLS[0]) + "and our own rules\n")
    before = tree(repo)
    assert "changed by hand" in repo.lock("guide", action, "--skills").ended(17).err
    assert tree(repo) == before


def test_a_skill_that_git_checked_out_with_other_line_endings_is_the_same(repo: Repo) -> None:
    repo.lock("guide", "--write", "--skills").ok()
    repo.write(SKILLS[0], repo.read(SKILLS[0]).replace("\n", "\r\n").encode())
    repo.lock("guide", "--check", "--skills").ok()
    repo.lock("guide", "--remove", "--skills").ok()


def test_two_names_of_one_folder_are_written_once(repo: Repo) -> None:
    repo.write(".agents/skills/mine/SKILL.md", "mine\n")
    (repo.path / ".claude").mkdir()
    (repo.path / ".claude/skills").symlink_to("../.agents/skills")
    found = states(repo.json("guide", "--write", "--skills"), repo)
    assert set(found) == {path for path in SKILLS if path.startswith(".agents")}
    repo.lock("guide", "--check", "--skills").ok()


def test_a_folder_that_leads_out_of_the_worktree_is_left_alone(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo.path / ".claude").symlink_to(tmp_path / "elsewhere")
    assert "leads out of the worktree" in repo.lock("guide", "--write", "--skills").ended(17).err
    assert list((tmp_path / "elsewhere").iterdir()) == [] and not (repo.path / ".agents").exists()


def test_a_person_may_have_the_skills_for_every_repository(tmp_path: Path) -> None:
    Repo(tmp_path).lock("guide", "--write", "--skills", "skills").ok()
    assert sorted(path.name for path in (tmp_path / "skills").iterdir()) == [skill.name for skill in skills()]
