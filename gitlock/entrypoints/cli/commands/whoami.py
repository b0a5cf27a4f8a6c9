"""``git lock whoami``."""

from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.options import Command, Given
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.wording import AGENT_RULES, visible


def answer(given: Given) -> Answer:
    """Who I am here, and which rule decided."""
    agent = site_of(given).agent
    data = {"agent": {"id": agent.id, "kind": agent.kind, "source": agent.source}}
    return Answer(lines=[f"{visible(agent.id)} ({agent.kind}): {AGENT_RULES[agent.source]}"], data=data)


COMMAND = Command(
    "whoami",
    "who am I here, and why",
    answer,
    text="Says under which name your claims are made, and which rule decided it.",
    codes=(exitcodes.DONE, exitcodes.USAGE),
    examples=("git lock whoami", "GITLOCK_AGENT=alice git lock whoami"),
)
