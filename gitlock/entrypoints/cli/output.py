"""The only place of the command line that writes: the answer to standard output, narration to standard error."""

import os
import sys

from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.entrypoints.cli.options import Given
    from gitlock.errors import GitlockError


NARROW = 40  # columns; what fits into them fits anywhere


class Answer(Value):
    """What a command has to say. ``lines`` go to standard output, ``notes`` (warnings, hints) to standard error;
    ``data`` and ``fault`` are the envelope's. ``fault`` is set exactly where ``code`` is not 0, save for ``status``.

    ``data`` may be a function that makes it, where who does not ask for JSON should not pay for it. ``raw`` are bytes
    for standard output, as they are: what was asked for so, in place of lines.
    """

    __slots__ = ("code", "data", "fault", "lines", "notes", "raw")

    def __init__(
        self,
        code: int = 0,
        *,
        lines: "list[str] | None" = None,
        notes: "list[str] | None" = None,
        data: object = None,
        fault: "dict[str, object] | None" = None,
        raw: bytes = b"",
    ) -> None:
        self.code = code
        self.raw = raw
        self.lines = lines or []
        self.notes = notes or []
        self.data = data
        self.fault = fault


def warning(text: str) -> str:
    """A line of narration that is a warning."""
    return f"warning: {text}"


def hint(text: str) -> str:
    """A line of narration that names a next step."""
    return f"hint: {text}"


def deliver(answer: Answer, given: "Given") -> int:
    """Writes the answer and returns its code. Quiet keeps warnings, errors and JSON, and drops the rest."""
    if given.flag("json"):
        _write_json(answer.code, answer.data() if callable(answer.data) else answer.data, answer.fault)
        for note in answer.notes:
            if note.startswith(("warning: ", "request ")) and not given.flag("quiet"):
                _narrate(note)  # what its reader must not miss has no field of its own in every answer
        return answer.code
    quiet = given.flag("quiet")
    if answer.fault is not None:
        _narrate(f"git-lock: {answer.fault['message']}")
    if not quiet or answer.fault is not None:
        for note in answer.notes:
            _narrate(note)
        if answer.fault is not None and answer.fault.get("next") and not any("hint:" in n for n in answer.notes):
            _narrate(hint(str(answer.fault["next"])))
    if not quiet:
        for line in answer.lines:
            write(1, line)
        write_bytes(1, answer.raw)
    return answer.code


def interrupted(number: int) -> Answer:
    """What is said when a signal ended a wait."""
    from signal import Signals

    from gitlock.entrypoints.envelope import error
    from gitlock.entrypoints.exitcodes import SIGNALLED

    return Answer(SIGNALLED + number, fault=error("interrupted", f"interrupted by {Signals(number).name}"))


def deliver_error(stopped: "GitlockError", *, as_json: bool) -> int:
    """Writes what stopped us and returns its code."""
    from gitlock.entrypoints.exitcodes import code_of

    code = code_of(stopped)
    if as_json:
        from gitlock.entrypoints.envelope import error

        _write_json(code, None, error(stopped.id, stopped.message, stopped.hint))
        return code
    _narrate(f"git-lock: {_one_line(stopped.message)}")
    if stopped.hint:
        _narrate(hint(_one_line(stopped.hint)))
    return code


def _narrate(text: str) -> None:
    """A line for standard error, broken where a terminal is too narrow for it."""
    if len(text) <= NARROW or not os.isatty(2):
        write(2, text)
        return
    from gitlock.entrypoints.cli.fitting import fitted

    for line in fitted([text], 2):
        write(2, line)


def _write_json(code: int, data: object, error: "dict[str, object] | None") -> None:
    from gitlock import jsontext
    from gitlock.entrypoints.envelope import envelope

    write(1, jsontext.dumps(envelope(code, data, error)))


def write(fd: int, text: str) -> None:
    """One line to a descriptor, whatever the terminal's encoding can't show escaped."""
    stream = sys.stdout if fd == 1 else sys.stderr
    encoding = getattr(stream, "encoding", None) or "utf-8"
    write_bytes(fd, (text + "\n").encode(encoding, "backslashreplace"))


def write_bytes(fd: int, data: bytes) -> None:
    """All of it, as it is."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def use_color(when: str, environ_no_color: bool) -> bool:
    """Whether to colour: asked for, or a terminal and nothing against it."""
    return when == "always" or (when == "auto" and not environ_no_color and os.isatty(1))


def _one_line(text: str) -> str:
    from gitlock.entrypoints.wording import visible

    return visible(text)
