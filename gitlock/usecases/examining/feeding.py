"""Feeds a hook as its agent program would: a made-up edit of a made-up file that somebody else holds, and the same
edit where nobody does. What comes back is read as the program reads it.

Repository and store are made up in a folder of their own; nobody's own are read or written. Every command has an end:
its time is limited, and so is that of all of them together.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from gitlock import jsontext
from gitlock.domain.lease import EXCLUSIVE, Holder, Lease
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.value import Value
from gitlock.git.process import Git, tell_group
from gitlock.stores.files.hooklog import last_lines
from gitlock.stores.files.store import FileStore
from gitlock.usecases.examining.dialects import DIALECTS, ODD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import IO

    from gitlock.domain.instant import Instant
    from gitlock.usecases.examining.dialects import Dialect
    from gitlock.usecases.settings.reading import Entry

HELD, FREE = "held", "free"  # the two repositories: the file is another's, or nobody's
OWN, BARE = "own", "bare"  # with the person's environment, or with what a program has that no shell has started

LIMIT = 5.0  # seconds for one answer; programs wait for 5 to 600
SLOW = 1.0  # seconds before each edit, which somebody would notice
TOTAL = 15.0  # seconds after which no more are begun
AT_ONCE = 4
BARE_PATH = os.pathsep.join(("/usr/bin", "/bin"))
ANOTHER = "somebody.made-up"  # whom the file belongs to: a refusal of ours names its holder
OUTPUT = 1 << 16  # bytes of each stream that are read

LATE, NOT_BEGUN = "late", "not-begun"


class Feed(Value):
    """One run: ``entry`` of a program's settings in one of the repositories, with one of the environments."""

    __slots__ = ("entry", "program", "surroundings", "where")

    def __init__(self, program: str, entry: "Entry", where: str, surroundings: str) -> None:
        self.program = program
        self.entry = entry
        self.where = where
        self.surroundings = surroundings


class Fed(Value):
    """What came of it. ``heard`` is what the program makes of it (a word of ``dialects``), or ``late`` or
    ``not-begun``. ``code``, ``out`` and ``err`` are the command's; ``logged`` is what our hook said went wrong."""

    __slots__ = ("code", "err", "heard", "logged", "out", "seconds", "text")

    def __init__(
        self, heard: str, text: str = "", code: int | None = None, out: str = "", err: str = "", seconds: float = 0.0,
        logged: str = "",
    ) -> None:  # fmt: skip
        self.heard = heard
        self.text = text
        self.code = code
        self.out = out
        self.err = err
        self.seconds = seconds
        self.logged = logged


def feed_all(
    feeds: "Iterable[Feed]", environ: "Mapping[str, str]", git: Git, now: "Callable[[], Instant]"
) -> "dict[Feed, Fed]":
    """Runs them, some at a time. ``environ`` is the person's, without what names a session or a repository."""
    wanted = list(dict.fromkeys(feeds))
    if not wanted:
        return {}
    with tempfile.TemporaryDirectory(prefix="git-lock-doctor-") as folder:
        place = os.path.realpath(folder)
        _make_repositories(place, git, now, len(wanted))
        bench = _Bench(place, environ)
        with bench.ended_with_us(), ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                runs = [pool.submit(bench.run, one, number) for number, one in enumerate(wanted)]
                found = [run.result() for run in runs]
            except BaseException:
                bench.stop()
                raise
            for number, (one, fed) in enumerate(zip(wanted, found, strict=True)):
                if fed.heard != LATE and fed.seconds > SLOW:  # the others may have kept it waiting: once more, alone
                    found[number] = bench.run(one, number)
        return dict(zip(wanted, found, strict=True))


def _make_repositories(place: str, git: Git, now: "Callable[[], Instant]", count: int) -> None:
    """Two, that differ in one lease. Settings of the person's that would lead elsewhere are overruled."""
    free, held = os.path.join(place, FREE), os.path.join(place, HELD)
    there = git.elsewhere(place)
    there.run("init", "--quiet", "--template=", free)
    for name, value in (("store", "files"), ("mode", "enforce"), ("hookNotice", "false")):
        there.run("config", "--file", os.path.join(free, ".git", "config"), f"gitlock.{name}", value)
    for number in range(count):
        os.close(os.open(os.path.join(free, _file(number)), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    shutil.copytree(free, held)
    for top in (free, held):
        FileStore(os.path.join(top, ".git", "agentlocks"), now).update(_plan(top, holds=top == held))


def _plan(top: str, *, holds: bool) -> "Callable[[Snapshot], tuple[Edits, None]]":
    def plan(snapshot: Snapshot) -> tuple[Edits, None]:
        lease = Lease(
            id="made-up", agent=ANOTHER, kind="agent", mode=EXCLUSIVE, keys=("glob:made-up-*",), include=("made-up-*",),
            exclude=(), reason="doctor looks whether hooks answer", fence=1, acquired=snapshot.now.wall,
            renewed=snapshot.now, ttl=3600.0, token_hash="0" * 64, holder=Holder(host="", worktree=top),
        )  # fmt: skip
        return Edits(put=(lease,) if holds else (), counter=1), None

    return plan


def _file(number: int) -> str:
    return f"made-up-{number}.txt"


class _Bench:
    """Where they run: all of it ends at a certain time, and when we are told to end."""

    def __init__(self, place: str, environ: "Mapping[str, str]") -> None:
        self.place = place
        self.environ = environ
        self.end = time.monotonic() + TOTAL
        self.running: set[subprocess.Popen[bytes]] = set()

    @contextmanager
    def ended_with_us(self) -> "Iterator[None]":
        """A request to end unwinds us as the keyboard's does, so that nothing is left running, nor lying about."""

        def leave(number: int, _: object) -> None:
            raise SystemExit(128 + number)

        before = signal.signal(signal.SIGTERM, leave)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)

    def stop(self) -> None:
        """Ends what runs, and begins nothing more."""
        self.end = 0.0
        for child in tuple(self.running):
            _kill(child)

    def run(self, feed: Feed, number: int) -> Fed:
        """One run, to its end or ours."""
        begun = time.monotonic()
        if begun >= self.end:
            return Fed(NOT_BEGUN)
        folder = os.path.join(self.place, feed.where)
        dialect = DIALECTS[feed.program]
        seen = _environment(feed, folder, self.environ, dialect)
        payload = dialect.payloads[feed.entry.event](os.path.join(folder, _file(number)), folder)
        argv = _command(feed, seen)
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(jsontext.dumps(payload).encode())
            given.seek(0)
            try:
                code = self._wait(
                    subprocess.Popen(
                        argv, cwd=folder, env=seen, stdin=given, stdout=out, stderr=err, start_new_session=True
                    )
                )
            except OSError as error:
                return Fed(ODD, err=f"{argv[0]}: {error.strerror}", code=127)
            except ValueError:  # a NUL, or half a surrogate pair: no command line can hold it
                return Fed(ODD, err="it holds a character that no command line can", code=127)
            said = [_read(stream) for stream in (out, err)]
        seconds = time.monotonic() - begun
        if code is None:
            return Fed(LATE, out=said[0], err=said[1], seconds=seconds)
        heard = dialect.hear(code, *said)
        rows = last_lines(os.path.join(folder, ".git", "agentlocks"), 20)
        logged = next((row for row in reversed(rows) if f" {feed.program} " in row), "")
        return Fed(heard.kind, heard.text, code, said[0], said[1], seconds, logged)

    def _wait(self, child: "subprocess.Popen[bytes]") -> int | None:
        """Its code, or None where it took too long; what it has left running is ended as well."""
        self.running.add(child)
        try:
            return child.wait(LIMIT)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill(child)
            child.wait()
            self.running.discard(child)


def _kill(child: "subprocess.Popen[bytes]") -> None:
    tell_group(child, getattr(signal, "SIGKILL", signal.SIGTERM))


def _read(stream: "IO[bytes]") -> str:
    stream.seek(0)
    return stream.read(OUTPUT).decode("utf-8", "replace")


def _environment(feed: Feed, folder: str, environ: "Mapping[str, str]", dialect: "Dialect") -> dict[str, str]:
    """What the program would give it."""
    seen = dict(environ)
    if feed.surroundings == BARE:
        seen = {name: text for name, text in environ.items() if name in ("HOME", "USER", "LOGNAME", "LANG", "SHELL")}
        seen["PATH"] = BARE_PATH
    seen["XDG_STATE_HOME"] = os.path.join(os.path.dirname(folder), "state")  # sessions of the made-up are nobody's
    return {**seen, **{name: text.replace("{folder}", folder) for name, text in dialect.environ.items()}}


def _command(feed: Feed, seen: "Mapping[str, str]") -> tuple[str, ...]:
    """How the program starts it: by itself, or through the shell that it uses."""
    if feed.entry.words:
        return feed.entry.words
    if feed.program == "codex":
        return (seen.get("SHELL") or "/bin/sh", "-c", feed.entry.line)
    if feed.program in ("copilot", "vscode"):
        return ("bash", "-c", feed.entry.line)
    return ("/bin/sh", "-c", feed.entry.line)
