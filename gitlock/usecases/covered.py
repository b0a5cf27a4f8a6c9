"""What a claim covers today: how many tracked files, and what a person may have meant instead."""

import os

from gitlock.domain.covering import covering
from gitlock.domain.footprint import Footprint
from gitlock.domain.pattern import Fold, parse_pattern
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Child
    from gitlock.git.repository import Repository
    from gitlock.usecases.reading import Reading


class Covered(Value):
    """``files`` is the number of tracked files covered, None where it can't be told (a bare repository).
    ``folders`` are folders that a wildcard matches without covering what is in them."""

    __slots__ = ("files", "folders")

    def __init__(self, files: int | None, folders: tuple[str, ...] = ()) -> None:
        self.files = files
        self.folders = folders


def start_counting(repository: "Repository", include: tuple[str, ...]) -> "Child | None":
    """Asks git for the tracked files below the literal parts of the patterns; None where there is no index."""
    if repository.top is None or not include:
        return None
    places = []
    for text in include:
        pattern = parse_pattern(text)
        if pattern.literal is not None:
            places.append(pattern.literal)
        else:
            lead = []
            for segment in text.split("/")[:-1]:
                if not segment.replace("_", "a").replace("-", "a").replace(".", "a").isalnum():
                    break
                lead.append(segment)
            places.append("/".join(lead))
    if "" in places:
        places = []
    # :(top,literal) - and icase, since a claim may fold case where git's index does not
    specs = [f":(top,literal,icase){place}" for place in places]
    return repository.git.start("ls-files", "-z", "--cached", "--full-name", "--", *(specs or [":(top)"]))


def finish_counting(child: "Child | None", footprint: Footprint, fold: Fold) -> Covered:
    """Counts those that the footprint really covers."""
    if child is None:
        return Covered(None)
    status, out, _ = child.finish()
    if status:
        return Covered(None)
    paths = dict.fromkeys(os.fsdecode(out).split("\0")[:-1])
    covered = covering([(None, footprint)], len(paths), fold)
    wished = covering([(None, Footprint(footprint.include, ()))], len(paths), fold)  # kept out on purpose: not a word
    count = 0
    folders: dict[str, bool] = {}
    for path in paths:
        if covered(path):
            count += 1
            continue
        if wished(path):
            continue
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders[folder] = bool(covered(folder))
            folder = folder.rpartition("/")[0]
    return Covered(count, tuple(sorted(folder for folder, matched in folders.items() if matched)))


def shell_expanded(reading: "Reading", repository: "Repository") -> str | None:
    """The quoted pattern that a person probably typed without quotes: all arguments are there, and together they are
    just what the shell makes of ``folder/*`` or ``folder/*.ending``. None where it does not look like that."""
    texts = [one.text for one in reading.taken]
    if repository.top is None or len(texts) < 2 or any(one.kind != "path" for one in reading.taken):
        return None
    folders = {os.path.dirname(text) for text in texts}
    if len(folders) != 1:
        return None
    folder = folders.pop()
    try:
        names = os.listdir(os.path.join(repository.top, repository.prefix, folder))
    except OSError:
        return None
    given = {os.path.basename(text) for text in texts}
    seen = {name for name in names if not name.startswith(".")}
    base = folder + "/" if folder else ""
    if given == seen:
        return base + "*"
    endings = {os.path.splitext(name)[1] for name in given}
    if len(endings) == 1:
        ending = endings.pop()
        if ending and given == {name for name in seen if name.endswith(ending)}:
            return f"{base}*{ending}"
    return None
