"""``git lock agent-hook --harness NAME``: what a program runs at each of its events, with the event on standard input.

It never breaks the agent: whatever goes wrong here is no opinion, exit 0, and a line in the log. It never says that
something is allowed, and never takes longer than two seconds. ``--fail-closed`` refuses what could not be checked.
"""

import os
import sys

from gitlock import jsontext
from gitlock.entrypoints.agents import neutral
from gitlock.entrypoints.agents.neutral import BEFORE, EDIT, REFUSE, SHELL, WARN, Event, Reply, Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, Protocol

    from gitlock.bundle import Bundle
    from gitlock.entrypoints.agents.desk import Desk
    from gitlock.entrypoints.agents.payload import Record
    from gitlock.git.locate import Spot
    from gitlock.git.process import Child

    class Adapter(Protocol):
        """How one program speaks: a module of this package."""

        PROGRAM: str
        SPEAKS: frozenset[str]

        def read(self, record: Record, named: str, environ: dict[str, str]) -> Event | None: ...

        def reply(self, event: Event, say: Say) -> Reply: ...


# The names of gitlock.domain.programs, which would cost each hook dear to load; a test keeps the two alike.
HARNESSES = ("claude", "codex", "gemini", "cursor", "copilot", "vscode", "opencode", "windsurf", "devin")
LIMIT = 2.0  # seconds for everything
INPUT_LIMIT = 16 << 20  # bytes of input; a program that writes more at once is not checked


class Asked:
    """The options. ``wrong`` is what is not understood of them."""

    __slots__ = ("agent", "closed", "event", "harness", "wrong")

    def __init__(self, words: list[str]) -> None:
        self.harness = self.event = self.wrong = ""
        self.agent: str | None = None
        self.closed = False
        at = 0
        while at < len(words):
            name, equals, value = words[at].partition("=")
            at += 1
            if name == "--fail-closed" and not equals:
                self.closed = True
                continue
            if name not in ("--harness", "--event", "--agent"):
                self.wrong = self.wrong or words[at - 1]
                continue
            if not equals:
                value = words[at] if at < len(words) else ""
                at += 1
            if not value:
                self.wrong = self.wrong or name
            setattr(self, name[2:], value)
        if self.harness not in HARNESSES:
            self.wrong = self.wrong or f"--harness {self.harness}".strip()


def wants_help(words: list[str]) -> bool:
    """Whether a person asks: for help, or with a mistake, at a terminal."""
    if "-h" in words or "--help" in words:
        return True
    return bool(Asked(words).wrong) and os.isatty(0)


class Turn:
    """One run, from its input to its one answer."""

    def __init__(self, asked: Asked, environ: dict[str, str]) -> None:
        self.asked = asked
        self.environ = environ
        self.event: Event | None = None
        self.desk: Desk | None = None
        self.reply: Reply | None = None  # once it is known
        self.adapter = _adapter(asked.harness)

    def run(self, bundle: "Bundle | None") -> Reply:
        """The answer; whatever goes wrong is raised."""
        data = _input()
        if len(data) > INPUT_LIMIT:
            raise ValueError(f"an input of more than {INPUT_LIMIT >> 20} MiB")
        record = jsontext.loads(data.decode("utf-8-sig" if data[:3] == b"\xef\xbb\xbf" else "utf-8", "surrogateescape"))
        if type(record) is not dict:
            raise ValueError("an input that is no JSON object")
        self.adapter = _adapter(_really(self.asked.harness, record, self.environ))
        event = self.event = self.adapter.read(record, self.asked.event, self.environ)
        if event is None:
            raise ValueError("an input that names no event")
        nobody = event.kind == neutral.BEAT and not event.session  # the program speaks of itself
        if nobody or (event.kind == BEFORE and event.tool_kind == EDIT and not event.paths):
            return self.adapter.reply(event, Say())
        spots = _spots(event)
        if event.paths and not any(map(_may_manage, spots)):
            return self.adapter.reply(event, Say())
        early = _ask_early(spots, self.environ)
        if bundle is not None and early:
            bundle.load("plain")
        edits = event.kind in (BEFORE, neutral.AFTER) and event.tool_kind == EDIT and event.paths
        if early and edits and self.asked.agent is None:
            from gitlock.entrypoints.agents.plain import is_settled

            if is_settled(event, self.adapter.PROGRAM, self.environ, spots, early):
                return self.adapter.reply(event, Say())
        if bundle is not None and early:
            bundle.load("agent")
        from gitlock.entrypoints.agents.desk import Desk

        desk = self.desk = Desk(self.adapter.PROGRAM, event, self.asked.agent, self.environ, early)
        if not desk.places and not (event.kind == BEFORE and event.tool_kind == SHELL):
            return self.adapter.reply(event, Say())
        say = _answered(desk, event)
        if say.verb in (WARN, neutral.CONTEXT) and event.kind not in self.adapter.SPEAKS:
            desk.sitting = desk.sitting.with_later(say.text)
            if desk.session is None:
                desk.attend()
                desk.sitting = desk.sitting.with_later(say.text)
        return self.adapter.reply(event, say.replace(text=say.text[: neutral.TEXT_LIMIT]))

    def failed(self, why: str) -> Reply:
        """No opinion, or with ``--fail-closed`` a refusal of what may have been an edit; and a line in the log."""
        self.log(why)
        event = self.event
        may_edit = event is None or (event.kind == BEFORE and event.tool_kind in (EDIT, SHELL))
        if event is None:
            event = Event(BEFORE)
        if self.asked.closed and may_edit:
            text = f"git-lock: could not check, so this is refused (--fail-closed): {why[:200]}. See: git lock doctor"
            return self.adapter.reply(event, Say(REFUSE, text))
        return self.adapter.reply(event, Say())

    def log(self, why: str) -> None:
        """What went wrong, for doctor: beside the store of whatever repository this is about."""
        from gitlock.entrypoints.wording import stamp, visible
        from gitlock.git.locate import current_folder, locate_folder
        from gitlock.stores.clock import SystemClock
        from gitlock.stores.files.hooklog import log_line

        try:
            if self.desk is not None and self.desk.places:
                common = self.desk.first.common_dir
            else:
                here = locate_folder(current_folder())
                if here is None:
                    return
                common = here.common_dir
            raw = self.event.raw if self.event is not None else "?"
            line = f"{stamp(SystemClock().now().wall)} {self.asked.harness} {visible(raw, 60)}: {visible(why, 300)}"
            log_line(os.path.join(common, "agentlocks"), 0o600, line)
        except OSError:
            return


def main(words: list[str], bundle: "Bundle | None" = None) -> "NoReturn":
    """Answers one event and ends the process."""
    asked = Asked(words)
    if asked.wrong:
        # A program runs us with options that we don't have. Code 2 would stop every tool of some of them.
        what = "needs --harness NAME" if asked.wrong == "--harness" else f"does not understand {asked.wrong!r}"
        os.write(2, f"git-lock: agent-hook {what}: git lock agent-hook -h\n".encode())
        os._exit(0)
    turn = Turn(asked, dict(os.environ))
    _limit(turn)
    try:
        reply = turn.run(bundle)
    except Exception as error:  # noqa: BLE001 - the agent goes on, whatever it is
        _answer(turn.failed(f"{type(error).__name__}: {error}"), turn)
    else:
        _answer(reply, turn)


def _answer(reply: Reply, turn: Turn) -> "NoReturn":
    """Writes it, remembers what was said now that it was, and ends."""
    turn.reply = reply
    try:
        _say(reply)
        if turn.desk is not None:
            turn.desk.keep()
    except BaseException as error:  # noqa: BLE001
        turn.log(f"after the answer: {type(error).__name__}: {error}")
    os._exit(reply.code)


def _say(reply: Reply) -> None:
    _write(1, reply.out)
    _write(2, reply.err)


def _write(fd: int, text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(fd, data) :]


def _limit(turn: Turn) -> None:
    """After two seconds the answer is what it is where something went wrong. One that is being written stays the only
    one: two are none that a program could read. What is only remembered then gets as long again."""
    try:
        import _signal as signal  # type: ignore[import-not-found]  # the public module is dearer than all we do
    except ImportError:
        return

    def out_of_time(*_: object) -> None:
        if turn.reply is not None:
            signal.signal(signal.SIGALRM, too_late)
            signal.setitimer(signal.ITIMER_REAL, LIMIT)
            return
        reply = turn.failed(f"not done within {LIMIT:g} s")
        _say(reply)
        os._exit(reply.code)

    def too_late(*_: object) -> None:
        assert turn.reply is not None
        turn.log(f"not done within {2 * LIMIT:g} s: what was said may be said again")
        os._exit(turn.reply.code)

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, out_of_time)
        signal.setitimer(signal.ITIMER_REAL, LIMIT)


def _spots(event: Event) -> "tuple[Spot, ...]":
    """Where the paths of an event lie; for an event without paths, its folder."""
    from gitlock.git.locate import absolute, current_folder, locate

    folder = event.cwd or current_folder()
    paths = [absolute(folder, path) for path in event.paths or ("x",)]
    return tuple(dict.fromkeys(spot for path in paths for spot in locate(path)))


def _ask_early(spots: "tuple[Spot, ...]", environ: dict[str, str]) -> "dict[str, Child]":
    """Git's settings of the place that this is most likely about: it answers while Python goes on loading."""
    from gitlock.git.config import start_config
    from gitlock.git.process import Git

    for spot in spots:
        if os.path.isdir(os.path.join(spot.common_dir, "agentlocks")):
            return {spot.top: start_config(Git(spot.top, environ).elsewhere(spot.top))}
    return {}


def _may_manage(spot: "Spot") -> bool:
    """Whether git-lock may have something to say there: a few looks at the disk."""
    folder = os.path.join(spot.common_dir, "agentlocks")
    marks = (folder, folder + ".mark", os.path.join(spot.top, ".gitlock.toml"))
    return any(map(os.path.lexists, marks))


def _input() -> bytes:
    parts = []
    size = 0
    while size <= INPUT_LIMIT and (part := os.read(0, 1 << 20)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _really(harness: str, record: "Record", environ: dict[str, str]) -> str:
    """The program that speaks: some read another one's settings, and run what they find there in their own words."""
    if harness not in ("claude", "copilot", "vscode"):
        return harness
    if "cursor_version" in record:
        return "cursor"
    name = record.get("hookEventName")
    if type(name) is str and name[:1].isupper():
        return "vscode"
    if harness == "claude" and "session_id" not in record and "sessionId" in record:
        return "copilot"
    if harness == "claude" and "timestamp" in record and environ.get("COPILOT_CLI"):
        return "copilot"  # in Claude Code's words, which itself says no time
    if harness == "claude" and "cwd" not in record and environ.get("DEVIN_PROJECT_DIR"):
        return "devin"
    return harness


def _adapter(harness: str) -> "Adapter":
    name = f"gitlock.entrypoints.agents.{harness}"
    __import__(name)
    return sys.modules[name]


def _answered(desk: "Desk", event: Event) -> Say:
    """One handler for each kind of event."""
    if event.kind == BEFORE:
        from gitlock.entrypoints.agents.before import before_tool

        return before_tool(desk)
    if event.kind in (neutral.AFTER, neutral.FAILED):
        from gitlock.entrypoints.agents.after import after_tool

        return after_tool(desk)
    if event.kind == neutral.BEAT:
        desk.attend(state=None)
        return Say()
    from gitlock.entrypoints.agents import lifetime

    handler = {
        neutral.START: lifetime.begun, neutral.PROMPT: lifetime.prompted, neutral.WAITING: lifetime.waiting,
        neutral.STOP: lifetime.stopped, neutral.END: lifetime.ended, neutral.CHILD_START: lifetime.child_begun,
        neutral.CHILD_STOP: lifetime.child_stopped,
    }[event.kind]  # fmt: skip
    return handler(desk)
