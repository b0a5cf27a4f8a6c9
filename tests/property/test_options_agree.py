"""Options are declared once and read twice: whatever the lean parser takes, click reads just so."""

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitlock.entrypoints.cli.clicking import as_click, given_of
from gitlock.entrypoints.cli.options import FLAG, MANY, Command, Given, read_plainly
from gitlock.entrypoints.cli.running import load
from gitlock.entrypoints.cli.table import COMMANDS
from gitlock.errors import UsageError

TEXTS = [
    "src/a.py",
    "90s",
    "",
    "-",
    "--",
    "a b",
    "=x",
    "x=y",
    "*",
    "!x",
    "-x",
    "-5",
    "\udce9",
    "auto",
    "agent",
    "--json=1",
]


def words_of(command: Command) -> st.SearchStrategy[list[str]]:
    """Command lines such as people and scripts type, and such as nobody would."""
    names = [name for option in command.options for name in option.names]
    spelled = st.one_of(
        st.sampled_from([*names, "--", "-h", "--nonsense", "-qq", "-nq", "--no"]),
        st.sampled_from(TEXTS),
        st.builds("{}={}".format, st.sampled_from(names), st.sampled_from(TEXTS)),
        st.builds("{}{}".format, st.sampled_from(names), st.sampled_from(TEXTS)),
        st.builds(lambda name: name[:-1], st.sampled_from(names)),  # click takes no abbreviations, and nor do we
        st.text(max_size=5),
    )
    return st.lists(spelled, max_size=7)


def by_click(command: Command, words: list[str]) -> Given | None:
    """Click's reading; None where it complains or shows help."""
    try:
        return given_of(command, dict(as_click(command).make_context(command.name, list(words)).params))
    except (click.ClickException, click.exceptions.Exit):
        return None


def read(command: Command, found: Given) -> dict[str, object]:
    """Everything that a command can ask of what was typed."""
    asked: dict[str, object] = {"arguments": found.arguments}
    for option in command.options:
        way = found.flag if option.kind == FLAG else found.many if option.kind == MANY else found.text
        asked[option.key] = way(option.key)
    return asked


@pytest.mark.parametrize("name", COMMANDS)
@settings(max_examples=40)
@given(data=st.data())
def test_the_lean_parser_reads_what_click_reads(name: str, data: st.DataObject) -> None:
    command: Command = load(name)
    words = data.draw(words_of(command))
    try:
        plain = read_plainly(command, words)
    except UsageError:
        return  # an option in the place of a value: refused where click would take it
    if plain is None:
        return
    clicked = by_click(command, words)
    assert clicked is not None, f"click refuses {words}"
    assert read(command, plain) == read(command, clicked)


@pytest.mark.parametrize(
    ("words", "taken"),
    [
        (["x", "--ttl", "90s"], True),
        (["--ttl=90s", "x", "-q", "--json"], True),
        (["--", "-x"], True),
        (["-n", "x", "-m", "why", "--path", "a", "--path", "b"], True),
        (["-qn", "x"], False),
        (["-mwhy", "x"], False),
        (["x", "-h"], False),
        (["x", "--ttl"], False),
        (["x", "--shared=1"], False),
        (["x", "--color", "pink"], False),
    ],
)
def test_plain_words_do_without_click(words: list[str], taken: bool) -> None:
    assert (read_plainly(load("claim"), words) is not None) == taken
