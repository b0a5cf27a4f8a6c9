"""Removing an agent's worktree without losing work, and bringing it back."""
