"""``git lock publish`` and ``git lock fetch``: claims that travel with the remote."""

from gitlock.domain.duration import parse_duration, show_duration
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, warning
from gitlock.entrypoints.elsewhere import abroad_json, abroad_lines
from gitlock.entrypoints.wording import clock, stamp, visible
from gitlock.errors import UnsafeError
from gitlock.git.repository import current_branch
from gitlock.usecases.elsewhere import held_elsewhere
from gitlock.usecases.publishing import TIMEOUT, Ledgers, fetch, publish, remote_for
from gitlock.wiring.site import Site

PATIENCE_LIMIT = 3600.0  # seconds

REMOTE = Option("--remote", kind=VALUE, metavar="NAME", help="The remote; else the branch's, origin, or the only one.")
PATIENCE = Option("--timeout", kind=VALUE, metavar="TIME", help="How long the remote may take to answer (10s).")


def answer_publish(given: Given) -> Answer:
    """Publishes this clone's ledger."""
    site = site_of(given)
    if site.policy.publish == "never":
        place = f" ({site.policy.source}:{site.policy.lines['publish']})" if "publish" in site.policy.lines else ""
        raise UnsafeError(
            f"the policy here is that nothing is published{place}", hint="set publish = \"push\" in .gitlock.toml"
        )
    git = site.repository.git
    remote = remote_for(git, given.text("remote"), current_branch(site.repository.git_dir), push=True)
    store = site.store
    from gitlock.usecases.following import follow

    follow(store, git, site.publications)
    done = publish(
        store, git, site.publications, remote, facts=site.facts, clone=site.clone, timeout=_patience(given),
        seat_of=site.seats(),
    )  # fmt: skip
    ledger = done.ledger
    data: dict[str, object] = {
        "remote": visible(remote),
        "ref": done.ref,
        "commit": done.commit,
        "changed": done.changed,
        "published_at": stamp(ledger.published) if done.commit is not None else None,
        "leases": len(ledger.leases),
        "releases": len(ledger.releases),
        "fence": ledger.fence,
    }
    if done.commit is None:
        return Answer(lines=["nothing to publish: nothing is held here, and nothing was"], data=data)
    held = _count(len(ledger.leases), "lease")
    what = f"published to '{visible(remote)}'" if done.changed else f"'{visible(remote)}' has it already"
    return Answer(lines=[f"{what}: {held}, {_count(len(ledger.releases), 'lately ended')}", f"  {done.ref}"], data=data)


def answer_fetch(given: Given) -> Answer:
    """Reads everyone's ledgers."""
    site = site_of(given)
    git = site.repository.git
    remote = remote_for(git, given.text("remote"), current_branch(site.repository.git_dir), push=False)
    found = fetch(git, site.publications, remote, timeout=_patience(given))
    return _heard(site, remote, found)


def _heard(site: Site, remote: str, found: Ledgers) -> Answer:
    now = site.now().wall
    abroad = held_elsewhere(site.publications, now, known=(lease.id for lease in site.store.read().leases.all()))
    own = site.publications.writer()
    data: dict[str, object] = {
        "remote": visible(remote),
        "ledgers": [
            {
                "writer": one.writer,
                "own": own is not None and one.writer == own.name,
                "store": visible(one.store),
                "epoch": one.epoch,
                "fence": one.fence,
                "published_at": stamp(one.published),
                "leases": len(one.live(now)),
                "releases": len(one.recent(now)),
            }
            for one in found.found
        ],
        "elsewhere": abroad_json(abroad, now),
        "faults": [{"ref": visible(one.ref), "message": visible(one.message)} for one in found.faults],
    }
    others = [one for one in found.found if own is None or one.writer != own.name]
    lines = [f"{_count(len(others), 'other clone')} published to '{visible(remote)}'"]
    lines += [f"  {one.writer[:12]}: {_when(one.published, now)}" for one in others if one.speaks(now)]
    lines += abroad_lines(abroad, now, all=True) if abroad else ["nothing is held in other clones"]
    return Answer(lines=lines, notes=[warning(visible(one.message)) for one in found.faults], data=data)


def _when(published: float, now: float) -> str:
    return f"as of {clock(published, now)} ({show_duration(max(0.0, now - published))} ago)"


def _count(number: int, what: str) -> str:
    if what == "lately ended":
        return f"{number} lately ended"
    return f"{number} {what}{'' if number == 1 else 's'}"


def _patience(given: Given) -> float:
    text = given.text("timeout")
    return TIMEOUT if text is None else parse_duration(text, limit=PATIENCE_LIMIT, what="timeout")


PUBLISH = Command(
    "publish",
    "tell other clones what is held here",
    answer_publish,
    text=(
        "Writes what this clone holds, what it gave back lately and its highest fence to a ref of its own at the "
        "remote, refs/agentlocks/..., and returns when the remote has it. No branch, tag or file is touched. Tokens, "
        "hosts, processes and folders are not published."
    ),
    options=(REMOTE, PATIENCE),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.REFUSED, exitcodes.UNCHECKED),
    examples=("git lock publish", "git lock publish --remote upstream --timeout 30s"),
)
FETCH = Command(
    "fetch",
    "hear what other clones hold",
    answer_fetch,
    text=(
        "Reads what every clone has published at the remote, and shows what they hold. claim, check, list and who warn "
        "of it from then on. It is known as of its publication, expires by its own time, and never blocks anybody."
    ),
    options=(REMOTE, PATIENCE),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.REFUSED, exitcodes.UNCHECKED),
    examples=("git lock fetch", "git lock fetch --json"),
)
