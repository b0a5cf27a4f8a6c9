"""What the skill shows is what happens: two agents, one of whom wants a file that the other holds."""

import re
from pathlib import Path

from gitlock.entrypoints.cli.guidance import skills
from tests.kit.redact import redact
from tests.kit.repo import Repo

FILES = {"src/auth/login.py": "def login(name):\n    return name\n", "src/auth/session.py": "session = {}\n"}
IDS = re.compile(r"\bt[0-9a-f]{12}\b|\b[0-9a-f]{8}\b")
SPANS = {r"\(\d[\dhms ]*( left| ago)?\)": "(<span>)"}


class Shown:
    """A command of the transcript, whose it is, and what the skill says it answers."""

    def __init__(self, agent: str, command: str) -> None:
        self.agent = agent
        self.command = command
        self.lines: list[str] = []
        self.code = 0


def _transcript() -> list[Shown]:
    steps: list[Shown] = []
    for block in re.findall(r"(?ms)^```console\n(.*?)^```$", skills()[0].text):
        for line in block.splitlines():
            prompt, code = re.fullmatch(r"(\w+)\$ (.*)", line), re.fullmatch(r"# exit code (\d+)", line)
            if prompt:
                steps.append(Shown(prompt[1], prompt[2]))
            elif code:
                steps[-1].code = int(code[1])
            else:
                steps[-1].lines.append(line)
    return steps


def test_the_example_of_the_skill_ends_as_it_says(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path, files=FILES)
    repo.install()
    places = {name: repo.worktree(name) for name in ("alice", "bob")}
    real: dict[str, str] = {}  # ids as they are shown → as they are
    for step in _transcript():
        command = IDS.sub(lambda found: real.get(found[0], found[0]), step.command)
        done = places[step.agent].run("bash", "-c", f"({command}) 2>&1", agent=step.agent)
        said = done.out
        for shown, found in zip(IDS.findall("\n".join(step.lines)), IDS.findall(said), strict=False):
            real[shown] = found
            said = said.replace(found, shown)
        assert (done.code, redact(said, also=SPANS)) == (
            step.code, "".join(redact(line, also=SPANS) + "\n" for line in step.lines)
        ), step.command  # fmt: skip
    assert places["bob"].read("src/auth/login.py").endswith("LIMIT = None\nLIMIT = 3\n")
