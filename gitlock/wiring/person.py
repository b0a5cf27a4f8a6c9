"""Who runs us, where there is no repository to ask about: their environment alone."""

import os


def environment() -> dict[str, str]:
    """The process's own environment."""
    return dict(os.environ)
