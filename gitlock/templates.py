"""The files under ``templates/``, and the manual page: what we write into other people's folders, word for word."""

import os

_HERE = os.path.dirname(os.path.abspath(__file__))
_FOLDERS = (
    os.path.join(_HERE, "_templates"),  # in a wheel
    os.path.join(os.path.dirname(_HERE), "templates"),  # in a checkout
    os.path.join(os.path.dirname(_HERE), "docs", "man"),
)


def read_template(name: str) -> str:
    """The text of ``templates/<name>``, its line endings as they are; ``FileNotFoundError`` if we ship no such file."""
    for folder in _FOLDERS:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                return file.read().decode("utf-8")
        except FileNotFoundError:
            continue
    raise FileNotFoundError(f"git-lock has no template '{name}'")
