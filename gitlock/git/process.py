"""The only door to the git program.

A git that is asked about *here* (this commit, this index) inherits the environment: ``GIT_INDEX_FILE`` says what is
being committed. A git that is asked about *elsewhere* (another worktree, another repository) must not: with the
hook's variables it answers for the wrong tree, or destroys the index of a running commit. ``Git.elsewhere`` removes
them (the list of ``git rev-parse --local-env-vars``, less the configuration that came with ``git -c``).

``subprocess`` is not imported where ``posix_spawn`` is there: it would cost more than git itself.
"""

import os

from gitlock.errors import GitFailed, RepositoryError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from subprocess import Popen

LOCAL_VARIABLES = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX",
    "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_QUARANTINE_PATH",
)  # fmt: skip

PIPE = 4096  # bytes that fit any pipe

CONFIG_SAFE = ("-c", "core.fsmonitor=false")  # a repository's own fsmonitor program is code; we only read


class Child:
    """A git that was started and not waited for yet; several run at once while Python goes on importing."""

    __slots__ = ("_argv", "_err", "_out", "_pid")

    def __init__(self, argv: tuple[str, ...], pid: int, out: int, err: int) -> None:
        self._argv = argv
        self._pid = pid
        self._out = out
        self._err = err

    def finish(self) -> tuple[int, bytes, str]:
        """Status, output, and what it said on standard error."""
        out, err = _read_both(self._out, self._err)
        _, status = os.waitpid(self._pid, 0)
        return os.waitstatus_to_exitcode(status), out, err.decode("utf-8", "replace")

    def output(self, ok: tuple[int, ...] = (0,)) -> bytes:
        """The output, or ``GitFailed`` unless the status is one of ``ok``."""
        status, out, err = self.finish()
        if status not in ok:
            raise failure(self._argv, status, err)
        return out


class Known(Child):
    """A child whose answer is there already."""

    __slots__ = ("_known",)

    def __init__(self, status: int, out: bytes) -> None:
        self._known = (status, out, "")

    def finish(self) -> tuple[int, bytes, str]:
        return self._known


class Git:
    """The git program, asked from one folder with one environment."""

    __slots__ = ("environ", "folder")

    def __init__(self, folder: str | None, environ: "Mapping[str, str]") -> None:
        self.folder = folder
        self.environ = dict(environ)
        # Readers never take index.lock; messages are matched against English ones.
        self.environ["GIT_OPTIONAL_LOCKS"] = "0"
        self.environ.pop("GITLOCK_TOKEN", None)  # a secret of ours, which git would hand on to whatever it starts
        self.environ["LC_ALL"] = "C"

    def elsewhere(self, folder: str) -> "Git":
        """A git for another worktree or repository: nothing of the current one leaks into it."""
        return Git(folder, {k: v for k, v in self.environ.items() if k not in LOCAL_VARIABLES and k[:8] != "GITHEAD_"})

    def unreplaced(self) -> "Git":
        """A git that sees commits as they are pushed and merged, not as ``git replace`` or a grafts file shows them
        here. A gate judges what travels."""
        nothing = os.path.join(os.devnull, "none")
        return Git(self.folder, {**self.environ, "GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": nothing})

    def offline(self) -> "Git":
        """A git that fails rather than fetch what is missing here (objects of a partial clone) from a remote."""
        return Git(self.folder, {**self.environ, "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"})

    def start(self, *args: str, stdin: bytes = b"") -> Child:
        """Starts ``git args``; ``stdin`` must fit a pipe (4 kB), larger input goes through ``feed``."""
        place = ("-C", self.folder) if self.folder else ()
        argv = ("git", *place, *CONFIG_SAFE, *args)
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        err_read, err_write = _error_channel()
        try:
            os.write(in_write, stdin)
            pid = _spawn(argv, self.environ, in_read, out_write, err_write)
        except (FileNotFoundError, NotADirectoryError):  # a folder of the PATH may be a file
            for fd in (out_read, err_read):
                os.close(fd)
            raise RepositoryError("the git program was not found", hint="put git on the PATH") from None
        finally:
            for fd in (in_read, in_write, out_write, err_write):
                os.close(fd)
        return Child(args, pid, out_read, err_read)

    def run(self, *args: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,)) -> bytes:
        """What ``git args`` prints; ``GitFailed`` unless the status is one of ``ok``."""
        return self.start(*args, stdin=stdin).output(ok)

    def try_run(self, *args: str) -> tuple[int, bytes, str]:
        """Status, output and standard error, whatever the status."""
        return self.start(*args).finish()

    def feed(self, *args: str, stdin: bytes, ok: tuple[int, ...] = (0,)) -> bytes:
        """As ``run``, for input of any size."""
        if len(stdin) <= PIPE:
            return self.run(*args, stdin=stdin, ok=ok)
        import subprocess

        place = ("-C", self.folder) if self.folder else ()
        done = subprocess.run(("git", *place, *CONFIG_SAFE, *args), input=stdin, env=self.environ, capture_output=True)
        if done.returncode not in ok:
            raise failure(args, done.returncode, done.stderr.decode("utf-8", "replace"))
        return done.stdout

    def bounded(self, *args: str, timeout: float) -> tuple[int | None, bytes, str]:
        """As ``try_run``, for what talks to another machine: at most ``timeout`` seconds. Then git, and all that it has
        started (ssh, helpers for credentials), is told to end, and killed a second later; the status is None.

        It runs in a session of its own, so that nothing can ask at the terminal, and writes to files: what outlives it
        (a shared ssh connection) keeps nobody waiting.
        """
        import signal
        import subprocess
        from tempfile import TemporaryFile

        place = ("-C", self.folder) if self.folder else ()
        with TemporaryFile() as out, TemporaryFile() as err:
            child = subprocess.Popen(
                ("git", *place, *CONFIG_SAFE, *args), env=self.environ, stdin=subprocess.DEVNULL, stdout=out,
                stderr=err, start_new_session=True,
            )  # fmt: skip
            status: int | None = None
            try:
                status = child.wait(timeout)
            except subprocess.TimeoutExpired:
                pass
            finally:  # also where a signal stops us
                if status is None:
                    _end_group(child, signal.SIGTERM, 1.0)
                    _end_group(child, getattr(signal, "SIGKILL", signal.SIGTERM), 5.0)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read())
        return status, texts[0], texts[1].decode("utf-8", "replace")

    def line(self, *args: str) -> str | None:
        """The one line that ``git args`` prints, without its newline; None if git says no (status 1 or 128)."""
        status, out, _ = self.try_run(*args)
        return os.fsdecode(out[:-1] if out.endswith(b"\n") else out) if status == 0 else None


def _end_group(child: "Popen[bytes]", number: int, patience: float) -> None:
    from subprocess import TimeoutExpired

    tell_group(child, number)
    try:
        child.wait(patience)
    except TimeoutExpired:
        return  # it does not listen


def tell_group(child: "Popen[bytes]", number: int) -> None:
    """Sends a signal to a child in a group of its own, and to all that it has started; nothing where it is gone."""
    try:
        os.killpg(child.pid, number) if hasattr(os, "killpg") else child.send_signal(number)
    except (ProcessLookupError, PermissionError):
        return


def failure(argv: tuple[str, ...], status: int, stderr: str) -> RepositoryError:
    """What a failed git means; git's own refusal of a repository comes with git's own remedy."""
    if "dubious ownership" in stderr:
        command = next((row.strip() for row in stderr.splitlines() if "safe.directory" in row), None)
        return RepositoryError(
            "git refuses this repository: it belongs to another user (safe.directory)", hint=command, id="git-refused"
        )
    if "not a git repository" in stderr:
        return RepositoryError("this is not a git repository", hint="git init")
    return GitFailed(argv, status, stderr)


def _spawn(argv: tuple[str, ...], environ: dict[str, str], stdin: int, stdout: int, stderr: int) -> int:
    if not hasattr(os, "posix_spawnp"):
        import subprocess

        return subprocess.Popen(argv, env=environ, stdin=stdin, stdout=stdout, stderr=stderr).pid
    moves = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1), (os.POSIX_SPAWN_DUP2, stderr, 2)]
    return os.posix_spawnp("git", argv, environ, file_actions=moves)


def _error_channel() -> tuple[int, int]:
    """Two descriptors: git writes its messages to the second, they are read from the first after it has ended.

    A memory file where there is one: it can't fill up while we read the other pipe, and needs no ``select``.
    """
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("git-messages", os.MFD_CLOEXEC)
        return fd, os.dup(fd)
    return os.pipe()


def _read_both(out: int, err: int) -> tuple[bytes, bytes]:
    """Both channels to their ends."""
    if hasattr(os, "memfd_create"):
        text = _drain(out)
        os.lseek(err, 0, os.SEEK_SET)
        return text, _drain(err)
    import select

    parts: dict[int, list[bytes]] = {out: [], err: []}
    waiting = [out, err]
    while waiting:
        for fd in select.select(waiting, (), ())[0]:
            chunk = os.read(fd, 1 << 18)
            if chunk:
                parts[fd].append(chunk)
            else:
                os.close(fd)
                waiting.remove(fd)
    return b"".join(parts[out]), b"".join(parts[err])


def _drain(fd: int) -> bytes:
    parts = []
    while chunk := os.read(fd, 1 << 18):
        parts.append(chunk)
    os.close(fd)
    return b"".join(parts)
