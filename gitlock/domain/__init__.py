"""Values and decisions. No clock, no disk, no environment, no git, no logging."""
