"""Making worktrees for agents: all of it, or nothing."""
