"""``claim --fresh`` and ``claim --until-merged``: claims that look at the branch they are made on."""

from gitlock.domain.claim import Granted
from gitlock.domain.footprint import Footprint
from gitlock.domain.quoting import word
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.options import Given
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.wording import visible
from gitlock.errors import UsageError
from gitlock.git.repository import current_branch
from gitlock.usecases.claim import ClaimOutcome
from gitlock.usecases.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.lease import Lease
    from gitlock.wiring.site import Site

SHOWN = 5  # paths that a refusal names


def before_claim(given: Given, site: "Site", reading: Reading) -> tuple[Given, Answer | None]:
    """What is said before anything is taken: a branch that can't be followed, a base that is not fresh. Gives what was
    typed with the TTL that follows from it."""
    if given.flag("until_merged"):
        from gitlock.usecases.following import what_to_follow

        if given.text("ttl") is not None or given.flag("ticket") or given.flag("intent"):
            raise UsageError("--until-merged excludes --ttl, --ticket and --intent: it holds for as long as the branch")
        what_to_follow(site.repository.git, current_branch(site.repository.git_dir))
        given = given.replace(values={**given.values, "ttl": "7d"})
    if given.flag("fresh"):
        if given.flag("ticket"):
            raise UsageError("--fresh looks when the claim is granted, and --ticket does not wait for that")
        return given, _not_fresh(site, reading)
    return given, None


def after_claim(
    given: Given, site: "Site", reading: Reading, outcome: ClaimOutcome, *, waited: bool
) -> tuple[ClaimOutcome, Answer | None]:
    """What is done with a lease once it is granted. After a wait, whoever had it before may have landed a change."""
    granted = outcome.answer
    if not isinstance(granted, Granted) or given.flag("dry_run"):
        return outcome, None
    if given.flag("fresh") and waited and (stale := _not_fresh(site, reading)) is not None:
        if not granted.already:
            from gitlock.domain.holding import Wanted
            from gitlock.usecases.release import release

            own = Wanted(granted.lease.id, frozenset((granted.lease.id,)))
            release(site.store, site.agent.id, (own,), site.fold, site.facts)
        return outcome, stale
    if given.flag("until_merged"):
        from gitlock.usecases.following import begin_following, what_to_follow

        follow = what_to_follow(site.repository.git, current_branch(site.repository.git_dir))
        lease = begin_following(site.store, site.publications, granted.lease, follow)
        return outcome.replace(answer=granted.replace(lease=lease)), None
    return outcome, None


def lasts_until(lease: "Lease") -> str:
    """What a lease that follows a branch lasts for."""
    from gitlock.domain.following import followed

    found = followed(lease)
    if found is None:
        return "follows something that this git-lock does not know"
    base = found.base.removeprefix("refs/heads/").removeprefix("refs/remotes/")
    return f"lasts until '{visible(found.branch)}' is merged into '{visible(base)}', or gone"


def _not_fresh(site: "Site", reading: Reading) -> Answer | None:
    from gitlock.usecases.fresh import find_stale

    footprint = Footprint.of(reading.include, reading.exclude)
    if footprint.is_empty:
        return None  # a pure key is about no path
    branch = current_branch(site.repository.git_dir)
    found = find_stale(site.repository.git, branch, footprint, site.fold, no_hooks=site.publications.no_hooks())
    if found is None:
        return None
    from gitlock.entrypoints import envelope

    names = ", ".join(f"'{visible(path)}'" for path in found.paths[:SHOWN])
    more = f" and {len(found.paths) - SHOWN} more" if len(found.paths) > SHOWN else ""
    message = f"the base is stale: '{visible(found.upstream)}' has changed {names}{more} since you left it"
    notes = [f"  {visible(row, 200)}" for row in found.commits]
    fault = envelope.error("stale-base", message, f"git rebase {word(found.upstream)}")
    return Answer(exitcodes.STALE_BASE, notes=notes, fault=fault)
