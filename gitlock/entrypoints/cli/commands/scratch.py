"""``git lock scratch``: the agent's private folder."""

from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.options import Command, Given
from gitlock.entrypoints.cli.output import Answer


def answer(given: Given) -> Answer:
    """Prints its path, and makes it if need be."""
    import os

    from gitlock.stores.files.scratch import scratch_folder

    site = site_of(given)
    folder = scratch_folder(site.own_layout, site.agent.id)
    # As it is, whatever it holds: it is there to be used, as in cd "$(git lock scratch)".
    data = {"agent": site.agent.id, "path": envelope.name(folder), **envelope.raw([folder])}
    return Answer(raw=os.fsencode(folder) + b"\n", data=data)


COMMAND = Command(
    "scratch",
    "a folder of your own, outside of every worktree",
    answer,
    text=(
        "Prints the path of your private folder, which is made if it is not there: in git's own folder, never in a "
        "working tree, readable by you alone, and shared with no other agent."
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.UNCHECKED),
    examples=('cd "$(git lock scratch)"', "git lock scratch --agent alice"),
)
