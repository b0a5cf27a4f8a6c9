"""Makes the bundle (``gitlock.bundle``), after a command line has found it missing or old; best effort.

Names are below ``gitlock``. In a group each module comes after those that it imports at its top, so that a group can
be loaded in one go; tests/startup/test_tariff.py holds what a hook or verb really loads to these lists.
"""

import marshal
import os
import sys
from _frozen_importlib_external import SourceFileLoader

from gitlock.bundle import VERSION, bundle_file, source_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.bundle import Kept

# What pre-commit loads where there is nothing to say.
HOOK = """
entrypoints entrypoints.hooks git errors git.process entrypoints.hooks.answers git.config domain domain.value
git.repository entrypoints.hooks.main wiring domain.agent wiring.identity domain.segment domain.pattern domain.footprint
domain.policy wiring.policies wiring.site entrypoints.hooks.setting domain.change entrypoints.hooks.marker git.changes
git.operation usecases domain.instant domain.lease domain.snapshot domain.standing domain.decision domain.beat
usecases.renew usecases.check entrypoints.hooks.gate stores stores.files stores.files.layout stores.clock jsontext
stores.codec stores.files.mark stores.files.state stores.files.table stores.files.store stores.opening domain.coverage
"""

# What check, claim, mine, release and renew all load.
VERB = """
entrypoints entrypoints.cli domain domain.value errors entrypoints.cli.options entrypoints.cli.output
entrypoints.cli.table entrypoints.cli.running entrypoints.cli.main entrypoints.cli.commands domain.agent domain.segment
domain.pattern domain.footprint domain.instant domain.lease domain.conflict domain.policy domain.snapshot
domain.standing entrypoints.exitcodes wiring git git.process git.config git.repository wiring.identity wiring.site
entrypoints.cli.asking domain.duration domain.change domain.decision entrypoints.wording usecases domain.beat
stores stores.clock stores.files stores.files.layout jsontext stores.codec stores.files.mark stores.files.state
stores.files.table stores.files.store stores.opening
"""

# What some of them load, or do when there is something to say.
REST = """
__main__ digest domain.claim domain.holding domain.key domain.overlap domain.queue domain.turn domain.witness
entrypoints.cli.commands.check entrypoints.cli.commands.claim entrypoints.cli.commands.mine
entrypoints.cli.commands.release entrypoints.cli.commands.renew entrypoints.cli.commands.whoami
entrypoints.cli.granting entrypoints.envelope entrypoints.hooks.beat entrypoints.hooks.doubt entrypoints.hooks.saying
entrypoints.hooks.ways git.merges stores.files.atomic stores.files.guard stores.files.journal stores.files.queue_rows
usecases.claim usecases.covered usecases.hearing usecases.looking usecases.places usecases.reading usecases.release
usecases.staging wiring.liveness
"""


def named(names: str) -> list[str]:
    """The full names of a list above."""
    return ["gitlock." + short for short in names.split()]


def make_bundle() -> None:
    """Writes the bundle of this interpreter; whatever stands in the way leaves things as they are."""
    path = bundle_file()
    if sys.dont_write_bytecode or not os.access(os.path.dirname(path), os.W_OK):
        return
    kept: dict[str, Kept] = {}
    codes = b""
    try:
        for name in dict.fromkeys(named(HOOK + VERB + REST)):
            package = not os.path.exists(source_file(name, False))
            source = source_file(name, package)
            found = os.stat(source)
            code = marshal.dumps(SourceFileLoader(name, source).get_code(name))
            kept[name] = (package, found.st_size, found.st_mtime_ns, len(codes), len(code))
            codes += code
        index = marshal.dumps((VERSION, kept, {"hook": named(HOOK), "verb": named(VERB)}))
        _replace(path, b"%8d" % len(index) + index + codes)
    except (OSError, ValueError, SyntaxError, ImportError):
        return


def _replace(path: str, data: bytes) -> None:
    temporary = f"{path}.{os.getpid()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        os.write(fd, data)
        os.fsync(fd)  # code that a power cut left half written would not be noticed
    finally:
        os.close(fd)
    os.replace(temporary, path)
