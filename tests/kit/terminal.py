"""Real shells at a real terminal: what stands on the line after keys were typed, as the shell itself has it.

    with bash(folder, "source completion") as shell:
        assert shell.line("git lock rel", TAB) == "git lock release "

A shell handles its keys one after the other, so a last key that writes the line to a file also says that all keys
before it were handled: nothing is waited for by the clock.
"""

import atexit
import fcntl
import functools
import os
import pty
import shlex
import shutil
import struct
import subprocess
import tempfile
import termios
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.kit.processes import _kill_group, until
from tests.kit.program import child_environment

TAB = "\t"
ALL = "\x18a"    # ctrl-x a: puts every candidate on the line
CLEAR = "\x18k"  # ctrl-x k: empties the line
PATIENCE = 20.0  # seconds until a shell counts as stuck; only there to end a hang
_SHOW = "\x18p"  # ctrl-x p: writes the line down

# The terminal's own file becomes the shell's controlling terminal, since it is the first that a new session opens.
_AT_TERMINAL = 'tty=$1; shift; exec "$@" <>"$tty" >&0 2>&1'


class Shell:
    """One shell at a terminal of its own, in ``folder``. Leaving its ``with`` block ends it."""

    def __init__(self, name: str, argv: list[str], folder: Path, *, agent: str | None, place: Path) -> None:
        self.name = name
        self._place = place
        self._line = place / "line"
        self._screen = bytearray()
        self._seen = 0
        self._terminal, slave = pty.openpty()
        os.set_blocking(self._terminal, False)
        env = child_environment({"TERM": "xterm", "SHOWN": str(self._line), "COLUMNS": "200"}, agent=agent)
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _AT_TERMINAL, "sh", os.ttyname(slave), *argv],
            cwd=folder, env=env, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._slave = slave  # kept open until the shell has opened it, or the terminal would be gone
        self._until_there(place / "ready", f"{name} to be ready")

    def line(self, *keys: str) -> str:
        """Types the keys into an empty line, and gives the line as it stands then."""
        self._line.unlink(missing_ok=True)
        self._type(CLEAR + "".join(keys) + _SHOW)
        self._until_there(self._line, f"the line after {keys!r}")
        return self._line.read_text().removesuffix("\n")

    def words(self, *keys: str) -> list[str]:
        """The words of that line, read as a shell reads them."""
        return shlex.split(self.line(*keys))

    def run(self, *keys: str, made: Path) -> None:
        """Types the keys and waits until the file is there that the command makes."""
        self._type(CLEAR + "".join(keys))
        self._until_there(made, f"{made.name} after {keys!r}")

    def types(self, text: str) -> Self:
        """Types at whatever reads from the terminal now; ``\r`` is the return key."""
        self._seen = len(self._screen)
        self._type(text)
        return self

    def shows(self, text: str) -> Self:
        """Waits until the terminal shows this, after what was typed last."""
        until(
            lambda: self._looks() and text in self._screen[self._seen :].decode("utf-8", "replace"),
            f"{text!r}; the screen:\n{self.screen}",
        )
        return self

    def resize(self, rows: int, columns: int) -> Self:
        """Gives the window another size."""
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        return self

    @property
    def screen(self) -> str:
        """Everything that the terminal has shown so far."""
        return self._screen.decode("utf-8", "replace")

    def _until_there(self, file: Path, what: str) -> None:
        try:
            until(lambda: self._looks() and file.exists(), what, timeout=PATIENCE)
        except AssertionError as stuck:
            raise AssertionError(f"{stuck}\nthe screen:\n{self.screen}") from None

    def _type(self, text: str) -> None:
        data = text.encode()
        while data:
            self._looks()
            try:
                data = data[os.write(self._terminal, data) :]
            except BlockingIOError:
                continue

    def _looks(self) -> bool:
        """Reads what the terminal shows, so that the shell never has to wait for us."""
        try:
            while found := os.read(self._terminal, 1 << 16):
                self._screen += found
        except OSError:  # nothing more for now, or the shell is gone
            pass
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _kill_group(self._process)
        self._process.wait()
        os.close(self._terminal)
        os.close(self._slave)
        shutil.rmtree(self._place, ignore_errors=True)


def bash(folder: Path, setup: str, *, agent: str | None = "alice") -> Shell:
    """A bash that reads ``setup`` first."""
    place = _place()
    (place / "rc").write_text(
        "PS1='$ '; bind 'set bell-style none'; bind 'set completion-query-items 0'; bind 'set page-completions off'\n"
        "bind 'set show-all-if-ambiguous off'\n"
        'bind \'"\\C-xa": insert-completions\'; bind \'"\\C-xk": kill-whole-line\'\n'
        'bind -x \'"\\C-xp": printf "%s\\n" "$READLINE_LINE" >"$SHOWN.new"; mv "$SHOWN.new" "$SHOWN"\'\n'
        f"{setup}\n: >{shlex.quote(str(place / 'ready'))}\n"
    )
    return Shell("bash", ["bash", "--noprofile", "--rcfile", str(place / "rc"), "-i"], folder, agent=agent, place=place)


def zsh(folder: Path, setup: str, *, agent: str | None = "alice") -> Shell:
    """A zsh that reads ``setup`` first; ``compinit`` is up to it (``-d $DUMP`` makes it quick)."""
    place = _place()
    (place / ".zshrc").write_text(
        f"DUMP={shlex.quote(str(_dump()))}; "
        "PS1='%% '; LISTMAX=0; autoload -Uz compinit; bindkey -e\n"
        "unsetopt beep list_beep auto_menu auto_list prompt_cr prompt_sp\n"
        "show() { print -r -- $BUFFER >$SHOWN.new; mv $SHOWN.new $SHOWN }\n"
        "every() { _main_complete; compstate[insert]=all compstate[list]= }\n"
        "zle -N show; zle -C every complete-word every\n"
        "bindkey '^Xp' show '^Xk' kill-buffer '^Xa' every\n"
        f"{setup}\n: >{shlex.quote(str(place / 'ready'))}\n"
    )
    return Shell("zsh", ["env", f"ZDOTDIR={place}", "zsh", "-d", "-i"], folder, agent=agent, place=place)


def fish(folder: Path, setup: str, *, agent: str | None = "alice") -> Shell:
    """A fish that reads ``setup`` first."""
    place = _place()
    (place / "setup.fish").write_text(
        "function fish_prompt; echo '> '; end; function fish_greeting; end; set -g fish_autosuggestion_enabled 0\n"
        f"{setup}\n"
        "function show; commandline >$SHOWN.new; mv $SHOWN.new $SHOWN; end\n"
        "bind \\cxp show; bind \\cxk 'commandline \"\"'\n"
        f"echo >{shlex.quote(str(place / 'ready'))}\n"
    )
    argv = ["fish", "--init-command", f"source {shlex.quote(str(place / 'setup.fish'))}"]
    return Shell("fish", argv, folder, agent=agent, place=place)


@functools.cache
def _dump() -> Path:
    """A file that zsh's compinit keeps what it found in; finding it takes longest of all."""
    folder = Path(tempfile.mkdtemp(prefix="git-lock-zsh-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder / "dump"


def _place() -> Path:
    return Path(tempfile.mkdtemp(prefix="git-lock-shell-"))
