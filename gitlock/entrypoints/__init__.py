"""Every way in: each turns outside words into one use case, and its outcome into words."""
