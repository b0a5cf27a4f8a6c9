"""What git knows. The git program is asked through one door, ``gitlock.git.process``."""
