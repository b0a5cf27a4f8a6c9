"""Names of agents, and who works under whose leases."""

import pytest

from gitlock.domain.agent import NAME_LIMIT, lineage, related, valid_agent
from gitlock.errors import UsageError

GOOD = [
    "a", "alice", "claude-5b0cf1e2", "dana@example.com", "a+b", "A_1", "parent/child", "a/b/c", ".hidden", "a..b",
    "lock", "a.lock/b", "x" * NAME_LIMIT,
]  # fmt: skip
BAD = {
    "": "empty",
    "x" * (NAME_LIMIT + 1): "longer",
    "-rf": "starts with '-'",
    "a.lock": "'.lock'",
    "a/b.lock": "'.lock'",
    "a//b": "empty, '.' or '..'",
    "/a": "empty, '.' or '..'",
    "a/": "empty, '.' or '..'",
    ".": "empty, '.' or '..'",
    "..": "empty, '.' or '..'",
    "a/../b": "empty, '.' or '..'",
    "a b": "may hold only",
    "a\nb": "may hold only",
    "a\x1b[31m": "may hold only",
    "a\u202eb": "may hold only",
    "é": "may hold only",
    "a:b": "may hold only",
    "a\\b": "may hold only",
    "a*": "may hold only",
    "\udcff": "may hold only",
}


@pytest.mark.parametrize("name", GOOD)
def test_a_valid_name_is_kept_as_it_is(name: str) -> None:
    assert valid_agent(name) == name


@pytest.mark.parametrize("name", BAD, ids=repr)
def test_a_bad_name_is_refused_with_its_fault(name: str) -> None:
    with pytest.raises(UsageError) as refused:
        valid_agent(name)
    assert refused.value.id == "bad-agent" and BAD[name] in refused.value.message


def test_an_agent_works_under_all_above_it_nearest_first() -> None:
    assert lineage("a/b/c") == ("a/b/c", "a/b", "a")


def test_an_agent_alone_works_under_itself() -> None:
    assert lineage("alice") == ("alice",)


@pytest.mark.parametrize(("one", "other"), [("a", "a"), ("a", "a/b"), ("a", "a/b/c"), ("a/b", "a/b/c")])
def test_the_leases_of_parent_and_child_count_for_each_other(one: str, other: str) -> None:
    assert related(one, other) and related(other, one)


STRANGERS = [("a/b", "a/c"), ("a", "ab"), ("a/b", "a/bc"), ("a/b/c", "a/d/c"), ("a", "b")]


@pytest.mark.parametrize(("one", "other"), STRANGERS)
def test_siblings_and_strangers_exclude_each_other(one: str, other: str) -> None:
    assert not related(one, other) and not related(other, one)


NO_NAMES = ["a b", ".lock", "x.lock", "", "../x", "a//b", "-x", "ä", "/", "x" * 300, "b.lock/", "a/ /b"]


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_is_proposed_instead_of_a_bad_name_is_a_good_one(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        valid_agent(name)
    proposed = (caught.value.hint or "").split("'")[1]
    assert valid_agent(proposed) == proposed
