"""Which store a clone uses, and opening it: the one place that knows them all."""

import os

from gitlock.errors import ConfigError, StoreMismatch, StoreUnavailable
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.layout import read_whole
from gitlock.stores.files.store import GUARD_TIMEOUT, FileStore

FOLDER = "agentlocks"


def store_folder(url: str, common_dir: str) -> str:
    """The folder of a files store; ``ConfigError`` for an address that no store answers to."""
    if url == "files":
        return os.path.join(common_dir, FOLDER)
    if url.startswith("files:"):
        folder = url[6:]
        if not os.path.isabs(folder):
            raise ConfigError(
                f"the store '{url}' must name an absolute folder",
                hint="git config gitlock.store files:/absolute/folder",
                id="bad-setting",
            )
        return os.path.normpath(folder)
    raise ConfigError(
        f"the store '{masked(url)[:40]}' is not known: it is files, or files:/absolute/folder",
        hint="git config --show-origin gitlock.store",
        id="bad-setting",
    )


def masked(url: str) -> str:
    """An address as it may be shown: who can read a message need not know the password."""
    scheme, slashes, rest = url.partition("://")
    account, at, place = rest.rpartition("@")  # the last one: a password may hold any other
    return f"{scheme}://{account.partition(':')[0]}:***@{place}" if slashes and at else url


def open_store(
    url: str, common_dir: str, clock: SystemClock, *, shared: int = 0, guard_timeout: float | None = None
) -> FileStore:
    """The store that ``url`` names. A clone that is bound to another one refuses: two stores exclude nobody."""
    folder = store_folder(url, common_dir)
    local = os.path.join(common_dir, FOLDER)
    bound_file = os.path.join(local, "bound")
    bound = read_whole(bound_file, 4096)
    known = bound.decode("utf-8", "replace").strip() if bound is not None else "files"
    if known != url and (bound is not None or os.path.exists(os.path.join(local, "state.json"))):
        raise StoreMismatch(
            f"this clone works with the store '{masked(known)}', but is now told to use '{masked(url)}' "
            f"(to move on purpose: release everything, then remove '{bound_file}')",
            hint=f"git config gitlock.store {masked(known)}",
        )
    if url != "files" and bound is None:
        _bind(bound_file, local, url, shared)
    if url != "files":
        try:
            os.makedirs(os.path.dirname(folder), exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"can't make '{os.path.dirname(folder)}': {error.strerror}",
                hint="git config --show-origin gitlock.store",
            ) from None
    patience = GUARD_TIMEOUT if guard_timeout is None else guard_timeout
    return FileStore(folder, clock.now, shared=shared, guard_timeout=patience)


def _bind(path: str, folder: str, url: str, shared: int) -> None:
    from gitlock.stores.files.atomic import replace_file
    from gitlock.stores.files.layout import Layout

    layout = Layout(folder, shared)
    layout.make()
    replace_file(path, url.encode() + b"\n", layout.file_mode)
