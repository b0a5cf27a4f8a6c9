"""What a new worktree gets besides its branch: its files or some of them, work that goes along, ignored files, the
settings of agent programs, set-up.

All of it outside every lock. What stops it takes the whole worktree back; what merely does not work is a warning.
"""

from gitlock.domain.footprint import Footprint
from gitlock.domain.policy import MAP_FILE
from gitlock.domain.value import Value
from gitlock.entrypoints.cli.approving import setup_at, untrusted_warning
from gitlock.entrypoints.cli.inhabiting import environ_of
from gitlock.entrypoints.wording import visible
from gitlock.errors import GitlockError, Interrupted, UsageError
from gitlock.stores.files.trusted import TrustBook
from gitlock.usecases.settings.travelling import equip
from gitlock.usecases.spawning import carrying, seeding, sparse
from gitlock.usecases.spawning.filling import check_out
from gitlock.usecases.spawning.setting_up import LATE, STOPPED, SetUp, run_setup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.worktree import Worktree
    from gitlock.entrypoints.cli.options import Given
    from gitlock.entrypoints.cli.spawned import Told
    from gitlock.usecases.reading import Reading
    from gitlock.usecases.spawning.carrying import Carried
    from gitlock.usecases.spawning.ground import Ground
    from gitlock.usecases.spawning.trusting import Setup
    from gitlock.wiring.site import Site


class Furnished(Value):
    """``setup`` is one of the record's words; ``seeded`` and ``carried`` count files, None where none were to be;
    ``sparse`` says that not all files of the branch are checked out."""

    __slots__ = ("carried", "seeded", "setup", "sparse")

    def __init__(self, setup: str, *, sparse: bool, seeded: int | None, carried: int | None) -> None:
        self.setup = setup
        self.sparse = sparse
        self.seeded = seeded
        self.carried = carried


def what_goes_along(given: "Given", site: "Site") -> "Carried | None":
    """The uncommitted work that ``--with-changes`` takes, looked at before anything is made."""
    if not given.flag("with_changes"):
        return None
    return carrying.snapshot(site.repository.git.elsewhere(site.repository.require_top()))


def require_paths(given: "Given", reading: "Reading | None") -> None:
    """``--sparse`` needs paths to go by: said before anything is made."""
    if given.flag("sparse") and (reading is None or not reading.include):
        raise UsageError(
            "--sparse checks out what the claims cover, and they cover no path", hint="add --claim 'src/**'"
        )


def furnish(
    given: "Given", site: "Site", ground: "Ground", record: "Worktree", scratch: str, told: "Told", *,
    reading: "Reading | None", carried: "Carried | None",
) -> Furnished:  # fmt: skip
    """Everything in its order: which files, the files, the work that goes along, ignored files, settings of agent
    programs, the set-up."""
    git = ground.git.elsewhere(record.path)
    source = seeding.source_of(site.repository)
    if carried is not None:
        carrying.require_fits(git, carried, record.tip)
    wanted = _wanted(site, ground, record, told)
    files = [path for path, _ in wanted.files] if wanted is not None else []
    is_sparse = git.line("config", "--type=bool", "--get", "core.sparseCheckout") == "true"
    if given.flag("sparse") and reading is not None:
        is_sparse = True
        sparse.apply(git, Footprint.of(reading.include, reading.exclude), site.fold, files)
    elif source is not None and sparse.inherit(git.elsewhere(source), git):
        is_sparse = True
    told.add(*check_out(ground, record.path, record.tip).warnings)
    ground.heed()
    if carried is not None:
        carrying.apply(carried, git)
        told.add(*(f"'{visible(path)}' stayed behind: {why}" for path, why in carried.left_behind))
    seeded = None
    is_whole = True
    if source is not None:
        done = seeding.seed(git, source, record.path, record.tip, ground.wants_to_stop)
        told.add(*map(visible, done.warnings))
        seeded, is_whole = (done.copied if done.wanted else None), done.is_whole
    told.add(*map(visible, equip(ground.git, ground.repository.common_dir, ground.layout, record.path)[1]))
    ground.heed()
    setup = "partial"
    if wanted is not None:
        changed = sorted(set(files).intersection(carried.paths if carried is not None else ()))
        setup = _set_up(site, ground, record, wanted, scratch, told, changed)
    ground.heed()
    if setup in ("none", "ok") and not is_whole:
        setup = "partial"
    count = len(carried.paths) if carried is not None else None
    return Furnished(setup, sparse=is_sparse, seeded=seeded, carried=count)


def _wanted(site: "Site", ground: "Ground", record: "Worktree", told: "Told") -> "Setup | None":
    try:
        return setup_at(site, TrustBook(ground.layout), record.tip)
    except GitlockError as error:
        told.add(f"the set-up commands could not be read, so none ran: {visible(error.message)}")
        return None


def _set_up(
    site: "Site", ground: "Ground", record: "Worktree", setup: "Setup", scratch: str, told: "Told", changed: list[str]
) -> str:
    """Runs the commands, if they are trusted and ``changed`` is empty: the files they name that are not as trusted."""
    if not setup.commands:
        return "none"
    if not setup.trusted:
        warning, next_step = untrusted_warning(setup, record.tip)
        told.add(warning)
        told.hints.append(next_step)
        return "untrusted"
    if changed:
        named = visible(changed[0])
        told.add(f"the set-up commands did not run: '{named}', which they name, is changed and not committed")
        return "untrusted"
    environ = environ_of(site.environ, record, scratch)
    done = run_setup(setup.commands, record.path, environ, deadline=ground.deadline, stop=ground.wants_to_stop)
    if done.why == STOPPED and ground.stop.number is not None:
        raise Interrupted(ground.stop.number)
    if done.is_fine:
        return "ok"
    told.add(_what_failed(done, ground.deadline))
    return "failed"


def _what_failed(done: SetUp, deadline: float) -> str:
    command = f"the set-up command '{visible(done.command or '')}' of {MAP_FILE}"
    if done.why == LATE:
        return f"{command} was not done within {deadline:g} s, and was stopped; the worktree is there"
    if done.code is None:
        return f"{command} could not be started; the worktree is there"
    how = f"signal {-done.code} ended it" if done.code < 0 else f"it ended with {done.code}"
    return f"{command} failed ({how}); the worktree is there"
