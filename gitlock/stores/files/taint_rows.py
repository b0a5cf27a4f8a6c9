"""Marks of failed commands as lines of the state document (section ``taints``). Loaded only where there are any."""

from gitlock import jsontext
from gitlock.domain.taint import Taint
from gitlock.errors import StoreCorrupt
from gitlock.stores.codec import Fields

LIMIT = 200  # marks at most; the oldest are forgotten first


def read_taints(rows: list[bytes], where: str) -> tuple[Taint, ...]:
    """Every mark; ``StoreCorrupt`` for a row that is none."""
    found = []
    for number, row in enumerate(rows):
        place = f"{where}, taint {number + 1}"
        try:
            read = Fields(jsontext.loads(row.decode("utf-8")), place)
        except ValueError as error:
            raise StoreCorrupt(f"{place}: {error}") from None
        found.append(
            Taint(
                id=read.text("id"),
                agent=read.text("agent"),
                keys=read.texts("keys"),
                include=read.texts("include"),
                exclude=read.texts("exclude"),
                command=read.text("command"),
                code=read.whole_or_none("code"),
                why=read.text("why"),
                at=read.number("at"),
            )
        )
    return tuple(found)


def edited_taints(before: tuple[Taint, ...], added: tuple[Taint, ...], removed: tuple[str, ...]) -> list[bytes]:
    """The rows after an edit."""
    kept = [one for one in before if one.id not in removed]
    names = Taint.__slots__
    return [
        jsontext.dumps({name: getattr(one, name) for name in names}).encode() for one in [*kept, *added][-LIMIT:]
    ]
