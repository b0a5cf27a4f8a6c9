"""Which policy is in force: the map file of the worktree (claims), or as of HEAD (gates), with git's overrides.

Parsing TOML costs more than a whole hook, so what a file said is kept beside the store, under a name made of its
content's hash. The cache can be deleted at any time; what is not exactly understood is parsed again.
"""

import os
from _thread import get_native_id
from binascii import crc32
from stat import S_ISREG

from gitlock.domain.policy import BUILT_IN, ENFORCE, MAP_FILE, MAP_FILE_LIMIT, MODES, KeyRule, Policy
from gitlock.errors import ConfigError, StoreError
from gitlock.stores.files.layout import NOFOLLOW, NONBLOCK, give_to_owner, read_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def policy_of_worktree(top: str | None, settings: dict[str, str], store_folder: str) -> Policy:
    """What claims go by: the file as it lies in the worktree."""
    if top is None:
        return with_overrides(BUILT_IN, settings)
    path = os.path.join(top, MAP_FILE)
    try:
        # A pipe in its place would wait for its other end.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | NONBLOCK)) as file:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfigError(f"can't read {MAP_FILE}: it is no file")
            data = file.read(MAP_FILE_LIMIT + 1)
    except FileNotFoundError:
        return with_overrides(BUILT_IN, settings)
    except OSError as error:
        raise ConfigError(f"can't read {MAP_FILE}: {error.strerror}") from None
    return with_overrides(_cached(data, store_folder), settings)


def policy_of_text(data: bytes | None, settings: dict[str, str], store_folder: str) -> Policy:
    """What a gate goes by: the bytes of the file as of some commit, or None where that commit has none."""
    return with_overrides(BUILT_IN if data is None else _cached(data, store_folder), settings)


def with_overrides(policy: Policy, settings: dict[str, str]) -> Policy:
    """The policy under ``git config gitlock.mode`` and ``gitlock.onMissing``."""
    mode = settings.get("gitlock.mode")
    missing = settings.get("gitlock.onmissing")
    if mode is not None and mode not in MODES:
        raise ConfigError(
            f"git config gitlock.mode is '{mode}': it must be one of {', '.join(MODES)}",
            hint="git config --show-origin gitlock.mode",
            id="bad-setting",
        )
    if missing is not None and missing not in ("open", "closed"):
        raise ConfigError(
            f"git config gitlock.onMissing is '{missing}': it must be open or closed",
            hint="git config --show-origin gitlock.onMissing",
            id="bad-setting",
        )
    if mode is not None or missing is not None:
        policy = policy.replace(override=mode, on_missing=missing or policy.on_missing)
    return policy


def last_known_mode(store_folder: str) -> str:
    """The mode that this clone was last seen in; ``enforce`` where that is not known."""
    words = _remembered(store_folder).split()
    return words[0] if words and words[0] in MODES else ENFORCE


def remember_mode(store_folder: str, mode: str, on_missing: str) -> None:
    """Writes down what a hook's stub goes by when it can't ask: the mode, and what a missing program means; best
    effort."""
    text = f"{mode} {on_missing}\n"
    if _remembered(store_folder) != text:
        _write(os.path.join(store_folder, "mode"), text)


def _remembered(store_folder: str) -> str:
    return (_read(os.path.join(store_folder, "mode"), 64) or b"").decode("ascii", "replace")


def _read(path: str, limit: int) -> bytes | None:
    """What is derived, where there is any: links, pipes and what is too large are not ours, and passed over."""
    try:
        return read_whole(path, limit)
    except StoreError:
        return None


def _cached(data: bytes, store_folder: str) -> Policy:
    from gitlock import jsontext
    from gitlock.wiring.mapcache import CACHE_FORMAT, cache_file, kept_fields

    if not os.path.isdir(store_folder):
        return _parsed(data)
    path = cache_file(data, store_folder)
    fields = kept_fields(path)
    policy = None if fields is None else _thawed(fields)
    if policy is None:
        policy = _parsed(data)
        text = jsontext.dumps({"cache": CACHE_FORMAT, "policy": _frozen(policy)})
        _write(path, f"{crc32(text.encode('ascii')):08x} {text}")
    return policy


def _parsed(data: bytes) -> Policy:
    from gitlock.wiring.mapfile import parse_map_file

    return parse_map_file(data)


def _frozen(policy: Policy) -> dict[str, object]:
    fields = {name: getattr(policy, name) for name in Policy.__slots__}
    fields["keys"] = [{name: getattr(rule, name) for name in KeyRule.__slots__} for rule in policy.keys]
    return fields


def _thawed(fields: "dict[str, Any]") -> Policy | None:
    try:
        keys = tuple(KeyRule(**{**rule, "paths": tuple(rule["paths"])}) for rule in fields["keys"])
        return Policy(**{**fields, "keys": keys, "open_paths": tuple(fields["open_paths"])})
    except (TypeError, KeyError):
        return None


def _write(path: str, text: str) -> None:
    """Whole or not at all, and for whoever may use the folder."""
    temporary, folder = f"{path}.{get_native_id()}.tmp", os.path.dirname(path)
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NOFOLLOW, 0o600)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(fd, os.stat(folder).st_mode & 0o666)
            os.write(fd, text.encode("ascii"))
        finally:
            os.close(fd)
        give_to_owner(temporary, folder)
        os.replace(temporary, path)
    except OSError:
        return
