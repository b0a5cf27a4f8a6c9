"""The default store: plain JSON under ``.git/agentlocks``, shared by all worktrees of a clone."""
