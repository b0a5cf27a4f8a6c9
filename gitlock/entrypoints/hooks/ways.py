"""What a refusal offers: the command that takes it back, the one that goes on, and the only way past the gate.

Each was tried after a refusal (docs/hooks.md, "What takes a refused command back").
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.operation import Operation

STATEFUL = ("merge", "cherry-pick", "revert", "rebase", "am")  # a refusal leaves git in the middle of these


def resume(doing: "Operation") -> str:
    """The command that does what was refused after all."""
    if doing.kind == "revert":
        return "git commit --no-edit"  # a clean revert leaves nothing to continue, even as one of several
    if doing.kind in STATEFUL:
        return f"git {doing.kind} --continue"
    if doing.kind == "push":
        return "git push ..."
    return "git commit ..."


def ways_out(doing: "Operation") -> list[str]:
    """The hints that end a refusal."""
    lines = []
    if doing.kind in STATEFUL and doing.escape is not None:
        lines.append(f"to take this {doing.kind} back: {doing.escape}")
    more = " (if there are more, then: git revert --continue)" if doing.escape == "git revert --abort" else ""
    lines.append(f"to go on anyway (recorded and shown): GITLOCK_BYPASS='why' {resume(doing)}{more}")
    return lines
