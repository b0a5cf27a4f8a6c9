"""What the quick paths do without, and what the tricks buy that keep them quick.

First, what each module costs that a hook, `claim` or `release` does not import: a Python that imports it and nothing
else, over one that does nothing. Then the same hook and the same claim without the two tricks: with the modules found
one by one instead of in the bundle (gitlock/bundle.py), and with git asked by Python instead of by the stub
(templates/hook.sh).

    python benchmarks/avoided.py [--rounds N] [--json]
"""

import argparse
import compileall
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ground import Ground, Scratch, ground, present
from measure import BARE, ROUNDS, Table, Work, bare_python, beside, compare
from peers import PEERS

import gitlock

STANDARD = """
fcntl marshal _json collections functools hashlib contextlib datetime enum re json typing pathlib shutil subprocess
argparse dataclasses logging threading tomllib importlib.metadata
""".split()  # noqa: SIM905
OTHERS = ("click", "rich", "rich.console", "pathspec", "git", "redis")

LAUNCHER = """\
#!{python}
import sys
sys.path.insert(0, {place!r})
from gitlock.__main__ import main
main()
"""

ASKING = 'gl_ask 2>/dev/null </dev/null | GITLOCK_GIT_PID=$gl_git "$gl_python"'
BY_ITSELF = 'GITLOCK_GIT_PID=$gl_git "$gl_python"'
ANSWERED = '--asked "$gl_wanted" "$gl_hook"'
UNANSWERED = '"$gl_hook"'

PATH = "docs/guide.md"


def imports(rounds: int) -> tuple[Table, dict[str, str]]:
    """Each module in a fresh interpreter; those that are not installed here, by name."""
    works: dict[str, Work] = {"-I -S, nothing": [sys.executable, "-I", "-S", "-c", "pass"]}
    missing = {}
    for name in STANDARD:
        works[name] = [sys.executable, "-c", f"import {name}"]
    for name in OTHERS:
        python = next((one for one in (sys.executable, str(PEERS / "bin/python")) if imported(one, name)), None)
        if python is None:
            missing[name] = "not installed here"
        else:
            works[name] = [python, "-c", f"import {name}"]
    return compare(works, rounds=rounds, env=_clean()), missing


def imported(python: str, name: str) -> bool:
    """Whether that interpreter has the module; this also makes its byte code."""
    try:
        return subprocess.run([python, "-c", f"import {name}"], env=_clean(), capture_output=True).returncode == 0
    except OSError:
        return False


def _clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


class Copy:
    """A copy of the package, with or without its bundle."""

    def __init__(self, place: Ground, name: str, bundled: bool) -> None:
        self.folder = place.folder / name
        source = Path(gitlock.__file__).parent
        shutil.copytree(source, self.folder / "gitlock", ignore=shutil.ignore_patterns("__pycache__"))
        self.program = self.folder / "git-lock"
        self.program.write_text(LAUNCHER.format(python=sys.executable, place=str(self.folder)))
        self.program.chmod(0o755)
        compileall.compile_dir(self.folder, quiet=2, maxlevels=20)
        self.env = {} if bundled else {"PYTHONDONTWRITEBYTECODE": "1"}  # then it is never made

    def bundled(self) -> bool:
        """Whether the bundle is there."""
        return any((self.folder / "gitlock/__pycache__").glob("bundle.*.bin"))


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """The stub with parts of it changed; a part that it no longer has is an error: nothing would be measured."""
    for old, new in pairs:
        if old not in text:
            raise ValueError(f"the stub has no '{old}' any more")
        text = text.replace(old, new)
    return text


def tricks(place: Ground, rounds: int) -> Table:
    """The hook and the claim with and without each trick."""
    repo = place.repository("tricks")
    repo.run(beside("git-lock"), "install")
    repo.hold(10)
    fast, slow = Copy(place, "fast", True), Copy(place, "slow", False)
    for copy in (fast, slow):
        repo.process([str(copy.program), "mine"], env=copy.env)()
    assert fast.bundled()
    assert not slow.bundled()

    works: dict[str, Work] = {BARE: bare_python()}
    stub = (repo.path / ".git/hooks/pre-commit").read_text()
    installed = str(Path(gitlock.__file__).parent)
    for copy, bundle in ((fast, ""), (slow, "no bundle")):
        here = replaced(stub, (installed, str(copy.folder / "gitlock")))
        alone = replaced(here, (ASKING, BY_ITSELF), (ANSWERED, UNANSWERED))
        for text, asker in ((here, ""), (alone, "git asked by Python")):
            without = " and ".join(part for part in (bundle, asker) if part)
            works[f"hook, {without or 'as it is'}"] = hook(repo, text, len(works))
    claims = {"claim, as it is": fast, "claim, no bundle": slow}
    claim = [beside("git-lock"), "claim", PATH]
    for name, copy in claims.items():
        works[name] = repo.process([str(copy.program), "claim", PATH], env=copy.env)
    release = repo.process([beside("git-lock"), "release", PATH])
    repo.run(*claim)  # so that there is always one to give back

    def give_back(name: str) -> None:
        if name in claims:
            release()

    return compare(works, baseline=BARE, rounds=rounds, before_each=give_back)


def hook(repo: Scratch, text: str, number: int) -> Callable[[], None]:
    """A hook of that text."""
    file = repo.path / f".git/hooks/pre-commit-{number}"
    file.write_text(text)
    file.chmod(0o755)
    return repo.process([str(file)])


def main() -> int:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description="Times what the quick paths avoid.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with ground() as place:
        first, missing = imports(asked.rounds)
        second = tricks(place, asked.rounds)
        present({"an import": first, "the tricks": second}, missing, asked.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
