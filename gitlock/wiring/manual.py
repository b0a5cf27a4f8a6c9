"""Where ``man`` looks for pages: beside the programs, unless ``MANPATH`` says otherwise (manpath(1))."""

import os
import shutil
import sys

PAGE = "git-lock.1"


def program_folder() -> str:
    """The folder that git-lock was started from. Not resolved: a link to the program stands where the shell looks."""
    program = sys.argv[0]
    if os.path.basename(program) != "git-lock":
        program = shutil.which("git-lock") or sys.executable
    return os.path.dirname(os.path.abspath(program))


def page_place(folder: str | None) -> str:
    """Where the page belongs: in ``folder`` (one that holds ``man1``, or a ``man1`` itself), or beside the program."""
    if folder is None:
        folder = os.path.join(os.path.dirname(program_folder()), "share", "man")
    folder = os.path.abspath(os.path.expanduser(folder))
    if os.path.basename(folder) != "man1":
        folder = os.path.join(folder, "man1")
    return os.path.join(folder, PAGE)


def is_searched(place: str) -> bool:
    """Whether ``man`` would find a page there."""
    folder = os.path.realpath(os.path.dirname(os.path.dirname(place)))
    listed = os.environ.get("MANPATH")
    if listed is not None:
        named = listed.split(os.pathsep)
        if any(os.path.realpath(one) == folder for one in named if one):
            return True
        if "" not in named:  # an empty place stands for everything that follows from PATH
            return False
    for program in os.get_exec_path():
        for beside in ("../share/man", "../man", "man", "share/man"):
            if os.path.realpath(os.path.join(program, beside)) == folder:
                return True
    return False


def belongs_to_installer(place: str) -> bool:
    """Whether the program that installed this package put the page there, and will take it away again."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        files = distribution("git-lock").files or ()
    except PackageNotFoundError:
        return False
    there = os.path.realpath(place)
    return any(os.path.realpath(str(file.locate())) == there for file in files if file.name == PAGE)
