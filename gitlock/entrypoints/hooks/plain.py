"""pre-commit, the plain case: every path that is about to be committed is the agent's own, its leases are fresh, and
there is nothing to say to it. Then most of us need not be loaded to see it.

It only ever says that all is well, and only where the whole way round (``gitlock.entrypoints.hooks.gate``) would find
the same and leave the same behind: that no other agent's lease is anywhere near the paths, that own exclusive ones
cover each of them, that none of these is due to be renewed or held from elsewhere by now, and that the policy judges
all paths and does nothing but that. Whatever is not plain goes the whole way; the two are compared in
tests/property/test_plain_gate.py.
"""

import os

from gitlock.domain.agent import lineage
from gitlock.domain.anchor import anchor_candidates
from gitlock.domain.signing import Receipt, rendered
from gitlock.entrypoints.hooks.answers import map_entry
from gitlock.entrypoints.hooks.marker import PASSED, mark_judged
from gitlock.errors import GitlockError
from gitlock.git.config import finish_config, is_true
from gitlock.git.operation import operation
from gitlock.git.repository import current_branch
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.glimpse import KNOWN, is_quiet, near_records
from gitlock.stores.files.layout import Layout, read_whole, shared_bits
from gitlock.wiring.identity import program_around, resolve_agent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitlock.domain.instant import Instant
    from gitlock.entrypoints.hooks.answers import Answers
    from gitlock.git.repository import Repository
    from gitlock.stores.files.glimpse import Record

_MODES = ("enforce", "warn")  # "off" judges nothing
# What counts where there is no map file; the test holds it to gitlock.domain.policy.
_BUILT_IN = {
    "mode": "enforce", "humans": "enforce", "keys": (), "on_missing": "open", "receipts": True, "release_on": "never",
}  # fmt: skip
_SPECIAL = frozenset("\\*?[]!")  # what makes a pattern more than a path


def is_clear(repository: "Repository", environ: dict[str, str], known: "Answers") -> bool:
    """Whether the commit may be made and nothing has to be said; then it was noted as judged, with its receipts. The
    answers are still there afterwards, and nothing else was changed."""
    try:
        return _is_clear(repository, environ, known)
    except (GitlockError, OSError, KeyError, TypeError):
        return False  # the whole way says what is wrong


def _is_clear(repository: "Repository", environ: dict[str, str], known: "Answers") -> bool:
    paths = _paths(known)
    branch, top = current_branch(repository.git_dir), repository.top
    if not paths or known.config is None or "GITLOCK_STORE" in environ or branch is None or top is None:
        return False
    settings = finish_config(known.config)
    folder = os.path.join(repository.common_dir, "agentlocks")
    rules = _rules(known, settings, folder)
    if rules is None or "gitlock.store" in settings:
        return False
    mode, missing, is_signed = rules
    if read_whole(os.path.join(folder, "mode"), 64) != f"{mode} {missing}\n".encode():
        return False  # it has to be remembered
    if _has_news(repository.git_dir, folder) or operation(repository.git_dir).kind != "none":
        return False
    agent = resolve_agent(None, None, environ, settings.get("user.email"), repository, "files").id
    layout = Layout(folder, shared_bits(settings.get("core.sharedrepository")))
    anchors = {anchor for path in paths for anchor in anchor_candidates(path)}
    found = near_records(layout, lineage(agent), anchors)
    if found is None:
        return False
    store, own, near = found
    now = SystemClock().now()
    if not all(is_quiet(record, now, top, branch) for record in own):
        return False
    receipts = _receipts(near, paths, store, agent, is_true(settings.get("core.ignorecase")))
    if receipts is None or (program_around(environ) is not None and not _is_heard(environ, agent, top, layout, now)):
        return False
    mark_judged(repository.git_dir, environ, "clear", rendered(agent, receipts) if is_signed else ())
    return True


def _paths(known: "Answers") -> list[str]:
    """The staged paths, if they are plain."""
    out = b"" if known.staged is None else known.staged.finish()[1]
    if not out.isascii() or out[-1:] != b"\0":  # what is not ASCII may be spelt in several ways
        return []
    return out.decode("ascii").split("\0")[1::2]


def _rules(known: "Answers", settings: dict[str, str], folder: str) -> tuple[str, str, bool] | None:
    """The mode that is in force for every path and everybody, what a missing program means, and whether there are
    receipts; None where that can't be said in so few words."""
    if known.map_file is None:
        return None
    at_head, rest = map_entry(known.map_file.finish()[1])
    fields: dict[str, Any] | None = _BUILT_IN
    if at_head is not None:
        from gitlock.wiring.mapcache import cache_file, kept_fields

        fields = kept_fields(cache_file(at_head, folder))
    elif map_entry(rest)[0] is not None:
        return None  # before the first commit, the one that is about to be made counts
    if fields is None or fields["release_on"] == "commit":
        return None
    mode = settings.get("gitlock.mode")
    modes = {fields["mode"], fields["humans"], *(rule["mode"] for rule in fields["keys"])} if mode is None else {mode}
    missing = settings.get("gitlock.onmissing") or fields["on_missing"]
    if not modes <= {None, *_MODES} or missing not in ("open", "closed"):
        return None
    return mode or fields["mode"], missing, fields["receipts"] is True


def _is_heard(environ: dict[str, str], agent: str, top: str, layout: Layout, now: "Instant") -> bool:
    from gitlock.entrypoints.hooks.heard import is_heard  # in the shell of an agent program

    return is_heard(environ, agent, top, layout.sessions, now.wall)


def _has_news(git_dir: str, folder: str) -> bool:
    """Whether something has got past the last gate, some lease follows a branch, or somebody asks for something."""
    if os.path.exists(os.path.join(git_dir, PASSED)) or os.path.exists(os.path.join(folder, "following")):
        return True
    try:
        return bool(os.listdir(os.path.join(folder, "requests")))
    except FileNotFoundError:
        return False


def _receipts(
    near: "list[Record]", paths: list[str], store: str, agent: str, folded: bool
) -> list[Receipt] | None:
    """The receipts of the leases that cover the paths, in the order in which they do so; None where one of the leases
    is not plain, or one of the paths not covered. ``folded``: the case of letters says nothing (all is ASCII here)."""
    places = []
    for record in near:
        spots = _spots(record)
        if spots is None:
            return None
        if folded:
            spots = [(spot.lower(), least) for spot, least in spots]
        places.append((spots, record))
    used: dict[str, Receipt] = {}
    for path in paths:
        slashed = (path.lower() if folded else path) + "/"
        is_mine = False
        for spots, record in places:
            if any(slashed.startswith(spot) and least <= len(slashed) for spot, least in spots):
                is_mine = True
                receipt = _receipt(record, store, agent)
                if receipt is None:
                    return None
                used.setdefault(receipt.lease, receipt)
        if not is_mine:
            return None
    return list(used.values())


def _spots(record: "Record") -> list[tuple[str, int]] | None:
    """What an exclusive lease without exclusions covers: how such a path begins, with a slash at its end, and how long
    that is at least. None for any other lease."""
    include = record.get("include")
    if record.keys() != KNOWN or record["mode"] != "exclusive" or record["exclude"] != []:
        return None
    if type(include) is not list:
        return None
    found = []
    for text in include:
        if type(text) is not str or not text.isascii():
            return None
        for end in ("/", "/*", "/**"):
            if text.endswith(end):
                text, below = text[: len(text) - len(end)], 1
                break
        else:
            below = 0
        if not text or not _SPECIAL.isdisjoint(text):
            return None
        found.append((text + "/", len(text) + 1 + below))
    return found


def _receipt(record: "Record", store: str, agent: str) -> Receipt | None:
    lease, fence, keys, include = record["id"], record["fence"], record["keys"], record["include"]
    if type(lease) is not str or type(fence) is not int or type(keys) is not list or type(include) is not list:
        return None
    names = [key for key in keys if type(key) is str and key[:5] not in ("file:", "glob:")]
    return Receipt(
        lease=lease, store=store, fence=fence, keys=tuple(names), include=tuple(include), agent=agent
    )
