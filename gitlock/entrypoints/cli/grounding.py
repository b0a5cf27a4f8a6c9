"""A site as the ground that worktrees are made on."""

import os

from gitlock.git.process import LOCAL_VARIABLES
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.worktrees import WorktreeBook
from gitlock.usecases.spawning.ground import Ground
from gitlock.usecases.wait import Stop
from gitlock.wiring.liveness import start_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site

DEADLINE = 600.0  # seconds that each slow step may take


def ground_of(site: "Site", stop: Stop | None = None, deadline: float = DEADLINE) -> Ground:
    """Worktrees are a clone's own, also where several clones share a store of leases: so is their book."""
    layout = Layout(site.folder, site.store.layout.shared)
    pid = os.getpid()
    environ = {name: text for name, text in site.environ.items() if name not in LOCAL_VARIABLES}
    environ.pop("GITLOCK_TOKEN", None)
    return Ground(
        repository=site.repository,
        layout=layout,
        book=WorktreeBook(layout),
        store=site.store,
        fold=site.fold,
        facts=site.facts,
        owner=f"{pid}:{start_time(pid) or 0}:{site.here.boot}",
        host=site.here.host,
        environ=environ,
        stop=stop or Stop(),
        deadline=deadline,
        wall=lambda: site.now().wall,
    )
