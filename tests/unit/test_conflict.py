"""Whose lease stands in the way of a claim, and the one path that shows it."""

import itertools

import pytest

from gitlock.domain.conflict import Conflict, meeting, touching
from gitlock.domain.footprint import Footprint
from gitlock.domain.lease import MODES
from gitlock.domain.overlap import covers
from gitlock.domain.pattern import PLAIN, Fold
from tests.kit.agents import a_lease


def met(lease_mode: str, mode: str, *, agent: str = "bob", holder: str = "alice") -> Conflict | None:
    lease = a_lease("src/*", agent=holder, mode=lease_mode)
    return meeting(lease, agent, mode, (), Footprint.of(("src/a.py",)), PLAIN)


EXCLUDING = {("exclusive", "exclusive"), ("exclusive", "shared"), ("shared", "exclusive")}


@pytest.mark.parametrize(("one", "other"), list(itertools.product(MODES, MODES)))
def test_two_claims_exclude_each_other_unless_both_are_shared_or_one_only_announces(one: str, other: str) -> None:
    assert (met(one, other) is not None) == ((one, other) in EXCLUDING)


@pytest.mark.parametrize("agent", ["alice", "alice/helper", "alice/a/b"])
def test_a_family_does_not_stand_in_its_own_way(agent: str) -> None:
    assert met("exclusive", "exclusive", agent=agent) is None


def test_a_parent_does_not_stand_in_its_childs_way() -> None:
    assert met("exclusive", "exclusive", agent="team", holder="team/one") is None


def test_siblings_stand_in_each_others_way() -> None:
    assert met("exclusive", "exclusive", agent="team/two", holder="team/one") is not None


def test_the_witness_is_a_path_that_both_cover() -> None:
    mine, theirs = Footprint.of(("src/**/login.*",), ("src/gen/**",)), a_lease("src/auth/*", exclude=("**/*.md",))
    found = meeting(theirs, "bob", "exclusive", (), mine, PLAIN)
    assert found is not None and found.witness is not None
    assert covers(mine, found.witness, PLAIN) and covers(theirs.footprint, found.witness, PLAIN)


def test_footprints_without_a_common_path_do_not_meet() -> None:
    assert touching(a_lease("src/*.go"), (), Footprint.of(("src/*.py",)), PLAIN) is None


def test_what_is_kept_out_does_not_meet() -> None:
    assert touching(a_lease("src/**", exclude=("src/gen/**",)), (), Footprint.of(("src/gen/a",)), PLAIN) is None


def test_equal_keys_meet_and_the_key_is_the_witness() -> None:
    found = touching(a_lease(names=("deploy:x", "schema:y")), ("schema:y",), Footprint.of(()), PLAIN)
    assert found is not None and found.witness == "schema:y"


def test_keys_are_not_patterns() -> None:
    assert touching(a_lease(names=("deploy:x",)), ("deploy:xy",), Footprint.of(()), PLAIN) is None


def test_keys_differ_in_case_where_the_file_system_does() -> None:
    assert touching(a_lease(names=("deploy:X",)), ("deploy:x",), Footprint.of(()), PLAIN) is None


def test_keys_that_differ_only_in_case_meet_where_the_file_system_folds() -> None:
    assert touching(a_lease(names=("deploy:X",)), ("deploy:x",), Footprint.of(()), Fold(True, False)) is not None


def test_paths_that_differ_only_in_case_meet_where_the_file_system_folds() -> None:
    assert touching(a_lease("SRC/A.py"), (), Footprint.of(("src/*",)), Fold(True, False)) is not None


def test_a_key_and_a_path_have_nothing_in_common() -> None:
    assert touching(a_lease(names=("deploy:x",)), (), Footprint.of(("**",)), PLAIN) is None
