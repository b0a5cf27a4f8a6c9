import pytest

from gitlock.domain.origin import guess_origin


@pytest.mark.parametrize(
    ("path", "branch", "reason", "program"),
    [
        ("/x/repo/.claude/worktrees/fix", "worktree-fix", None, "claude"),
        ("/elsewhere/fix", "worktree-fix", None, "claude"),
        ("/elsewhere/fix", "fix", "claude 4711 since then", "claude"),
        ("/home/me/.codex/worktrees/1a2b/repo", None, None, "codex"),
        ("/home/me/.cursor/worktrees/repo/abc", "main-2", None, "cursor"),
        ("/home/me/conductor/workspaces/repo/paris", "paris", None, "conductor"),
        ("/x/repo.agents/fix", "agent/fix", "git-lock: worktree of fix (id 1a)", "git-lock"),
        ("/x/repo__worktrees/fix", "fix", None, "workmux"),
        ("/x/repo-worktrees/fix", "fix", None, "gtr"),
        ("/x/repo.fix", "fix", None, "worktrunk"),
        ("/x/fix", "fix", None, "git"),
        ("/x/fix", None, "", "git"),
    ],
)
def test_a_worktrees_maker_is_guessed(path: str, branch: str | None, reason: str | None, program: str) -> None:
    assert guess_origin(path, branch, reason, "/x/repo") == program
