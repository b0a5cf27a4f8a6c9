"""``git lock claim``."""

from gitlock.domain.claim import Clash, Granted, Refused
from gitlock.domain.duration import parse_duration, show_duration
from gitlock.domain.footprint import Footprint
from gitlock.domain.lease import EXCLUSIVE, INTENT, SHARED, TTL_LIMIT
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import claim_arguments, retyped, site_of, told
from gitlock.entrypoints.cli.options import CLAIM_FORMS, VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, hint, warning
from gitlock.entrypoints.wording import clock, conflict_lines, held_by, title, visible, word
from gitlock.errors import UsageError
from gitlock.usecases.claim import ClaimOutcome, claim
from gitlock.usecases.covered import Covered, finish_counting, shell_expanded, start_counting
from gitlock.usecases.reading import EXCLUSION, Reading, read_claims

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site


def answer(given: Given) -> Answer:
    """Takes the lease whole, or lists everything that stands in the way."""
    site = site_of(given)
    mode = _mode(given)
    ttl_text = given.text("ttl")
    ttl = parse_duration(ttl_text, limit=TTL_LIMIT, what="TTL") if ttl_text is not None else None
    reading = read_claims(claim_arguments(given), site.repository, site.policy, site.fold)
    counting = start_counting(site.repository, reading.include)
    store, policy = site.store, site.policy
    outcome = claim(
        store,
        reading,
        agent=site.agent,
        mode=mode,
        ttl=ttl,
        reason=given.text("reason") or "",
        holder=site.holder(_pid(given)),
        policy=policy,
        fold=site.fold,
        facts=site.facts,
        git=site.repository.git,
        same_agent=given.flag("same_agent"),
        dry_run=given.flag("dry_run"),
    )
    covered = finish_counting(counting, Footprint.of(reading.include, reading.exclude), site.fold)
    token_file = given.text("token_file")
    if outcome.token is not None and token_file is not None:
        _save_token(token_file, outcome.token)
    return _worded(given, site, reading, outcome, covered)


def _mode(given: Given) -> str:
    if given.flag("shared") and given.flag("intent"):
        raise UsageError("--shared and --intent exclude each other")
    return SHARED if given.flag("shared") else INTENT if given.flag("intent") else EXCLUSIVE


def _pid(given: Given) -> int | None:
    text = given.text("pid")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or not 1 < int(text) < 1 << 31:
        raise UsageError(f"'{text}' is no process id")
    from gitlock.wiring.liveness import start_time

    if start_time(int(text)) is None:
        raise UsageError(f"there is no process {text}", hint="name a process that lives as long as the work does")
    return int(text)


def _save_token(path: str, token: str) -> None:
    import os

    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(fd, 0o600)
            os.write(fd, token.encode() + b"\n")
        finally:
            os.close(fd)
    except OSError as error:
        raise UsageError(f"the lease is yours, but its token can't be saved in '{path}': {error.strerror}") from None


def _worded(given: Given, site: "Site", reading: Reading, outcome: ClaimOutcome, covered: Covered) -> Answer:
    now = site.now()
    result = outcome.answer
    notes = told(outcome.beat, now, outcome.notice)
    if isinstance(result, Refused):
        lines = [line for conflict in result.conflicts for line in conflict_lines(conflict, now)]
        first = result.conflicts[0].lease
        next_command = f"git lock status {word(first.title)}"
        fault = envelope.error(
            "held", lines[0], next_command, [envelope.conflict_json(one, now) for one in result.conflicts]
        )
        if len(result.conflicts) > 1:
            notes = [*lines[1:], f"nothing was claimed: {len(result.conflicts)} leases stand in the way", *notes]
        else:
            notes = [*lines[1:], *notes]
        return Answer(exitcodes.HELD, notes=[*notes, hint(next_command)], fault=fault)
    if isinstance(result, Clash):
        message = (
            f"'{visible(site.agent.id)}' is at work on another host ({visible(result.lease.holder.host)}): two holders "
            "of one name would not exclude each other"
        )
        next_command = f"git lock claim --agent {word(site.agent.id + '-2')} {retyped(given)}"
        return Answer(exitcodes.REFUSED, notes=notes, fault=envelope.error("agent-elsewhere", message, next_command))
    warnings = _warnings(site, reading, result, covered)
    data: dict[str, object] = {
        "lease": envelope.lease_json(result.lease, now, "live", site.facts.liveness(result.lease))
    }
    if outcome.token is not None and not given.text("token_file"):
        data["token"] = outcome.token
    data["warnings"] = warnings
    data["already"] = result.already
    data["taken_for"] = [{"argument": visible(one.text), "kind": one.kind} for one in reading.taken]
    data["covers_files"] = covered.files
    lines = _lines(given, reading, outcome, result, covered, now)
    if given.flag("print_token") and outcome.token is not None:
        lines = [outcome.token]
    return Answer(lines=lines, notes=[*map(warning, warnings), *notes], data=data)


def _lines(
    given: Given, reading: Reading, outcome: ClaimOutcome, result: Granted, covered: Covered, now: "object"
) -> list[str]:
    from gitlock.domain.instant import Instant

    assert isinstance(now, Instant)
    lease = result.lease
    verb = "would claim" if given.flag("dry_run") else "claimed"
    if result.already:
        verb = "already yours:"
    elif result.upgraded:
        verb = "now exclusive:"
    elif lease.mode == INTENT:
        verb = "announced"
    left = lease.left(now)
    until = f"until {clock(now.wall + left, now.wall)} ({show_duration(left)})"
    shared = " shared" if lease.mode == SHARED else ""
    lines = [f"{verb}{shared} '{title(lease)}' as {visible(lease.agent)}, {until}, fence {lease.fence}"]
    for one in reading.taken:
        what = f"keeps out {_patterns(one.patterns)}" if one.kind == EXCLUSION else f"is taken as a {one.kind}"
        if one.kind in ("path", "pattern") and one.patterns != (one.text,):
            what += f": {_patterns(one.patterns)}"
        lines.append(f"  {visible(one.text)} {what}")
    if covered.files is not None:
        lines.append(f"  covers {covered.files} tracked file{'' if covered.files == 1 else 's'} today")
    touched = [rule for rule in outcome.touched if rule.name not in reading.names]
    for rule in touched:
        took = "which it takes as well" if rule.takes == "whole" else "without taking it"
        lines.append(f"  touches the key {rule.name}, {took}")
    return lines


def _patterns(patterns: tuple[str, ...]) -> str:
    return ", ".join(visible(text) for text in patterns)


def _warnings(site: "Site", reading: Reading, result: Granted, covered: Covered) -> list[str]:
    now = site.now()
    found = []
    for conflict in result.announced:
        found.append(
            f"'{title(conflict.lease)}' is held by {held_by(conflict.lease, now, conflict.standing)}; the policy here is "
            "warn, so your claim is announced and nobody is stopped"
        )
    for conflict in result.met:
        found.append(f"'{title(conflict.lease)}' is announced by {held_by(conflict.lease, now)}")
    for conflict in result.elsewhere:
        place = visible(conflict.lease.holder.worktree or "another place")
        found.append(
            f"you hold '{title(conflict.lease)}' yourself, from '{place}': the two will not exclude each other"
        )
    if reading.include and covered.files == 0:
        found.append("no tracked file is covered today; if that is not what you meant, look at the spelling")
    for folder in covered.folders[:3]:
        found.append(
            f"'{visible(folder)}' is a folder that the wildcard matches: what is in it is not covered "
            f"(a pattern that ends in '/' would: {word(folder + '/')})"
        )
    quoted = shell_expanded(reading, site.repository)
    if quoted is not None:
        found.append(
            f"this covers the {len(reading.taken)} files that are there now; quoted, {word(quoted)} would cover new ones too"
            if not quoted.startswith("*") or len(reading.taken) > 1 else ""
        )  # fmt: skip
    return [text for text in found if text]


COMMAND = Command(
    "claim",
    "take a lease on paths, patterns or keys",
    answer,
    text=(
        "Takes one lease on everything that is named, whole or not at all. A CLAIM is a path, a pattern in quotes "
        "('src/auth/*'; '!src/auth/gen/**' keeps something out), or a key such as deploy:staging. "
        "What an own lease covers already is renewed."
    ),
    arguments="CLAIM...",
    options=(
        *CLAIM_FORMS,
        Option("--shared", help="Many may hold it; nobody may take it exclusively."),
        Option("--intent", help="Only announce: it is shown, it warns, it never blocks."),
        Option("--ttl", kind=VALUE, metavar="TIME", help="How long it lasts without renewal: 90s, 20m, 2h, 1d."),
        Option("-m", "--reason", kind=VALUE, metavar="TEXT", help="Why; everybody sees it."),
        Option("--no-wait", help="Refuse at once if it is held (the default)."),
        Option(
            "--pid",
            kind=VALUE,
            metavar="PID",
            help="A process that lives as long as the work; its death frees the lease.",
        ),
        Option(
            "--token-file", kind=VALUE, metavar="FILE", help="Save the secret that proves the lease in FILE (0600)."
        ),
        Option("--print-token", help="Print only that secret."),
        Option("--same-agent", help="You are the same agent that is at work on another host."),
        Option("-n", "--dry-run", help="Change nothing; answer as the real call would."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.HELD, exitcodes.REFUSED, exitcodes.UNCHECKED),
    examples=(
        "git lock claim 'src/auth/*' -m 'new login'",
        "git lock claim deploy:staging --ttl 20m",
        "git lock claim 'src/**' '!src/generated/**'",
    ),
)
