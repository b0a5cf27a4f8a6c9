"""``git lock ci``: the merge check."""

import gc
import os

from gitlock import __version__
from gitlock.domain.decision import OVERTAKEN
from gitlock.domain.merging import Finding
from gitlock.domain.policy import ENFORCE
from gitlock.domain.signing import Receipt
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.mergewords import (
    SHOWN,
    Told,
    count,
    finding_text,
    head_lines,
    hints,
    next_command,
    notices,
    result_line,
    warnings,
)
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, hint, warning
from gitlock.entrypoints.wording import stamp, visible
from gitlock.errors import GitlockError, UsageError
from gitlock.git.branching import first_changed_line
from gitlock.git.ledgers import REMOTES
from gitlock.git.repository import current_branch
from gitlock.usecases.merge_check import Surroundings, check_merge
from gitlock.usecases.publishing import remote_for
from gitlock.wiring.begun import git_here
from gitlock.wiring.platforms import GITHUB, Platform, find_ends, platform_here
from gitlock.wiring.policies import policy_of_text
from gitlock.wiring.site import Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Child

TEXT, GITLAB, SARIF, JSON = "text", "gitlab", "sarif", "json"
LOOKED_AT = 20  # findings whose line is looked up: a call of git each


def answer(given: Given) -> Answer:
    """May this branch land? Answers 20, whatever the policy, where that could not be told."""
    gc.disable()  # thousands of values, hardly any garbage, and the process ends with the answer
    platform = platform_here()
    form = given.text("format") or (GITHUB if platform.name == GITHUB else TEXT)
    if form == JSON or given.flag("json"):
        form = JSON
        given.values["json"] = True
    elif form != TEXT:
        given.values["quiet"] = False  # the report is what was asked for
    try:
        started = git_here().start(*REMOTES)  # git answers this one beside the questions of the site
        site = site_of(given)
        told = _checked(given, site, started)
    except UsageError:
        raise
    except GitlockError as error:
        return _unchecked(error, form)
    return _worded(told, form, platform, site)


def _checked(given: Given, site: Site, started: "Child") -> Told:
    git, remote = site.repository.git, _remote(given, site, started)
    ends = find_ends(given.text("base"), given.text("head"), site.environ, site.repository, remote)
    store = site.store if _has_store(site) else None
    followed = None
    if store is not None:
        from gitlock.usecases.following import follow

        followed = follow(store, git, site.publications)
    now = site.now().wall
    where = Surroundings(
        git, remote=remote, store=store, facts=site.facts, fold=site.fold, now=now,
        policy_of=lambda data: policy_of_text(data, site.settings, site.folder), seat_of=site.seats(),
    )  # fmt: skip
    return Told(check_merge(ends, where), ends, remote, now, followed)


def _remote(given: Given, site: Site, started: "Child") -> str | None:
    """Where ledgers and history come from; None where they are pushed to: a bare repository, or one without remotes."""
    named = given.text("remote")
    there = started.output(ok=(0, 1))
    if named is None and (site.repository.bare or not there):
        return None
    return remote_for(site.repository.git, named, current_branch(site.repository.git_dir), push=False)


def _has_store(site: Site) -> bool:
    """Whether leases are kept here, or somewhere that this clone is told of; a store that was lost counts."""
    return site.url != "files" or os.path.isdir(site.folder) or os.path.isfile(site.folder + ".mark")


def _unchecked(error: GitlockError, form: str) -> Answer:
    lines = []
    if form == GITHUB:
        from gitlock.entrypoints.cli.annotations import github_error

        lines = [github_error(error.message, error.hint)]
    fault = envelope.error(error.id, f"could not check: {visible(error.message)}", error.hint)
    return Answer(exitcodes.UNCHECKED, lines=lines, fault=fault)


def _worded(told: Told, form: str, platform: Platform, site: Site) -> Answer:
    judged = told.check.judged
    result, stopping = result_line(told), judged.violations
    code = exitcodes.VIOLATION if stopping else exitcodes.DONE
    fault = envelope.error("violation", result, next_command(stopping[0], told)) if stopping else None
    listed = [f"  {finding_text(one, told)}" for one in stopping[:SHOWN]]
    if len(stopping) > SHOWN:
        listed.append(f"  and {count(len(stopping) - SHOWN, 'more path')}")
    heads, warned, helps = head_lines(told), [*map(warning, warnings(told))], [*map(hint, hints(told))]
    if form in (TEXT, JSON):
        lines = [*heads, *([] if stopping else [result])]
        if listed or warned:
            from gitlock.entrypoints.cli.fitting import fitted

            listed, warned = fitted(listed, 2), fitted(warned, 2)
        return Answer(code, lines=lines, notes=[*listed, *warned, *helps], data=lambda: _data(told), fault=fault)
    said = [*warned, *helps]
    from gitlock.entrypoints.cli import annotations

    rows = annotations.rows_of(told, _lines(told, site))
    if form == GITHUB:
        if platform.summary is not None:
            _append(platform.summary, annotations.summary(told, rows, result))
        report = [*heads, f"git-lock: {result}", *listed, *said]
        # All of it goes to one stream, so that what stands between the marks is what was meant to.
        fault = None if fault is None else {**fault, "next": None}
        return Answer(code, lines=annotations.github_lines(told, rows, report), fault=fault)
    text = annotations.gitlab_report(rows) if form == GITLAB else annotations.sarif(rows, __version__)
    return Answer(code, lines=[text], notes=[*heads, *listed, *said], fault=fault)


def _lines(told: Told, site: Site) -> dict[str, int | None]:
    """Where in each file the branch's first change is."""
    found = told.check.judged.findings
    some = [*told.check.judged.violations[:LOOKED_AT], *(one for one in found if one.mode != ENFORCE)][:LOOKED_AT]
    return {
        one.path: first_changed_line(site.repository.git, told.check.parted, one.path)
        for one in some
        if one.status != "D"
    }


def _append(path: str, text: str) -> None:
    """A job's summary; where it can't be written, the report has everything."""
    try:
        with open(path, "ab") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError:
        return


# -- JSON


def _data(told: Told) -> dict[str, object]:
    check, ends = told.check, told.ends
    shapes = [_finding(one, told) for one in check.judged.findings]
    return {
        "base": check.parted.base,
        "head": check.parted.head,
        "merge_base": check.parted.merge_base,
        "target": ends.target,
        "branch": ends.branch,
        "found_by": ends.how,
        "agents": list(check.judged.agents),
        "managed": check.managed,
        "paths": check.paths,
        "ledgers": check.ledgers,
        "policy": check.policy.source,
        "violations": [shape for shape in shapes if shape["mode"] == ENFORCE],
        "warned": [shape for shape in shapes if shape["mode"] != ENFORCE],
        "warnings": notices(told),
    }


def _finding(finding: Finding, told: Told) -> dict[str, object]:
    held = finding.held
    lease = None if held is None else envelope.lease_json(held.lease, told.instant, "live", "unknown")
    return {
        "path": envelope.name(finding.path),
        "kind": finding.kind,
        "code": exitcodes.OVERTAKEN if finding.kind == OVERTAKEN else exitcodes.VIOLATION,
        "mode": finding.mode,
        "status": finding.status,
        "lease": lease,
        "published_at": None if held is None or held.published is None else stamp(held.published),
        "commit": None if finding.commit is None else finding.commit.id,
        "receipt": _receipt(finding.receipt),
        "own_receipt": _receipt(finding.own),
        "witness": envelope.name(finding.path) if lease is not None else None,
        "next": next_command(finding, told),
        **envelope.raw([finding.path]),
    }


def _receipt(receipt: Receipt | None) -> dict[str, object] | None:
    if receipt is None:
        return None
    return {
        "agent": receipt.agent or None,
        "lease": receipt.lease,
        "store": receipt.store,
        "fence": receipt.fence,
        "claim": envelope.name(receipt.title),
    }


COMMAND = Command(
    "ci",
    "may this branch land in its base?",
    answer,
    text=(
        "The merge check, for a CI job, a merge queue or a server's hook. Judges what the branch changes by the leases "
        "that are live, the receipts in its commits, and what has landed in the base meanwhile. It works in a fresh or "
        "shallow clone without a store of its own: the ledgers that others have published are fetched, and so is "
        "history that is missing. In GitHub Actions and GitLab CI, base and head are found by themselves. The policy "
        "is that of the base."
    ),
    options=(
        Option("--base", kind=VALUE, metavar="REF", help="Where the branch is to land."),
        Option("--head", kind=VALUE, metavar="REF", help="The branch."),
        Option("--remote", kind=VALUE, metavar="NAME", help="Where ledgers and history come from."),
        Option(
            "--format", kind=VALUE, metavar="FORM", choices=(TEXT, GITHUB, GITLAB, SARIF, JSON),
            help="text, github (annotations, and the job's summary), gitlab (Code Quality), sarif, or json.",
        ),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.UNCHECKED, exitcodes.VIOLATION),
    examples=(
        "git lock ci",
        "git lock ci --base origin/main --head HEAD",
        "git lock ci --format gitlab > gl-code-quality-report.json",
    ),
)  # fmt: skip
