"""What a team wants done, as values."""

import pytest

from gitlock.domain.pattern import PLAIN, Fold
from gitlock.domain.policy import BUILT_IN, KeyRule, Policy

FOLDING = Fold(True, False)


def test_without_a_map_file_everything_is_enforced_and_must_be_claimed() -> None:
    policy = BUILT_IN
    built_in = (policy.mode, policy.humans, policy.unclaimed, policy.on_error, policy.on_missing, policy.verify)
    assert built_in == ("enforce", "enforce", "reject", "closed", "open", "always")


def test_claims_by_hand_last_an_hour_and_those_of_hooks_a_quarter() -> None:
    assert (BUILT_IN.ttl, BUILT_IN.auto_ttl) == (3600.0, 900.0)


WEAKER = [
    ("enforce", "enforce", "enforce"), ("enforce", "warn", "warn"), ("enforce", "off", "off"),
    ("warn", "enforce", "warn"), ("warn", "off", "off"), ("off", "enforce", "off"), ("off", "warn", "off"),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "humans", "wanted"), WEAKER)
def test_for_people_the_weaker_of_the_two_modes_counts(mode: str, humans: str, wanted: str) -> None:
    assert Policy(mode=mode, humans=humans).general_mode("human") == wanted


@pytest.mark.parametrize("kind", ["agent", "bot", "ci"])
def test_for_everybody_else_the_mode_itself_counts(kind: str) -> None:
    assert Policy(mode="enforce", humans="off").general_mode(kind) == "enforce"


def test_a_declared_keys_own_mode_stands_above_the_files() -> None:
    policy = Policy(mode="warn", keys=(KeyRule("a:b", ("db/**",), mode="enforce"),))
    assert [policy.mode_for("agent", path, PLAIN) for path in ("db/x.sql", "src/x")] == ["enforce", "warn"]


def test_where_keys_meet_the_strictest_counts() -> None:
    keys = tuple(KeyRule(f"a:{mode}", ("db/**",), mode=mode) for mode in ("off", "enforce", "warn"))
    assert Policy(keys=keys).mode_for("agent", "db/x", PLAIN) == "enforce"


def test_a_key_without_a_mode_leaves_the_files() -> None:
    assert Policy(mode="warn", keys=(KeyRule("a:b", ("**",)),)).mode_for("agent", "x", PLAIN) == "warn"


def test_people_are_let_off_a_keys_mode_as_well() -> None:
    policy = Policy(humans="warn", keys=(KeyRule("a:b", ("db/**",), mode="enforce"),))
    assert policy.mode_for("human", "db/x", PLAIN) == "warn"


@pytest.mark.parametrize("kind", ["agent", "human"])
def test_the_local_override_stands_above_everything(kind: str) -> None:
    policy = Policy(mode="off", humans="off", override="enforce", keys=(KeyRule("a:b", ("**",), mode="warn"),))
    assert policy.mode_for(kind, "x", PLAIN) == "enforce"


def test_a_path_belongs_to_every_key_that_covers_it() -> None:
    rules = {"a:all": ("**",), "a:db": ("db/**", "!db/tmp/**"), "a:src": ("src",)}
    policy = Policy(keys=tuple(KeyRule(name, paths) for name, paths in rules.items()))
    found = {path: [rule.name for rule in policy.keys_of(path, PLAIN)] for path in ("db/x", "db/tmp/y", "src/z")}
    assert found == {"db/x": ["a:all", "a:db"], "db/tmp/y": ["a:all"], "src/z": ["a:all", "a:src"]}


def test_a_key_is_found_by_its_exact_name() -> None:
    policy = Policy(keys=(KeyRule("a:B", ("x",)),))
    assert (policy.key_named("a:B", PLAIN), policy.key_named("a:b", PLAIN)) == (policy.keys[0], None)


def test_a_key_is_found_in_any_case_where_the_file_system_folds() -> None:
    policy = Policy(keys=(KeyRule("a:B", ("x",)),))
    assert policy.key_named("A:b", FOLDING) == policy.keys[0]


def test_open_paths_may_be_changed_by_anyone() -> None:
    policy = Policy(open_paths=("*.lock", "docs/**", "!docs/spec.md"))
    assert [policy.is_open(path, PLAIN) for path in ("x.lock", "docs/a", "docs/spec.md", "src/x.lock")] == [
        True, True, False, False,
    ]  # fmt: skip


def test_without_open_paths_nothing_is_open() -> None:
    assert not BUILT_IN.is_open("README.md", PLAIN)
