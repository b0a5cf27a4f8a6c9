"""What the pre-commit framework and prek tell a hook in their environment, since they hand on neither git's arguments
nor its standard input.

All of it is a hint: of a push of several refs they name one only, and none of a push that deletes or has no new
commit (docs/hooks.md, "Inside the pre-commit framework").
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.git.process import Git

_ARGUMENTS = {
    "post-checkout": ("PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF", "PRE_COMMIT_CHECKOUT_TYPE"),
    "post-merge": ("PRE_COMMIT_IS_SQUASH_MERGE",),
    "post-rewrite": ("PRE_COMMIT_REWRITE_COMMAND",),
    "pre-push": ("PRE_COMMIT_REMOTE_NAME", "PRE_COMMIT_REMOTE_URL"),
}


def arguments(hook: str, environ: "Mapping[str, str]") -> list[str]:
    """The arguments that git gave to this hook; empty where that is not told."""
    found = [environ.get(name, "") for name in _ARGUMENTS.get(hook, ())]
    return found if all(found) else []


def pushed(git: "Git", environ: "Mapping[str, str]") -> bytes:
    """The line that git wrote about the ref that is told of: ``<local ref> <oid> <remote ref> <oid there>``.

    What is pushed is what the local ref names, in place of what they say (for a first push, nothing). The oid there is
    where the new commits begin, or nulls: whoever reads it asks which of them the remote has.
    """
    local, remote = environ.get("PRE_COMMIT_LOCAL_BRANCH"), environ.get("PRE_COMMIT_REMOTE_BRANCH")
    if not local or not remote:
        return b""
    new = environ.get("PRE_COMMIT_TO_REF") or git.line("rev-parse", "-q", "--verify", "--end-of-options", local)
    if not new:
        return b""
    old = environ.get("PRE_COMMIT_FROM_REF") or "0" * len(new)
    return os.fsencode(f"{local} {new} {remote} {old}\n")
