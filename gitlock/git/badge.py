"""Whose worktree this is, as a file in git's own folder for it: ``<git folder>/gitlock-agent``, ``<id> <agent>``.

There it goes where the worktree goes (git keeps the folder when a worktree is moved), and when the worktree goes:
another one of the same name or path never inherits it. The main worktree has none.
"""

import os

from gitlock.git.repository import read_small

NAME = "gitlock-agent"


def read_badge(git_dir: str) -> tuple[str, str] | None:
    """The id and the agent of a worktree that was made for one; None for any other."""
    text = read_small(os.path.join(git_dir, NAME))
    if text is None:
        return None
    name, _, agent = text.strip().partition(" ")
    return (name, agent) if name.isalnum() and agent else None


def write_badge(git_dir: str, name: str, agent: str) -> None:
    """Names the worktree's id and agent; ``OSError`` where that can't be done."""
    path = os.path.join(git_dir, NAME)
    temporary = f"{path}.{os.getpid()}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o644)
    try:
        os.write(fd, f"{name} {agent}\n".encode())
        os.fsync(fd)
    finally:
        os.close(fd)
    os.replace(temporary, path)


def remove_badge(git_dir: str) -> None:
    """The worktree is nobody's any more."""
    try:
        os.unlink(os.path.join(git_dir, NAME))
    except FileNotFoundError:
        pass
