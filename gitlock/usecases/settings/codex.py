"""What OpenAI Codex has beside its hooks, in ``config.toml``: the switches, and which plugins are on.

Plugins are a person's own there: a project's file enables none.
"""

import os

from gitlock.domain.value import Value
from gitlock.usecases.settings.disk import Refused, read_settings

DOTS = 1000  # in one line: for a name of that many parts ``tomllib`` takes the square of their number, up to hours


class Config(Value):
    """``switch`` is what switches all hooks off, None where nothing does; ``plugin`` says that ours is enabled."""

    __slots__ = ("path", "plugin", "switch")

    def __init__(self, path: str, switch: str | None = None, *, plugin: bool = False) -> None:
        self.path = path
        self.switch = switch
        self.plugin = plugin


def read_config(hooks: str) -> Config:
    """The file beside the ``hooks``. One that can't be read says nothing: Codex itself says what is wrong with it."""
    import tomllib

    path = os.path.join(os.path.dirname(hooks), "config.toml")
    try:
        real = os.path.realpath(path)
        text = (read_settings(real, os.path.dirname(real)).data or b"").decode()
        if max(row.count(".") for row in text.split("\n")) > DOTS:
            return Config(path)
        found = tomllib.loads(text)
    except (Refused, ValueError, RecursionError):
        return Config(path)
    features, plugins = found.get("features"), found.get("plugins")
    features = features if isinstance(features, dict) else {}
    names = [name for name in ("hooks", "codex_hooks") if features.get(name) is False]  # the same, new and old
    is_on = isinstance(plugins, dict) and features.get("plugins") is not False and any(map(_enables, plugins.items()))
    return Config(path, f"features.{names[0]} is false" if names else None, plugin=is_on)


def _enables(entry: "tuple[str, object]") -> bool:
    """Whether an entry is our plugin, and does not switch it off."""
    name, settings = entry
    return name.startswith("git-lock@") and isinstance(settings, dict) and settings.get("enabled") is not False
