"""``git lock doctor``."""

from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.commands.overview import enforcement
from gitlock.entrypoints.cli.options import Command, Given, Option
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.wording import visible
from gitlock.errors import GitlockError, StoreError, StoreTooNew

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site

OK, BAD, FIXED = "ok", "bad", "fixed"


def answer(given: Given) -> Answer:
    """Looks at the store, the policy and the hooks of this worktree; mends the store when asked to."""
    site = site_of(given)
    findings = [_store(site, fix=given.flag("fix")), _policy(site), _hooks(site)]
    lines = [f"{'ok ' if one['state'] == OK else one['state']}  {one['what']}" for one in findings]
    notes = [f"hint: {one['next']}" for one in findings if one["next"]]
    data = {"findings": findings}
    bad = [one for one in findings if one["state"] == BAD]
    if not bad:
        return Answer(lines=lines, notes=notes, data=data)
    code = exitcodes.UNCHECKED if bad[0]["about"] == "store" else exitcodes.ERROR
    fault = envelope.error("not-well", f"{len(bad)} thing{'' if len(bad) == 1 else 's'} to mend", bad[0]["next"])
    return Answer(code, lines=lines, notes=notes, data=data, fault=fault)


def _finding(about: str, state: str, what: str, next: str | None = None) -> "dict[str, str | None]":
    return {"about": about, "state": state, "what": visible(what), "next": next}


def _store(site: "Site", *, fix: bool) -> "dict[str, str | None]":
    from gitlock.stores.files.repair import diagnose, repair

    try:
        layout = site.store.layout
        fault: StoreError | None = diagnose(layout)
        if fault is None:
            snapshot = site.store.read()
            held = snapshot.leases.count()
            return _finding("store", OK, f"the store can be read: revision {snapshot.revision}, {held} leases")
    except StoreError as error:
        fault = error
    if not fix or isinstance(fault, StoreTooNew) or fault.id not in ("store-corrupt", "store-error"):
        return _finding("store", BAD, fault.message, fault.hint)
    evidence, epoch = repair(layout)
    kept = f"; the broken state is kept as '{evidence}'" if evidence else ""
    return _finding("store", FIXED, f"the store was broken ({fault.message}): epoch {epoch} begins{kept}",
                    "claim again what you work on: git lock claim")  # fmt: skip


def _policy(site: "Site") -> "dict[str, str | None]":
    try:
        policy = site.policy
    except GitlockError as error:
        return _finding("policy", BAD, error.message, error.hint)
    return _finding("policy", OK, f"the policy is {policy.general_mode(site.agent.kind)}, {policy.source}")


def _hooks(site: "Site") -> "dict[str, str | None]":
    enforced, because, advice = enforcement(site)
    if because is None:
        return _finding("hooks", OK, f"enforced here by: {', '.join(enforced)}")
    return _finding("hooks", BAD, f"NOT {'fully ' if enforced else ''}enforced here, because {because}", advice)


COMMAND = Command(
    "doctor",
    "is everything in order here?",
    answer,
    text="Reads every record of the store, the map file, and what git's hooks would really run in this worktree.",
    options=(Option("--fix", help="Mend a broken store: the evidence is kept, and a new epoch begins."),),
    codes=(exitcodes.DONE, exitcodes.ERROR, exitcodes.UNCHECKED),
    examples=("git lock doctor", "git lock doctor --fix"),
)
