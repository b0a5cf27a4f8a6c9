"""Settings files as people have them: everything that is not ours stays byte for byte, or nothing is written at all."""

import itertools
import json
import os
import shlex
import shutil
import stat
from pathlib import Path

import pytest

from gitlock.domain.programs import PROGRAMS
from gitlock.stores.files.setups import Hidden
from gitlock.usecases.settings.disk import Changed, read_settings, remove_settings, write_settings
from gitlock.usecases.settings.hiding import hide, left_to, show
from tests.kit.processes import Job, run_at_once
from tests.kit.program import child_environment, program
from tests.kit.repo import Repo

LOCAL = ".claude/settings.local.json"
OTHERS = """{
    // what I may do without being asked
    "permissions": {"allow": ["Bash(ls:*)"]}, /* short */
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]},
        ],
        "Stop": []
    },
    "model": "x",
}
"""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, files={"src/a.py": "1\n"})


KINDS = {
    "empty": b"",
    "a line end": b"\n",
    "an object": b"{}",
    "with other tools' hooks": OTHERS.encode(),
    "with CR LF": OTHERS.replace("\n", "\r\n").encode(),
    "with tabs": OTHERS.replace("    ", "\t").encode(),
    "with a byte order mark": b"\xef\xbb\xbf" + OTHERS.encode(),
    "without a last line end": OTHERS.rstrip("\n").encode(),
    "on one line": b'{"model":"x","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say"}]}]}}',
    "in every script": '{"名": "é \\ud83d\\ude00 😀"}'.encode(),
}


@pytest.mark.parametrize("before", KINDS.values(), ids=KINDS)
def test_a_file_comes_back_as_it_was(repo: Repo, before: bytes) -> None:
    file = repo.write(LOCAL, before)
    file.chmod(0o640)
    repo.lock("setup", "claude", agent=None).ok()
    assert file.read_bytes() != before and repo.lock("setup", "claude", "--check", agent=None).code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    repo.lock("setup", "claude", "--remove", agent=None).ok()
    assert file.read_bytes() == before and stat.S_IMODE(file.stat().st_mode) == 0o640


def test_what_somebody_adds_afterwards_stays(repo: Repo) -> None:
    file = repo.write(LOCAL, OTHERS)
    repo.lock("setup", "claude", agent=None).ok()
    text = file.read_text()
    for old, new in (('"model": "x"', '"model": "y"'), ('"Bash(ls:*)"', '"Bash(ls:*)", "WebFetch"')):
        text = text.replace(old, new)
    file.write_text(text)
    repo.lock("setup", "claude", "--remove", agent=None).ok()
    assert file.read_text() == OTHERS.replace('"x"', '"y"').replace('"Bash(ls:*)"', '"Bash(ls:*)", "WebFetch"')


def test_a_file_of_ours_that_somebody_uses_stays_without_us(repo: Repo) -> None:
    repo.lock("setup", "claude", agent=None).ok()
    file = repo.path / LOCAL
    file.write_text(json.dumps({**json.loads(file.read_text()), "model": "x"}, indent=2))
    repo.lock("setup", "claude", "--remove", agent=None).ok()
    assert json.loads(file.read_text()) == {"model": "x"}


def test_a_folder_of_ours_that_somebody_uses_stays(repo: Repo) -> None:
    repo.lock("setup", "claude", agent=None).ok()
    repo.write(".claude/agents/x.md", "x\n")
    repo.lock("setup", "claude", "--remove", agent=None).ok()
    assert not (repo.path / LOCAL).exists() and (repo.path / ".claude/agents/x.md").exists()


def test_without_what_is_remembered_only_ours_is_taken_out(repo: Repo) -> None:
    file = repo.write(LOCAL, OTHERS)
    repo.lock("setup", "claude", agent=None).ok()
    (repo.store / "setup.json").write_text("{not json")
    repo.lock("setup", "claude", "--remove", agent=None).ok()
    assert "git-lock" not in file.read_text() and "what I may do" in file.read_text() and "lint" in file.read_text()


BROKEN = {
    "no json": (b'{\n  "a": 1\n  "b": 2\n}', "(line 3, column 3)"),
    "cut short": (b'{"hooks": {', "(line 1, column 12)"),
    "hooks are a list": (b'{\n"hooks": []}', "'hooks' is not an object (line 2)"),
    "an event is an object": (b'{"hooks": {"Stop": {}}}', "'hooks.Stop' is not a list (line 1)"),
    "hooks twice": (b'{"hooks": {},\n "hooks": {}}', "'hooks' is there twice"),
    "no object": (b"[1]", "the document is not an object"),
    "not UTF-8": (b'{"a": "\xff"}', "not UTF-8"),
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "too long": (b'{"a": "' + b"x" * (1 << 20) + b'"}', "longer than 1 MiB"),
    "nested without end": (b'{"a": ' + b"[" * 200_000, "levels deep"),
}


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_named_and_left_alone(repo: Repo, case: tuple[bytes, str] | bytes) -> None:
    before, said = case if isinstance(case, tuple) else (case, "not UTF-8")
    file = repo.write(LOCAL, before)
    result = repo.lock("setup", "claude", agent=None)
    assert result.code == 17 and said in result.err and "nothing was changed" in result.err, result
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_nothing_is_written_through_a_link(repo: Repo, tmp_path: Path) -> None:
    other = tmp_path / "dotfiles.json"
    other.write_text("{}")
    (repo.path / ".claude").mkdir()
    (repo.path / LOCAL).symlink_to(other)
    result = repo.lock("setup", "claude", agent=None)
    assert result.code == 17 and str(other) in result.err and "--print" in result.err
    assert other.read_text() == "{}" and (repo.path / LOCAL).is_symlink()


def test_nothing_is_written_into_a_folder_that_is_a_link(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo.path / ".claude").symlink_to(tmp_path / "elsewhere")
    result = repo.lock("setup", "claude", agent=None)
    assert result.code == 17 and "is a link to" in result.err
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("place", [LOCAL, ".claude"])
def test_what_is_no_file_is_left_alone(repo: Repo, place: str) -> None:
    if place == LOCAL:
        (repo.path / LOCAL).mkdir(parents=True)
    else:
        repo.write(place, "a file\n")
    result = repo.lock("setup", "claude", agent=None)
    assert result.code == 17 and "not a f" in result.err


def test_a_pipe_in_its_place_is_not_waited_for(repo: Repo) -> None:
    (repo.path / ".claude").mkdir()
    os.mkfifo(repo.path / LOCAL)
    assert repo.lock("setup", "claude", agent=None).code == 17


def test_a_file_that_may_not_be_written_is_not(repo: Repo) -> None:
    file = repo.write(LOCAL, "{}")
    file.chmod(0o444)
    result = repo.lock("setup", "claude", agent=None)
    assert result.code == 17 and "read-only" in result.err and "chmod u+w" in result.err
    assert file.read_text() == "{}"


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="permissions: needs setpriv")
def test_a_folder_that_may_not_be_written_is_named(repo: Repo) -> None:
    repo.path.chmod(0o555)
    drop = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all")
    try:
        result = repo.run(*(drop if os.geteuid() == 0 else ()), str(program()), "setup", "claude")
    finally:
        repo.path.chmod(0o755)
    assert result.code == 17 and "can't be made (Permission denied)" in result.err
    assert not (repo.path / ".claude").exists()


def test_what_somebody_wrote_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    for before, now in ((None, b"theirs"), (b"old", b"theirs"), (b"old", None)):
        file.unlink(missing_ok=True)
        if before is not None:
            file.write_bytes(before)
        seen = read_settings(str(file), str(tmp_path))
        file.write_bytes(now) if now is not None else file.unlink()
        with pytest.raises(Changed):
            write_settings(str(file), seen, b"ours", str(tmp_path))
        with pytest.raises(Changed):
            remove_settings(str(file), seen, str(tmp_path), ())
        assert (file.read_bytes() if file.exists() else None) == now
        assert [path.name for path in tmp_path.iterdir() if path.name != file.name and "settings" in path.name] == []


def test_what_a_dead_setup_has_left_is_written_over(repo: Repo) -> None:
    repo.write(LOCAL + ".git-lock-new", "half of a")
    repo.lock("setup", "claude", agent=None).ok()
    assert [path.name for path in (repo.path / ".claude").iterdir()] == ["settings.local.json"]


def test_programs_that_are_set_up_at_once_do_not_lose_each_other(repo: Repo) -> None:
    environment = child_environment()
    jobs = [
        Job([str(program()), "setup", name], cwd=repo.path, env=environment) for name in PROGRAMS for _ in range(2)
    ]
    assert [job.code for job in run_at_once(jobs)] == [0] * len(jobs)
    for name in PROGRAMS:
        assert repo.lock("setup", name, "--check", agent=None).code == 0, name
    remembered = json.loads((repo.store / "setup.json").read_text())
    assert sorted(remembered["programs"]) == sorted(PROGRAMS)
    assert repo.git("status", "--porcelain", "--untracked-files=all").out == ""
    repo.lock("setup", "all", "--remove", agent=None).ok()
    assert sorted(path.name for path in repo.path.iterdir()) == [".git", "src"]


def test_git_s_list_of_ignored_files_comes_back_as_it_was(repo: Repo) -> None:
    exclude = repo.common_dir / "info/exclude"
    for before in (b"*.log", b"*.log\n", b""):
        exclude.write_bytes(before)
        repo.lock("setup", "claude", "cursor", agent=None).ok()
        assert repo.git("status", "--porcelain", "--untracked-files=all").out == ""
        repo.lock("setup", "claude", "--remove", agent=None).ok()
        repo.lock("setup", "cursor", "--remove", agent=None).ok()
        assert exclude.read_bytes() == before
    exclude.unlink()
    repo.lock("setup", "claude", "cursor", agent=None).ok()
    repo.lock("setup", "claude", "cursor", "--remove", agent=None).ok()
    assert not exclude.exists()


COMMENT = b"# git-lock setup: settings of an agent program that are this clone's own\n"
LINES = {
    "claude": b"/.claude/settings.local.json\n",
    "cursor": b"/.cursor/hooks.json\n",
    "gemini": b"/.gemini/settings.json\n",
}


@pytest.mark.parametrize("order", list(itertools.permutations(LINES)), ids=" ".join)
@pytest.mark.parametrize("before", [b"*.log", b"*.log\n", None], ids=["no line end", "a line end", "no file"])
def test_one_comment_stands_above_all_lines_whoever_goes_first(
    tmp_path: Path, order: tuple[str, ...], before: bytes | None
) -> None:
    (tmp_path / "info").mkdir()
    exclude = tmp_path / "info/exclude"
    if before is not None:
        exclude.write_bytes(before)
    remembered: dict[str, Hidden] = {}
    for name, line in LINES.items():
        hidden = hide(str(tmp_path), line[1:-1].decode(), name)
        assert hidden is not None
        remembered[name] = hidden
    assert exclude.read_bytes().count(COMMENT) == 1
    assert exclude.read_bytes().endswith(COMMENT + b"".join(LINES.values()))
    for name in order:
        gone = remembered.pop(name)
        assert show(str(tmp_path), LINES[name][1:-1].decode(), gone, name)
        if remembered:
            first = next(iter(remembered))
            remembered[first] = left_to(gone, remembered[first])
    assert (exclude.read_bytes() if exclude.exists() else None) == before


@pytest.mark.parametrize("order", list(itertools.permutations(LINES)), ids=" ".join)
def test_lines_that_an_older_version_has_written_are_taken_out_as_well(tmp_path: Path, order: tuple[str, ...]) -> None:
    (tmp_path / "info").mkdir()
    exclude = tmp_path / "info/exclude"
    exclude.write_bytes(b"*.log\n" + b"".join(COMMENT + line for line in LINES.values()) + b"*.tmp")
    for name in order:
        line = LINES[name]
        assert show(str(tmp_path), line[1:-1].decode(), Hidden((COMMENT + line).decode(), made=False), name)
    assert exclude.read_bytes() == b"*.log\n*.tmp"


def test_lines_of_others_below_ours_stay(repo: Repo) -> None:
    exclude = repo.common_dir / "info/exclude"
    exclude.write_bytes(b"*.log")
    repo.lock("setup", "claude", agent=None).ok()
    exclude.write_bytes(exclude.read_bytes() + b"/mine\n")
    repo.lock("setup", "cursor", agent=None).ok()
    repo.lock("setup", "claude", "cursor", "--remove", agent=None).ok()
    assert exclude.read_bytes() == b"*.log\n/mine\n"


@pytest.mark.parametrize("link", ["info", "info/exclude"])
def test_a_link_in_git_s_own_folder_is_followed_as_git_does(repo: Repo, tmp_path: Path, link: str) -> None:
    place = repo.common_dir / link
    there = tmp_path / "shared"
    place.rename(there)
    place.symlink_to(there)
    real = there / "exclude" if there.is_dir() else there
    before = real.read_bytes()
    repo.lock("setup", "claude", agent=None).ok()
    assert repo.git("status", "--porcelain", "--untracked-files=all").out == ""
    repo.lock("setup", "claude", "--remove", agent=None).ok()
    assert place.is_symlink() and real.read_bytes() == before


def test_a_link_to_nothing_is_named_with_what_works_all_the_same(repo: Repo, tmp_path: Path) -> None:
    exclude = repo.common_dir / "info/exclude"
    exclude.unlink()
    exclude.symlink_to(tmp_path / "gone")
    result = repo.lock("setup", "claude", agent=None).ended(17)
    assert f"'{exclude}'" in result.err and "hint: git lock setup claude --user" in result.err
    assert not (tmp_path / "gone").exists() and not (repo.path / LOCAL).exists()
    repo.lock("setup", "claude", "--shared", agent=None).ok()


def test_the_hint_about_a_name_with_an_apostrophe_is_a_command_that_works(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path, name="it's mine")
    (repo.path / LOCAL).mkdir(parents=True)
    command = repo.lock("setup", "claude", agent=None).ended(17).err.splitlines()[-1].removeprefix("hint: ")
    assert shlex.split(command)[-1] == str(repo.path / LOCAL)


def test_what_git_ignores_anyway_needs_no_line(repo: Repo) -> None:
    repo.commit("ignore", files={".gitignore": ".claude/\n"})
    before = (repo.common_dir / "info/exclude").read_bytes()
    repo.lock("setup", "claude", agent=None).ok()
    assert (repo.common_dir / "info/exclude").read_bytes() == before


def test_a_name_that_no_terminal_should_print_is_escaped(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path, name="a\x1b[31m\udcffb")
    repo.write(LOCAL, "[]")
    result = repo.lock("setup", "claude", agent=None)
    assert result.code == 17 and "\x1b" not in result.err
