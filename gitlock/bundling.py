"""Makes the bundle (``gitlock.bundle``), after a command line has found it missing or old; best effort."""

import marshal
import os
import sys
from _frozen_importlib_external import SourceFileLoader

from gitlock.bundle import VERSION, bundle_file, source_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.bundle import Kept

# What the hooks and the verbs that agents repeat load. tests/startup/test_tariff.py holds them to it.
MODULES = """
__main__ bundle digest errors jsontext
domain domain.agent domain.beat domain.change domain.claim domain.conflict domain.coverage domain.decision
domain.duration domain.footprint domain.holding domain.instant domain.key domain.lease domain.meeting domain.overlap
domain.pattern domain.policy domain.queue domain.segment domain.snapshot domain.standing domain.value domain.witness
entrypoints entrypoints.envelope entrypoints.exitcodes entrypoints.wording
entrypoints.cli entrypoints.cli.asking entrypoints.cli.granting entrypoints.cli.main entrypoints.cli.options
entrypoints.cli.output entrypoints.cli.running
entrypoints.cli.table
entrypoints.cli.commands entrypoints.cli.commands.check entrypoints.cli.commands.claim entrypoints.cli.commands.mine
entrypoints.cli.commands.release entrypoints.cli.commands.renew entrypoints.cli.commands.whoami
entrypoints.hooks entrypoints.hooks.answers entrypoints.hooks.beat entrypoints.hooks.doubt entrypoints.hooks.gate
entrypoints.hooks.main entrypoints.hooks.voice
entrypoints.hooks.marker entrypoints.hooks.setting entrypoints.hooks.ways
git git.changes git.config git.merges git.operation git.process git.repository
stores stores.clock stores.codec stores.opening
stores.files stores.files.atomic stores.files.guard stores.files.journal stores.files.layout stores.files.mark
stores.files.state stores.files.store stores.files.table
usecases usecases.check usecases.claim usecases.covered usecases.looking usecases.places usecases.reading
usecases.release usecases.renew
wiring wiring.identity wiring.liveness wiring.policies wiring.site
""".split()


def make_bundle() -> None:
    """Writes the bundle of this interpreter; whatever stands in the way leaves things as they are."""
    path = bundle_file()
    if sys.dont_write_bytecode or not os.access(os.path.dirname(path), os.W_OK):
        return
    kept: dict[str, Kept] = {}
    codes = b""
    try:
        for short in MODULES:
            name = "gitlock." + short
            package = not os.path.exists(source_file(name, False))
            source = source_file(name, package)
            found = os.stat(source)
            code = marshal.dumps(SourceFileLoader(name, source).get_code(name))
            kept[name] = (package, found.st_size, found.st_mtime_ns, len(codes), len(code))
            codes += code
        index = marshal.dumps((VERSION, kept))
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
