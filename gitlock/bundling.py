"""Makes the bundle (``gitlock.bundle``), after a command line has found it missing or old; best effort.

Names are below ``gitlock``. In a group each module comes after those that it imports at its top, so that a group can
be loaded in one go; tests/startup/test_tariff.py holds what a hook or verb really loads to these lists.
"""

import marshal
import os
import sys
from _frozen_importlib_external import SourceFileLoader

from gitlock.bundle import EXTENSION, MODULE, PACKAGE, VERSION, bundle_file, source_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

    from gitlock.bundle import Group, Kept

# What pre-commit loads where all is plainly the committer's own; and what it loads besides where it has to look closer
# and finds nothing to say.
HOOK = """
gitlock entrypoints entrypoints.hooks git errors git.process entrypoints.hooks.answers git.config domain domain.value
git.repository entrypoints.hooks.main domain.agent domain.anchor domain.signing entrypoints.hooks.marker git.operation
stores domain.instant stores.clock stores.files jsontext stores.files.layout stores.files.seal stores.files.glimpse
wiring git.badge wiring.identity entrypoints.hooks.plain
"""
JUDGE = """
__future__ domain.segment domain.pattern domain.footprint domain.policy wiring.policies wiring.site
entrypoints.hooks.setting domain.change git.changes usecases domain.lease domain.seat domain.snapshot domain.standing
domain.covering domain.decision domain.beat usecases.renew usecases.check entrypoints.hooks.gate stores.codec
stores.files.mark stores.files.state stores.files.table stores.files.store stores.opening
"""

# What asks git where we are: loaded first, so that it answers while the rest is loaded.
GIT = "errors git git.process git.config domain domain.value git.repository git.ordinary wiring wiring.begun"

# What check, claim, mine, release and renew all load then.
VERB = """
__future__ entrypoints entrypoints.cli entrypoints.cli.options entrypoints.cli.output entrypoints.cli.table
entrypoints.cli.running entrypoints.cli.main entrypoints.cli.commands domain.agent domain.segment domain.anchor
domain.pattern
domain.footprint domain.instant domain.lease domain.conflict domain.policy domain.seat domain.snapshot domain.standing
entrypoints.exitcodes git.badge wiring.identity wiring.site entrypoints.cli.asking domain.duration domain.change
domain.covering domain.decision domain.quoting
entrypoints.wording usecases domain.beat stores stores.files stores.files.layout stores.clock jsontext stores.codec
stores.files.mark stores.files.seal stores.files.state stores.files.table stores.files.store stores.opening
"""

# And what each of them loads besides.
CHECK = """
git.changes usecases.renew usecases.check usecases.places entrypoints.cli.commands.check wiring.policies
"""
CLAIM = """
domain.overlap domain.tentative domain.claim digest domain.key usecases.places usecases.reading usecases.claim
usecases.covered domain.session wiring.attendance entrypoints.outcomes entrypoints.cli.granting
entrypoints.cli.commands.claim
wiring.policies wiring.liveness stores.files.atomic stores.files.guard stores.files.journal
"""
MINE = "usecases.renew entrypoints.cli.commands.mine"
RELEASE = """
domain.key domain.overlap domain.holding usecases.places usecases.reading usecases.renew usecases.release digest
domain.session wiring.attendance entrypoints.cli.commands.release wiring.policies stores.files.atomic
stores.files.guard stores.files.journal
"""
RENEW = """
domain.key domain.overlap domain.holding usecases.places usecases.reading usecases.renew digest domain.session
wiring.attendance entrypoints.cli.commands.renew wiring.policies stores.files.atomic stores.files.guard
stores.files.journal
"""

# What `ci` loads besides, where the branch may land.
CI = """
domain.authors domain.signing domain.receipt domain.merging entrypoints.envelope entrypoints.cli.mergewords
git.changes git.merges
git.outgoing git.foreseen git.branching git.testimony git.ledgers domain.following domain.ledger stores.ledger
domain.overlap
usecases.looking stores.files.atomic stores.files.records stores.files.guard stores.files.publications
usecases.seating usecases.publishing usecases.merge_check git.baseline wiring.platforms wiring.policies
entrypoints.cli.commands.ci git.operation git.worktrees git.checkouts wiring.liveness digest domain.key
wiring.plaintoml wiring.mapfile domain.coverage
"""

# What `agent-hook` loads until it has asked git for the settings of the place that an edit is about to happen in; what
# it loads to see that the path is the agent's already; and what it loads where more is to be done.
EVENT = """
gitlock entrypoints entrypoints.agents jsontext domain domain.value entrypoints.agents.neutral entrypoints.agents.main
entrypoints.agents.payload entrypoints.agents.claude errors git git.process git.config git.repository git.locate
"""
PLAIN = """
domain.agent digest domain.session stores domain.instant stores.clock stores.files stores.files.layout
stores.files.seal stores.files.glimpse wiring git.badge wiring.identity wiring.asking entrypoints.agents.plain
"""
AGENT = """
__future__ domain.segment domain.anchor domain.pattern domain.footprint domain.lease domain.seat domain.sitting
domain.policy wiring.site wiring.spotting
entrypoints.agents.desk domain.snapshot usecases domain.change domain.covering domain.standing domain.decision
domain.beat usecases.renew usecases.edit entrypoints.agents.before stores.codec stores.files.mark
stores.files.state stores.files.table stores.files.store stores.opening
wiring.policies
"""

# What the other hooks load, or any of them when there is something to say.
REST = """
__main__ entrypoints.agents.codex entrypoints.agents.gemini entrypoints.agents.cursor entrypoints.agents.after
entrypoints.agents.news entrypoints.agents.words entrypoints.agents.lifetime domain.receipt domain.patchtext
domain.shellwords domain.shellgit domain.shellwrites domain.guarding entrypoints.hooks.heard entrypoints.hooks.unseen
wiring.mapcache domain.leaving stores.files.records stores.files.sessions
usecases.presence usecases.leave usecases.observe stores.files.travels wiring.travelling
entrypoints.agents.sweeping usecases.trespass domain.request stores.files.requests usecases.negotiate
domain.coverage domain.queue domain.turn domain.witness entrypoints.cli.commands.whoami entrypoints.envelope
entrypoints.hooks.asked entrypoints.hooks.beat entrypoints.hooks.doubt entrypoints.hooks.saying entrypoints.hooks.voice
entrypoints.hooks.ways entrypoints.hooks.message git.trailers git.merges stores.files.bell stores.files.queue_rows
usecases.hearing usecases.looking entrypoints.hooks.following entrypoints.hooks.framework usecases.arriving git.baseline
usecases.staging usecases.wait domain.merging domain.ledger domain.following stores.ledger stores.files.records
stores.files.publications git.ledgers git.outgoing git.branching git.testimony usecases.pushing usecases.publishing
usecases.following
entrypoints.hooks.pushing
"""

GROUPS = {
    "hook": HOOK, "judge": JUDGE, "git": GIT, "verb": VERB, "check": CHECK, "claim": CLAIM, "mine": MINE,
    "release": RELEASE, "renew": RENEW, "ci": CI, "event": EVENT, "plain": PLAIN,
    "agent": AGENT,
}  # fmt: skip


# Python's own, each of which would have three folders searched for it: what "from __future__" in a module of ours
# loads, and the parts of the library that are written in C, where they are not built in.
PYTHON = "__future__ _json binascii fcntl _sha256 _sha2"
WAITING_PYTHON = "bisect _bisect select"  # the same, of those that stand in the queue


def named(names: str) -> list[str]:
    """The full names of a list above."""
    python = (*PYTHON.split(), *WAITING_PYTHON.split())
    return [short if short == "gitlock" or short in python else "gitlock." + short for short in names.split()]


def make_bundle() -> None:
    """Writes the bundle of this interpreter; whatever stands in the way leaves things as they are."""
    path = bundle_file()
    if sys.dont_write_bytecode or not os.access(os.path.dirname(path), os.W_OK):
        return
    kept: dict[str, Kept] = {}
    groups: dict[str, Group] = {}
    codes: dict[str, CodeType | None] = {}
    text = b""
    try:
        for name in (*PYTHON.split(), *WAITING_PYTHON.split()):
            _keep_other(kept, codes, name)
        for name in named(" ".join((*GROUPS.values(), REST))):
            if name not in kept:
                _keep(kept, codes, name)
        for name, code in codes.items():
            kind, size, time, _, _, place = kept[name]
            data = marshal.dumps(code)
            kept[name] = (kind, size, time, len(text), len(data), place)
            text += data
        for group, listed in GROUPS.items():
            names = named(listed)
            data = marshal.dumps([codes[name] for name in names])  # they share their names, and are read faster
            groups[group] = (names, len(text), len(data))
            text += data
        index = marshal.dumps((VERSION, len(text), kept, groups))
        _replace(path, b"%8d" % len(index) + index + text)
    except (OSError, ValueError, SyntaxError, ImportError):
        return


def _keep(kept: "dict[str, Kept]", codes: "dict[str, CodeType | None]", name: str) -> None:
    package = name == "gitlock" or not os.path.exists(source_file(name, False))
    source = source_file(name, package)
    found = os.stat(source)
    codes[name] = SourceFileLoader(name, source).get_code(name)
    kept[name] = (PACKAGE if package else MODULE, found.st_size, found.st_mtime_ns, 0, 0, "")


def _keep_other(kept: "dict[str, Kept]", codes: "dict[str, CodeType | None]", name: str) -> None:
    try:
        place = getattr(__import__(name), "__file__", None)
    except ImportError:
        return  # another version of Python has it under another name
    if place is None:
        return  # built in
    found = os.stat(place)
    kind = MODULE if place.endswith(".py") else EXTENSION
    if kind == MODULE:
        codes[name] = SourceFileLoader(name, place).get_code(name)
    kept[name] = (kind, found.st_size, found.st_mtime_ns, 0, 0, place)


def _replace(path: str, data: bytes) -> None:
    temporary = f"{path}.{os.getpid()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)  # code that a power cut left half written would not be noticed
    except OSError:
        os.unlink(temporary)
        raise
    finally:
        os.close(fd)
    os.replace(temporary, path)
