"""What every command that takes leases shares: the wish that was typed, and how a grant or a refusal is worded."""

from gitlock.domain.claim import Clash, Granted, Refused
from gitlock.domain.duration import parse_duration, show_duration
from gitlock.domain.instant import Instant
from gitlock.domain.lease import EXCLUSIVE, INTENT, SHARED, TTL_LIMIT
from gitlock.domain.quoting import word
from gitlock.domain.standing import ORPHANED
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import retyped, told
from gitlock.entrypoints.cli.options import Given
from gitlock.entrypoints.cli.output import Answer, hint, warning
from gitlock.entrypoints.outcomes import claim_warnings, clash_line, refused_lines
from gitlock.entrypoints.wording import clock, title, visible
from gitlock.errors import UsageError
from gitlock.usecases.claim import ClaimOutcome, Wish, prepare
from gitlock.usecases.covered import Covered
from gitlock.usecases.reading import EXCLUSION, Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site


SHOWN = 20  # arguments of a claim of which it is said what they were taken for


def wish_of(
    given: Given, site: "Site", reading: Reading, *, pid: int | None = None, auto: bool = False, apart: bool = False
) -> Wish:
    """The wish that was typed. ``pid`` is a process of ours that lives as long as the lease (that of ``run``).
    ``apart`` is one that shares nothing with what the same agent holds elsewhere."""
    text = given.text("ttl")
    holder = site.holder(pid if pid is not None else _pid(given))
    return prepare(
        reading,
        agent=site.agent,
        mode=_mode(given),
        ttl=parse_duration(text, limit=TTL_LIMIT, what="TTL") if text is not None else None,
        reason=given.text("reason") or "",
        holder=holder.replace(extra={"apart": True}) if apart else holder,
        policy=site.policy,
        fold=site.fold,
        facts=site.facts,
        git=site.repository.git,
        same_agent=given.flag("same_agent"),
        auto=auto,
        nested=pid is not None,
        chain=frozenset(site.environ.get("GITLOCK_LEASES", "").split()),
    )


def _mode(given: Given) -> str:
    if given.flag("shared") and given.flag("intent"):
        raise UsageError("--shared and --intent exclude each other")
    return SHARED if given.flag("shared") else INTENT if given.flag("intent") else EXCLUSIVE


def _pid(given: Given) -> int | None:
    text = given.text("pid")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or not 1 < int(text) < 1 << 31:
        raise UsageError(f"'{text}' is no process id")
    from gitlock.wiring.liveness import start_time

    if start_time(int(text)) is None:
        raise UsageError(f"there is no process {text}", hint="name a process that lives as long as the work does")
    return int(text)


def save_token(path: str, token: str) -> None:
    """Writes the secret of a lease where only its owner can read it."""
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


def worded(given: Given, site: "Site", reading: Reading, outcome: ClaimOutcome, covered: Covered) -> Answer:
    """How a claim that was not waited for ended."""
    now = site.now()
    result = outcome.answer
    notes = told(site, outcome.beat, now, outcome.notice)
    if isinstance(result, Refused):
        return refusal(site, result, retyped(given), notes)
    if isinstance(result, Clash):
        from gitlock.entrypoints import envelope

        message = clash_line(site.agent.id, result.lease)
        next_command = f"git lock claim --agent {word(site.agent.id + '-2')} {retyped(given)}"
        return Answer(exitcodes.REFUSED, notes=notes, fault=envelope.error("agent-elsewhere", message, next_command))
    assert isinstance(result, Granted)
    warnings = [*claim_warnings(site, reading, result, covered), *mark_lines(outcome)]

    def data() -> object:
        from gitlock.entrypoints import envelope

        return {
            "lease": envelope.lease_json(result.lease, now, "live", site.facts.liveness(result.lease)),
            "token": None if given.text("token_file") else outcome.token,
            "warnings": warnings,
            "already": result.already,
            "taken_for": [{"argument": visible(one.text), "kind": one.kind} for one in reading.taken],
            "covers_files": covered.files,
            "dry_run": given.flag("dry_run"),
        }

    lines = _lines(given, reading, outcome, result, covered, now)
    if given.flag("print_token") and outcome.token is not None:
        lines = [outcome.token]
    return Answer(lines=lines, notes=[*map(warning, warnings), *notes], data=data)


def mark_lines(outcome: ClaimOutcome) -> list[str]:
    """What the taker is told of commands that failed under leases before."""
    if not outcome.marks:
        return []
    from gitlock.entrypoints.wording import taint_line

    return [taint_line(one, max(0.0, outcome.now.wall - one.at)) for one in outcome.marks]


def refusal(
    site: "Site", refused: Refused, typed: str, notes: list[str], *, code: int = exitcodes.HELD, id: str = "held",
    prefix: str = "", wait: str = "git lock claim --wait",
) -> Answer:  # fmt: skip
    """A claim that others stand in the way of: every lease, and whoever waits before us. ``wait`` is the command that
    waits for it."""
    from gitlock.entrypoints import envelope

    now = site.now()
    lines = refused_lines(refused, now)
    wait = f"{wait} {typed}"
    next_command = f"git lock request {typed} -m 'why you need it'" if refused.conflicts else wait
    conflicts = [envelope.conflict_json(one, now, site.facts.liveness) for one in refused.conflicts]
    fault = envelope.error(id, prefix + lines[0], next_command, conflicts)
    more = lines[1:]
    if len(refused.conflicts) > 1:
        more.append(f"nothing was claimed: {len(refused.conflicts)} leases stand in the way")
    hints = [hint(f"to wait for it: {wait}")]
    if refused.conflicts and all(one.standing == ORPHANED for one in refused.conflicts):  # nobody is there to be asked
        next_command = f"git lock steal {typed} --reason 'why'"
        fault["next"] = next_command
        hints.append(hint(f"to take it over, once you have looked at what is changed: {next_command}"))
    elif refused.conflicts:
        hints.append(hint(f"to ask for it: {next_command}"))
    return Answer(code, notes=[*more, *notes, *hints], fault=fault)


def _lines(
    given: Given, reading: Reading, outcome: ClaimOutcome, result: Granted, covered: Covered, now: Instant
) -> list[str]:
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
    for one in reading.taken[:SHOWN]:
        what = f"keeps out {_patterns(one.patterns)}" if one.kind == EXCLUSION else f"is taken as a {one.kind}"
        if one.kind in ("path", "pattern") and one.patterns != (one.text,):
            what += f": {_patterns(one.patterns)}"
        lines.append(f"  {visible(one.text)} {what}")
    if len(reading.taken) > SHOWN:
        lines.append(f"  ... and {len(reading.taken) - SHOWN} more")
    if covered.files is not None:
        lines.append(f"  covers {covered.files} tracked file{'' if covered.files == 1 else 's'} today")
    if "until_merged" in lease.extra:
        from gitlock.entrypoints.cli.basis import lasts_until

        lines.append(f"  {lasts_until(lease)}")
    touched = [rule for rule in outcome.touched if rule.name not in reading.names]
    for rule in touched:
        took = "which it takes as well" if rule.takes == "whole" else "without taking it"
        lines.append(f"  touches the key {rule.name}, {took}")
    return lines


def _patterns(patterns: tuple[str, ...]) -> str:
    return ", ".join(visible(text) for text in patterns)
