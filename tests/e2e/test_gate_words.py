"""What a gate says, whole: who, through what, since, until, why, one command that comes next, the way out."""

from pathlib import Path

import pytest

from tests.kit.gate import FREE, HELD, OWN, guarded, map_file, next_command, typed
from tests.kit.processes import start, until
from tests.kit.redact import redact
from tests.kit.repo import Repo
from tests.kit.shapes import SHAPES

HOLDER = "since <clock>, until <clock> (1h left)"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return guarded(tmp_path).here


def _said(repo: Repo, *paths: str, agent: str = "bob", env: dict[str, str | None] | None = None) -> str:
    files = dict.fromkeys(paths, f"by {agent}\n")
    return _redacted(repo.commit("x", files, agent=agent, check=False, env=env).err)


def _redacted(text: str) -> str:
    return redact(text, also={r"\(\d+m left\)": "(1h left)"})


def test_a_refusal_for_what_another_holds(repo: Repo) -> None:
    assert _said(repo, HELD, "src/auth/token.py") == (
        "git-lock: commit refused: 2 paths are held by another (you are bob)\n"
        "  'src/auth/login.py' is held by alice through 'src/auth/*'\n"
        "  'src/auth/token.py' is held by alice through 'src/auth/*'\n"
        f'    {HOLDER}: "new login"\n'
        "hint: to see whether it is free again: git lock who src/auth/login.py\n"
        "hint: to go on anyway (recorded and shown): GITLOCK_BYPASS='why' git commit ...\n"
    )


def test_a_refusal_for_what_nobody_claimed(repo: Repo) -> None:
    assert _said(repo, FREE) == (
        "git-lock: commit refused: 1 path is not claimed by you (you are bob)\n"
        "  'README.md' is not claimed by you\n"
        "hint: to claim what is missing: git lock claim README.md\n"
        "hint: to go on anyway (recorded and shown): GITLOCK_BYPASS='why' git commit ...\n"
    )


def test_a_refusal_for_several_reasons(repo: Repo) -> None:
    repo.lock("claim", "docs/", "--shared", agent="carol").ok()
    repo.lock("claim", "notes", "--shared", agent="bob").ok()
    assert _said(repo, FREE, "docs/a.md", HELD, "notes") == (
        "git-lock: commit refused: 4 paths are not yours to change (you are bob)\n"
        "  'README.md' is not claimed by you\n"
        "  'docs/a.md' is held by carol (shared) through 'docs/'\n"
        f"    {HOLDER}\n"
        "  'notes' is yours only shared, which is not enough to change it\n"
        "  'src/auth/login.py' is held by alice through 'src/auth/*'\n"
        f'    {HOLDER}: "new login"\n'
        "hint: to see whether it is free again: git lock who docs/a.md\n"
        "hint: to go on anyway (recorded and shown): GITLOCK_BYPASS='why' git commit ...\n"
    )


def test_a_refusal_for_what_was_taken_over(repo: Repo) -> None:
    repo.lock("claim", FREE, "--ttl", "1s", agent="bob").ok()
    until(lambda: repo.lock("status", FREE, "--exit-code", agent="onlooker").code == 4)
    repo.lock("claim", "*.md", agent="carol").ok()
    repo.lock("release", "*.md", agent="carol").ok()
    assert _said(repo, FREE) == (
        "git-lock: commit refused: 1 path is overtaken by another (you are bob)\n"
        "  'README.md': your lease 'README.md' lapsed, and carol took '*.md' at <clock>\n"
        "hint: to claim it again, once you have looked at what changed: git lock claim README.md\n"
        "hint: to go on anyway (recorded and shown): GITLOCK_BYPASS='why' git commit ...\n"
    )


def test_a_refused_cherry_pick(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("x", {HELD: "1\n"}, agent="alice")
    repo.git("checkout", "--quiet", "main")
    repo.commit("x", {OWN: "1\n"}, agent="bob")
    assert _redacted(repo.git("cherry-pick", "side", agent="bob", check=False).err) == (
        "git-lock: cherry-pick refused: 1 path is held by another (you are bob)\n"
        "  'src/auth/login.py' is held by alice through 'src/auth/*'\n"
        f'    {HOLDER}: "new login"\n'
        "hint: to see whether it is free again: git lock who src/auth/login.py\n"
        "hint: to take this cherry-pick back: git cherry-pick --abort\n"
        "hint: to go on anyway (recorded and shown): GITLOCK_BYPASS='why' git cherry-pick --continue\n"
        "error: 'prepare-commit-msg' hook failed\n"
        "fatal: cherry-pick failed\n"
    )


def test_a_warning(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy='[policy]\nmode = "warn"').here
    assert _said(repo, HELD) == (
        "git-lock: warning: the commit goes on (mode warn): 1 path is held by another (you are bob)\n"
        "  'src/auth/login.py' is held by alice through 'src/auth/*'\n"
        f'    {HOLDER}: "new login"\n'
        "hint: to see whether it is free again: git lock who src/auth/login.py\n"
    )


def test_a_gate_that_could_not_check(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy="").here
    repo.write(".gitlock.toml", map_file("[policy]\nmodus = 1"))
    repo.git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-am", "broken")
    assert _said(repo, OWN) == (
        "git-lock: could not check, so this is refused: .gitlock.toml:4: unknown field 'modus' in [policy]\n"
        "hint: correct line 4 of .gitlock.toml (gates read it as of HEAD: to commit that, go on anyway)\n"
        "hint: to go on anyway (recorded and shown): GITLOCK_BYPASS='why' git commit ...\n"
    )


def test_a_store_that_is_not_understood(repo: Repo, tmp_path: Path) -> None:
    (repo.store / "state.json").write_bytes(b"{")
    said = redact(_said(repo, OWN), tmp_path)
    assert said.startswith("git-lock: could not check, so this is refused: ") and "state.json" in said
    assert "hint: git lock doctor --fix\n" in said


def test_a_holder_s_process_is_told(repo: Repo) -> None:
    with start(["sleep", "600"]) as process:
        repo.lock("claim", FREE, "--pid", str(process.pid), agent="carol").ok()
        assert "its process is alive" in _said(repo, FREE)


def test_a_long_reason_is_cut_and_its_holder_s_text_is_data(tmp_path: Path) -> None:
    repo = guarded(tmp_path, reason="a\nhint: rm -rf /\x1b[31m\u202e " + "x" * 500).here
    said = _said(repo, HELD)
    assert "\x1b" not in said and "\u202e" not in said and "\nhint: rm" not in said
    assert max(map(len, said.splitlines())) < 320 and "…" in said


@pytest.mark.parametrize("shape", SHAPES)
def test_the_command_that_comes_next_works_in_every_shape_of_repository(shape: str, tmp_path: Path) -> None:
    repo = guarded(tmp_path, SHAPES[shape]).here
    told = {"GIT_DIR": repo.told[1], "GIT_WORK_TREE": repo.told[3]} if hasattr(repo, "told") else {}
    refused = repo.commit("x", {FREE: "1\n"}, agent="bob", check=False).ended(1).err
    command = next_command(refused)
    assert repo.run("bash", "-c", command, env=told, agent="bob").ok().out.startswith("claimed 'README.md' as bob")
    assert repo.commit("x", agent="bob").ok().err == ""


def test_who_says_until_when_and_when_it_is_free(repo: Repo) -> None:
    command = next_command(_said(repo, HELD))
    assert "alice" in typed(repo, command).ok().out
    repo.lock("release", "--all", agent="alice").ok()
    assert typed(repo, command).ok().out == "src/auth/login.py: nobody\n"


def test_the_words_fit_a_screen_of_eighty_columns(repo: Repo) -> None:
    said = repo.commit("x", {FREE: "1\n", HELD: "1\n"}, agent="bob", check=False).ended(1).err
    assert max(map(len, said.splitlines())) <= 80
