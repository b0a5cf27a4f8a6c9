"""``git lock spawn``."""

import os

from gitlock.domain.agent import Agent, valid_agent
from gitlock.domain.claim import Clash, Granted, Refused
from gitlock.domain.duration import parse_duration
from gitlock.domain.lease import EXCLUSIVE, TTL_LIMIT
from gitlock.domain.quoting import word
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.furnishing import furnish, require_paths, what_goes_along
from gitlock.entrypoints.cli.granting import refusal
from gitlock.entrypoints.cli.grounding import DEADLINE, ground_of
from gitlock.entrypoints.cli.options import MANY, VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.cli.spawned import (
    Made,
    Told,
    overlap_warnings,
    recovered_line,
    shape,
    summary,
    taint_warnings,
)
from gitlock.entrypoints.cli.waiting import catch
from gitlock.entrypoints.wording import visible
from gitlock.errors import UsageError
from gitlock.stores.files.scratch import scratch_folder
from gitlock.usecases.claim import ClaimOutcome, Wish, ask, prepare
from gitlock.usecases.reading import Argument, Reading, read_claims
from gitlock.usecases.spawning.adopting import adopt
from gitlock.usecases.spawning.making import Begun, NotGranted, Order, begin, complete, give_up
from gitlock.usecases.spawning.naming import wanted_path
from gitlock.usecases.wait import Stop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.policy import Policy
    from gitlock.usecases.spawning.carrying import Carried
    from gitlock.usecases.spawning.ground import Ground
    from gitlock.wiring.site import Site

_FOR_NEW = ("branch", "path", "sparse", "with_changes")  # what says something about a worktree that is to be made


def answer(given: Given) -> Answer:
    """Makes the worktree, or adopts one, and runs the command there if one is given."""
    agent = _agent_named(given)
    deadline = parse_duration(given.text("timeout") or "", what="--timeout") if given.text("timeout") else DEADLINE
    ttl = given.text("ttl")
    if ttl is not None:
        parse_duration(ttl, limit=TTL_LIMIT, what="TTL")
    site = site_of(given)
    policy = site.policy if site.repository.top is not None else _policy_of_base(site, given)
    reading = _reading(given, site, policy)
    require_paths(given, reading)
    told = Told()
    stop = Stop()
    restore = catch(stop.ask)
    try:
        if reading is not None:
            refused = _before_anything(given, site, policy, agent, reading, told)
            if refused is not None:
                return refused
        made = _made(given, site, ground_of(site, stop, deadline), policy, agent, reading, told)
    finally:
        restore()
    if isinstance(made, Answer):
        return made
    if given.rest:
        from gitlock.entrypoints.cli.inhabiting import inhabit

        return inhabit(given, site, made, stop, told)
    return Answer(lines=summary(made, site.now()), notes=told.notes(), data=lambda: shape(site, made, told))


def _agent_named(given: Given) -> Agent:
    for option in _FOR_NEW:
        if given.text("adopt") is not None and given.values.get(option):
            name = option.replace("_", "-")
            raise UsageError(f"--{name} says how a worktree is made, and --adopt takes one that is there")
    return Agent(valid_agent(given.arguments[0]), "agent", "worktree")


def _policy_of_base(site: "Site", given: Given) -> "Policy":
    """Where there is no worktree, the map file of the commit that the new one begins from."""
    from gitlock.domain.policy import MAP_FILE
    from gitlock.wiring.policies import policy_of_text

    git = site.repository.git
    status, out, _ = git.try_run("cat-file", "blob", f"{given.text('base') or 'HEAD'}:{MAP_FILE}")
    return policy_of_text(out if status == 0 else None, site.settings, site.folder)


def _reading(given: Given, site: "Site", policy: "Policy") -> Reading | None:
    claims = given.many("claim")
    if not claims:
        for option in ("ttl", "reason"):
            if given.text(option) is not None:
                raise UsageError(f"--{option} is about a claim, and there is none: --claim CLAIM")
        return None
    return read_claims(tuple(Argument(text) for text in claims), site.repository, policy, site.fold)


def _wish(
    given: Given, site: "Site", policy: "Policy", agent: Agent, reading: Reading, path: str | None, branch: str | None
) -> Wish:
    """The claim as the new worktree's own. No process stands behind it yet."""
    text = given.text("ttl")
    return prepare(
        reading,
        agent=agent,
        mode=EXCLUSIVE,
        ttl=parse_duration(text, limit=TTL_LIMIT, what="TTL") if text is not None else None,
        reason=given.text("reason") or "",
        holder=site.here.holder(pid=None, worktree=path, branch=branch, session=None, clone=site.clone),
        policy=policy,
        fold=site.fold,
        facts=site.facts,
        git=site.repository.git,
    )


def _before_anything(
    given: Given, site: "Site", policy: "Policy", agent: Agent, reading: Reading, told: Told
) -> Answer | None:
    """What the claim meets, said before anything is made; the answer where it would be refused."""
    outcome = ask(site.store, _wish(given, site, policy, agent, reading, None, None), dry_run=True)
    refused = _not_granted(given, site, agent, outcome)
    if refused is None and isinstance(outcome.answer, Granted):
        told.add(*overlap_warnings(outcome.answer, site.now()))
        told.say_now()
    return refused


def _not_granted(given: Given, site: "Site", agent: Agent, outcome: ClaimOutcome) -> Answer | None:
    result = outcome.answer
    if isinstance(result, Refused):
        typed = " ".join(word(text) for text in given.many("claim"))
        return refusal(
            # Who waits with a claim has it in the end, and that is who asks, not the agent that is to come.
            site, result, typed, ["no worktree was made"], wait="git lock wait",
        )  # fmt: skip
    if isinstance(result, Clash):
        message = (
            f"'{agent.id}' is at work on another host ({visible(result.lease.holder.host)}): two holders of one name "
            "would not exclude each other"
        )
        fault = envelope.error("agent-elsewhere", message, f"git lock spawn {word(agent.id + '-2')}")
        return Answer(exitcodes.REFUSED, fault=fault)
    return None


def _made(
    given: Given, site: "Site", ground: "Ground", policy: "Policy", agent: Agent, reading: Reading | None, told: Told
) -> Made | Answer:
    path = given.text("path")
    order = Order(
        agent.id,
        branch=given.text("branch"),
        base=given.text("base"),
        path=wanted_path(path, os.getcwd()) if path is not None else None,
        policy=policy,
        sparse=given.flag("sparse"),
        wish=None
        if reading is None
        else lambda place, branch: _wish(given, site, policy, agent, reading, place, branch),
    )
    adopted = given.text("adopt")
    carried = what_goes_along(given, site)
    begun = adopt(ground, order, wanted_path(adopted, os.getcwd())) if adopted is not None else begin(ground, order)
    if isinstance(begun, NotGranted):
        refused = _not_granted(given, site, agent, begun.claim)
        assert refused is not None
        return refused
    told.add(*map(recovered_line, begun.recovered))
    if begun.claim is not None and isinstance(begun.claim.answer, Granted):
        told.add(*overlap_warnings(begun.claim.answer, site.now()), *taint_warnings(begun.claim))
    try:
        scratch = scratch_folder(ground.layout, agent.id)
    except BaseException:
        if adopted is None:
            give_up(ground, begun)
        raise
    made = Made(
        begun.record, base=begun.base, is_new=begun.is_new, claim=begun.claim, recovered=begun.recovered,
        scratch=scratch, seeded=None, carried=None,
    )  # fmt: skip
    if adopted is None:
        made = _furnished(given, site, ground, begun, made, told, reading, carried)
    _notice(site, ground, made, reading, told)
    return made


def _furnished(
    given: Given, site: "Site", ground: "Ground", begun: Begun, made: Made, told: Told, reading: Reading | None,
    carried: "Carried | None",
) -> Made:  # fmt: skip
    """Everything that takes its time; what stops it takes the whole worktree back."""
    try:
        done = furnish(
            given, site, ground, begun.record, made.scratch, told, reading=reading, carried=carried
        )
        record = begun.record.replace(sparse=done.sparse)
        record = complete(ground, begun.replace(record=record), done.setup)
    except BaseException:
        give_up(ground, begun)
        raise
    return made.replace(record=record, seeded=done.seeded, carried=done.carried)


def _notice(site: "Site", ground: "Ground", made: Made, reading: Reading | None, told: Told) -> None:
    from gitlock.stores.files.sessions import SessionBook
    from gitlock.usecases.spawning.noticing import SHOWN, changed_elsewhere, has_submodules, hooks_inactive

    record = made.record
    if reading is not None and record.origin == "spawned":
        changed = changed_elsewhere(ground, reading, SessionBook(site.store.layout).all())
        if made.carried is not None:
            changed = [(path, place) for path, place in changed if place != ground.repository.top]
        for path, place in changed[:SHOWN]:
            told.add(f"'{visible(path)}' has changes in '{visible(place)}' that are not committed, and not in here")
        if len(changed) > SHOWN:
            told.add(f"and so have {len(changed) - SHOWN} more of the claimed files")
    silent = hooks_inactive(ground, record, site.settings.get("core.hookspath"))
    if silent is not None:
        told.add(f"commits there are not checked, because {visible(silent[0])}")
        if silent[1] is not None:
            told.hints.append(f"in {word(record.path)}: {silent[1]}")
    if record.origin == "spawned" and has_submodules(record.path):
        told.add("submodules are not checked out there")
        told.hints.append(f"git -C {word(record.path)} submodule update --init")


COMMAND = Command(
    "spawn",
    "make a worktree for an agent, with its claims",
    answer,
    text=(
        "Branch, worktree, identity and claims appear together or not at all: a refused claim makes nothing. In the "
        "worktree every command and hook acts as AGENT. It gets a slot and a block of ten ports of its own. A command "
        "after '--' runs there, and its exit code is passed on. It is removed by git lock retire, and never otherwise."
    ),
    arguments="AGENT [-- CMD...]",
    least=1,
    most=1,
    rest=True,
    options=(
        Option("--branch", kind=VALUE, metavar="B", help="Its branch (agent/AGENT), which may be there already."),
        Option("--base", kind=VALUE, metavar="REF", help="Where a new branch begins (HEAD)."),
        Option("--claim", kind=MANY, metavar="CLAIM", help="Take a lease on this for it (repeatable)."),
        Option("--ttl", kind=VALUE, metavar="TIME", help="How long the lease lasts without renewal."),
        Option("-m", "--reason", kind=VALUE, metavar="TEXT", help="Why it is claimed; everybody sees it."),
        Option("--path", kind=VALUE, metavar="DIR", help="Its folder (../REPO.agents/AGENT)."),
        Option("--sparse", help="Check out only what the claims cover, and what git needs."),
        Option("--with-changes", help="Bring uncommitted work along; it stays here as well."),
        Option("--timeout", kind=VALUE, metavar="TIME", help="How long each slow step may take (10m)."),
        Option("--adopt", kind=VALUE, metavar="DIR", help="Make nothing: give AGENT the worktree that is there."),
    ),
    codes=(
        exitcodes.DONE, exitcodes.USAGE, exitcodes.HELD, exitcodes.REFUSED, exitcodes.UNCHECKED, exitcodes.NOT_STARTED,
        exitcodes.SIGNALLED,
    ),
    examples=(
        "git lock spawn fix-login --claim 'src/auth/**' -m 'new login'",
        "git lock spawn tests --base origin/main -- claude",
        "git lock spawn try-it --with-changes --sparse --claim 'docs/**'",
        "git lock spawn review --adopt ../repo-review",
    ),
)  # fmt: skip
