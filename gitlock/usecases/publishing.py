"""Telling other clones what is held here, and hearing what is held there: one ledger a clone, by way of a remote."""

from gitlock.domain.ledger import Ledger, ledger_of, needs_publishing
from gitlock.domain.value import Value
from gitlock.errors import GitlockError, RemoteUnreachable, RepositoryError, StoreError, UsageError
from gitlock.git import ledgers as wire
from gitlock.stores.files.publications import Publications, Writer
from gitlock.stores.ledger import SIZE_LIMIT, format_ledger, parse_ledger
from gitlock.usecases.seating import settle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.beat import SeatOf
    from gitlock.domain.standing import Facts
    from gitlock.git.process import Git
    from gitlock.stores.protocol import LeaseStore

TIMEOUT = 10.0  # seconds for each answer of a remote
TRIES = 4  # times that a ref of ours may turn out to be elsewhere than we thought


class Published(Value):
    """``ledger`` is what the remote has now, at ``commit`` on ``ref``; ``changed`` whether that is news there.
    ``commit`` is None where nothing was ever published, and there is nothing to say."""

    __slots__ = ("changed", "commit", "ledger", "ref", "remote")

    def __init__(self, remote: str, ref: str, ledger: Ledger, commit: str | None, changed: bool) -> None:
        self.remote = remote
        self.ref = ref
        self.ledger = ledger
        self.commit = commit
        self.changed = changed


class Fault(Value):
    """A ledger that says nothing to us, and why."""

    __slots__ = ("message", "ref")

    def __init__(self, ref: str, message: str) -> None:
        self.ref = ref
        self.message = message


class Ledgers(Value):
    """``found`` are those that could be read; ``faults`` those that are there and could not."""

    __slots__ = ("faults", "found")

    def __init__(self, found: tuple[Ledger, ...], faults: tuple[Fault, ...]) -> None:
        self.found = found
        self.faults = faults


# -- publishing


def publish(
    store: "LeaseStore",
    git: "Git",
    kept: Publications,
    remote: str,
    *,
    facts: "Facts",
    clone: str | None = None,
    timeout: float = TIMEOUT,
    sure: bool = True,
    begun: "Callable[[], object] | None" = None,
    seat_of: "SeatOf | None" = None,
) -> Published:
    """Publishes this clone's ledger at a remote, and returns when the remote has it.

    With ``sure`` the remote is asked even where there is no news, and has it afterwards whatever happened there; else
    nothing is sent then. One publication of a clone runs at a time; ``begun`` is called when it is our turn, before it
    is looked what is held. ``seat_of`` knows on which branches the holders are by now. ``RemoteUnreachable`` and
    ``RemoteRefused`` where the remote does not answer or does not take it, ``StoreError`` where it is not known what is
    held.
    """
    with kept.guard(timeout * 2):
        if begun is not None:
            begun()
        writer = kept.writer() or kept.new_writer()
        hooks = kept.no_hooks()
        found = None  # where the remote says that our ref is, once it was asked
        for _ in range(TRIES):
            ref, place = wire.PUBLISHED + writer.name, wire.fetched_prefix(remote) + writer.name
            before, expected = _last(git, place)
            expected = found or expected
            snapshot = store.read() if seat_of is None else settle(store, seat_of)
            ledger = ledger_of(snapshot, writer.name, facts, clone=clone, before=before)
            news = needs_publishing(ledger, before)
            if not news and before is not None:
                ledger = before
            if not news and (before is None or not sure):
                return Published(remote, ref, ledger, expected, False)
            blob = wire.put_text(git, _text(ledger))
            commit = wire.commit_of(git, blob, ledger.published)
            earlier = writer.attempt
            writer = Writer(writer.name, commit)
            kept.save(writer)
            if wire.push(git, remote, ref, commit, expected, no_hooks=hooks, timeout=timeout):
                wire.keep(git, place, blob, hooks)
                return Published(remote, ref, ledger, commit, news)
            found = wire.where_it_is(git, remote, ref, no_hooks=hooks, timeout=timeout)
            if found is None:  # the remote was made anew, or somebody removed it there
                if expected is not None:
                    wire.keep(git, place, None, hooks)
            elif before is not None and found not in (earlier, commit):
                # Neither what we know to be there, nor what we sent and heard no answer about: a copy of this clone
                # goes by our name, and one of us needs another.
                writer, found = kept.new_writer(), None
        raise RemoteUnreachable(
            f"'{remote}' had something else each of {TRIES} times: somebody writes to {ref} as well",
            hint=f"git ls-remote {remote} '{wire.PUBLISHED}*'",
        )


def _text(ledger: Ledger) -> bytes:
    try:
        return format_ledger(ledger)
    except ValueError:
        raise GitlockError(
            f"{len(ledger.leases)} leases make a ledger of more than {SIZE_LIMIT >> 20} MiB, which nobody would read",
            hint="git lock list",
            id="ledger-too-large",
        ) from None


def _last(git: "Git", place: str) -> tuple[Ledger | None, str | None]:
    """What the remote has of ours as far as we know, and the commit that it is there."""
    found = wire.read_text(git, place, SIZE_LIMIT)
    if found is None:
        return None, None
    try:
        ledger = parse_ledger(found[1], place)
    except StoreError:
        return None, None
    return ledger, wire.commit_of(git, found[0], ledger.published)


def published_at(git: "Git", kept: Publications) -> list[str]:
    """The remotes where a ledger of ours is, as far as we know."""
    writer = kept.writer()
    return [] if writer is None else wire.remotes_with(git, writer.name)


def withdraw(git: "Git", kept: Publications, remote: str, *, now: float, timeout: float = TIMEOUT) -> bool:
    """Removes our ledger from a remote if it says nothing any more; whether it did."""
    writer = kept.writer()
    if writer is None:
        return False
    with kept.guard(timeout):
        place = wire.fetched_prefix(remote) + writer.name
        before, expected = _last(git, place)
        if before is None or before.speaks(now):
            return False
        hooks = kept.no_hooks()
        ref = wire.PUBLISHED + writer.name
        if not wire.push(git, remote, ref, None, expected, no_hooks=hooks, timeout=timeout):
            return False
        wire.keep(git, place, None, hooks)
        return True


# -- hearing


def fetch(git: "Git", kept: Publications, remote: str, *, timeout: float = TIMEOUT) -> Ledgers:
    """Brings everyone's ledgers from a remote, and keeps what they hold where commands find it at once."""
    wire.fetch(git, remote, no_hooks=kept.no_hooks(), timeout=timeout)
    return remember(git, kept, remote)


def remember(git: "Git", kept: Publications, remote: str) -> Ledgers:
    """Keeps what the fetched ledgers of a remote hold where commands find it at once."""
    found = ledgers(git, remote)
    writer = kept.writer()
    rows = [row for row in kept.elsewhere() if row[0] != remote]
    rows += [(remote, one) for one in found.found if (writer is None or one.writer != writer.name) and one.leases]
    kept.keep_elsewhere(rows)
    return found


def ledgers(git: "Git", remote: str | None, wanted: "Callable[[bytes], bool] | None" = None) -> Ledgers:
    """Every ledger that was fetched from a remote; with None, those that others have pushed into this repository
    itself (as a pre-receive hook finds them). Nothing is fetched. ``wanted`` is as ``parse_ledger`` takes it."""
    prefix = wire.PUBLISHED if remote is None else wire.fetched_prefix(remote)
    found, faults = [], []
    for name, text in wire.read_texts(git, prefix, SIZE_LIMIT).items():
        ref = prefix + name
        if text is None:
            faults.append(Fault(ref, f"{ref}: it holds no ledger, or one that is too large"))
            continue
        try:
            ledger = parse_ledger(text, ref, wanted)
        except StoreError as error:
            faults.append(Fault(ref, error.message))
            continue
        if ledger.writer == name:
            found.append(ledger)
        else:
            faults.append(Fault(ref, f"{ref}: it says that it is another's ({ledger.writer})"))
    return Ledgers(tuple(found), tuple(faults))


# -- where


def remote_for(git: "Git", given: str | None, branch: str | None, *, push: bool) -> str:
    """The remote that was named, or the usual one."""
    if given is not None:
        if given not in wire.remotes(git):
            raise UsageError(f"there is no remote '{given}' here", hint="git remote -v")
        return given
    usual = wire.usual_remote(git, branch, push=push)
    if usual is not None:
        return usual
    known = wire.remotes(git)
    if known:
        raise UsageError(
            f"there are {len(known)} remotes here, and none is the usual one", hint=f"git lock ... --remote {known[0]}"
        )
    raise RepositoryError("there is no remote here", hint="git remote add origin URL", id="no-remote")
