"""What a store holds after the power came back, as JSON, and whether it goes on: ``power_reader.py FOLDER``."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gitlock.stores.clock import SystemClock
from gitlock.stores.files.store import FileStore
from tests.kit.agents import Worker


def main(folder: str) -> None:
    """Reads, then takes one more."""
    store = FileStore(folder, SystemClock().now)
    held = {lease.title: lease.fence for lease in store.read().leases.all()}
    empty = [path.name for path in Path(folder).iterdir() if path.name == "state.json" and not path.stat().st_size]
    after = Worker(store, "reader").takes("after-the-cut")
    sys.stdout.write(json.dumps({"held": held, "next": after.fence, "empty": empty}))


if __name__ == "__main__":
    main(sys.argv[1])
