"""Processes beside the test: one in the background, or many at one moment. All are reaped, whatever happens.

Each runs in a process group of its own and writes to files, so that neither a grandchild nor a full pipe is left
behind.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from tests.kit.program import child_environment
from tests.kit.result import Result

PATIENCE = 60.0  # seconds until waiting counts as failed; only there to end a hang
LOOK = 0.01      # seconds between two looks


def until(happened: Callable[[], object], what: str = "", *, timeout: float = PATIENCE) -> None:
    """Waits until something is so; fails with ``what`` when it never is."""
    end = time.monotonic() + timeout
    while not happened():
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout:g} s in vain{': ' + what if what else ''}")
        time.sleep(LOOK)


class Running:
    """A process that goes on beside the test. Leaving its ``with`` block kills its whole group."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
    ) -> None:
        self.argv = tuple(argv)
        self.cwd = cwd
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._err = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            self.argv,
            cwd=cwd,
            env=child_environment() if env is None else env,
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=self._out,
            stderr=self._err,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """The process's id, which is its group's as well."""
        return self.process.pid

    @property
    def out(self) -> str:
        """What it has written to standard output so far."""
        return _content(self._out).decode("utf-8", "surrogateescape")

    @property
    def err(self) -> str:
        """What it has written to standard error so far."""
        return _content(self._err).decode("utf-8", "surrogateescape")

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    def says(self, text: str, *, timeout: float = PATIENCE) -> Self:
        """Waits until it has written this text to either stream."""

        def said() -> bool:
            alive = self.is_alive  # asked first: what it wrote before its end is then there to be read
            if text in self.out or text in self.err:
                return True
            assert alive, f"it ended without {text!r}\n{self.result()!r}"
            return False

        until(said, f"{text!r} from {self.argv}", timeout=timeout)
        return self

    def wait(self, *, timeout: float = PATIENCE) -> Result:
        """Waits until it ends by itself."""
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired as late:
            raise AssertionError(f"did not end within {timeout:g} s: {self.argv}\n{self.out}\n{self.err}") from late
        return self.result()

    def signal(self, number: int) -> Self:
        """Sends a signal to this process alone."""
        self.process.send_signal(number)
        return self

    def kill(self) -> Result:
        """SIGKILL to the whole group; its answer is what it had written."""
        self._end_group()
        self.process.wait()
        return self.result()

    def result(self) -> Result:
        """The answer of a process that has ended."""
        code = self.process.poll()
        assert code is not None, f"still running: {self.argv}"
        return Result(self.argv, code, _content(self._out), _content(self._err), self.cwd)

    def close(self) -> None:
        """Ends what is left of it, grandchildren included, and closes its files."""
        self._end_group()
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()
        self._out.close()
        self._err.close()

    def _end_group(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # gone; or, on macOS, only its zombie is left
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def start(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | None = None,
) -> Running:
    """Starts a process and goes on."""
    return Running(argv, cwd=cwd, env=env, stdin=stdin)


class Job(NamedTuple):
    """A process to be."""

    argv: Sequence[str]
    cwd: Path | None = None
    env: Mapping[str, str] | None = None


# Says that it is there, waits until the barrier falls (its standard input ends), and becomes the program.
_AT_THE_BARRIER = 'printf . >&2; read -r _; out=$1 err=$2; shift 2; exec "$@" </dev/null >"$out" 2>"$err"'


class Crowd:
    """Processes that start at one moment: each stands ready in a shell, one event lets all of them go.

    with Crowd(jobs) as crowd:
        crowd.go()
        results = crowd.results()
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="crowd-")
        self._jobs = list(jobs)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._barrier: int | None = None
        try:
            self._line_up()
        except BaseException:
            self.close()
            raise

    def _line_up(self) -> None:
        gate, self._barrier = os.pipe()
        ready, say_ready = os.pipe()
        try:
            for number, job in enumerate(self._jobs):
                out, err = self._files(number)
                process = subprocess.Popen(
                    ["/bin/sh", "-c", _AT_THE_BARRIER, "sh", str(out), str(err), *job.argv],
                    cwd=job.cwd,
                    env=child_environment() if job.env is None else job.env,
                    stdin=gate,
                    stdout=subprocess.DEVNULL,
                    stderr=say_ready,
                    start_new_session=True,
                )
                self._processes.append(process)
            os.close(say_ready)
            say_ready = -1
            here = 0
            while here < len(self._jobs):
                said = os.read(ready, 4096)
                assert said.count(b".") == len(said) and said, f"a process did not reach the barrier: {said!r}"
                here += len(said)
        finally:
            os.close(gate)
            os.close(ready)
            if say_ready >= 0:
                os.close(say_ready)

    def _files(self, number: int) -> tuple[Path, Path]:
        folder = Path(self._folder.name)
        return folder / f"{number}.out", folder / f"{number}.err"

    @property
    def pids(self) -> list[int]:
        """Their ids, in the order of the jobs; a shell's id becomes the program's."""
        return [process.pid for process in self._processes]

    def go(self) -> Self:
        """Lets all of them go."""
        if self._barrier is not None:
            os.close(self._barrier)
            self._barrier = None
        return self

    def kill(self, number: int) -> None:
        """SIGKILL to one of them and its group."""
        _kill_group(self._processes[number])

    def results(self, *, timeout: float = PATIENCE) -> list[Result]:
        """Waits until all have ended; in the order of the jobs."""
        end = time.monotonic() + timeout
        results = []
        for number, (job, process) in enumerate(zip(self._jobs, self._processes, strict=True)):
            try:
                code = process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired as late:
                raise AssertionError(f"did not end within {timeout:g} s: {tuple(job.argv)}") from late
            out, err = (file.read_bytes() if file.exists() else b"" for file in self._files(number))
            results.append(Result(job.argv, code, out, err, job.cwd))
        return results

    def close(self) -> None:
        """Kills and reaps whatever is left."""
        for process in self._processes:
            _kill_group(process)
        for process in self._processes:
            process.wait()
        self.go()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def run_at_once(jobs: Sequence[Job], *, timeout: float = PATIENCE) -> list[Result]:
    """Starts all of them at one moment and waits for their answers."""
    with Crowd(jobs) as crowd:
        return crowd.go().results(timeout=timeout)


def is_gone(pid: int) -> bool:
    """Whether no process of this id runs any more (a zombie does not run)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return not Path("/proc/self/stat").exists()
    return stat.rpartition(")")[2].split()[0] in ("Z", "X")


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _content(file: object) -> bytes:
    """All of a file that a child is writing, without moving the child's place in it."""
    handle: int = file.fileno()  # type: ignore[attr-defined]
    return os.pread(handle, os.fstat(handle).st_size, 0)
