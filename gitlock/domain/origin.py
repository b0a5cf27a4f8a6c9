"""Which program a worktree comes from: a guess by its path, its branch, and what git's lock on it says.

Only for showing. Nothing is removed, or left alone, for it.
"""

from gitlock.domain.value import Value

PLAIN = "git"


class Trait(Value):
    """What gives one program away: parts of the path (each between slashes), beginnings of the branch, and of the
    lock's reason."""

    __slots__ = ("branches", "places", "program", "reasons")

    def __init__(
        self, program: str, *, places: tuple[str, ...] = (), branches: tuple[str, ...] = (),
        reasons: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self.program = program
        self.places = places
        self.branches = branches
        self.reasons = reasons


# As the programs' documentation and sources describe it. The first that fits counts.
TRAITS = (
    Trait("git-lock", reasons=("git-lock:",)),
    Trait("claude", places=("/.claude/worktrees/",), branches=("worktree-",), reasons=("claude",)),
    Trait("codex", places=("/.codex/worktrees/",)),
    Trait("cursor", places=("/.cursor/worktrees/",), branches=("cursor/",)),
    Trait("gemini", places=("/.gemini/worktrees/",)),
    Trait("grok", places=("/.grok/worktrees/",)),
    Trait("conductor", places=("/conductor/workspaces/", "/.conductor/")),
    Trait("claude-squad", places=("/.claude-squad/worktrees/",)),
    Trait("vibe-kanban", places=("/vibe-kanban/worktrees/",), branches=("vk/",)),
    Trait("uzi", places=("/.local/share/uzi/worktrees/",)),
    Trait("par", places=("/.local/share/par/worktrees/",)),
    Trait("copilot", places=("/.copilot/worktrees/",), branches=("copilot/",)),
    Trait("opencode", places=("/opencode/worktree/",), branches=("opencode/",)),
)


def guess_origin(path: str, branch: str | None, reason: str | None, main: str | None = None) -> str:
    """The program, or ``git`` where nothing tells. ``main`` is the folder of the main worktree."""
    where = path.replace("\\", "/").rstrip("/") + "/"
    for trait in TRAITS:
        if any(place in where for place in trait.places):
            return trait.program
        if reason and reason.startswith(trait.reasons):
            return trait.program
    beside = _beside(where, main) if main is not None else None
    if beside is not None:
        return beside
    if branch is not None:
        return next((trait.program for trait in TRAITS if branch.startswith(trait.branches)), PLAIN)
    return PLAIN


def _beside(where: str, main: str) -> str | None:
    """Programs that put theirs beside the main worktree, called after it."""
    base = main.replace("\\", "/").rstrip("/")
    if where.startswith(base + "__worktrees/"):
        return "workmux"
    if where.startswith(base + "-worktrees/"):
        return "gtr"
    if where.startswith(base + ".agents/"):
        return "git-lock"
    if where.startswith(base + ".") and "/" not in where[len(base) + 1 :].rstrip("/"):
        return "worktrunk"
    return None
