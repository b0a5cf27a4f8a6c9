"""The base of our values: small slotted objects that compare by what they hold.

Neither ``dataclasses`` nor ``typing.NamedTuple`` is used: importing either costs more than everything that a commit
hook does (see docs/performance.md). Values are immutable by habit, not by force: nobody assigns to one after it
was made; ``replace`` makes a changed copy.
"""

TYPE_CHECKING = False  # what type checkers read as true; importing it from typing would cost the hook dear
if TYPE_CHECKING:
    from typing import Self


class Value:
    """Equality, hash, repr and ``replace`` over the slots of one class (values do not inherit from one another)."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.__slots__))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"

    def replace(self, **changes: object) -> "Self":
        """A copy with some fields changed; an unknown field is a TypeError."""
        copy = object.__new__(type(self))
        for name in self.__slots__:
            setattr(copy, name, changes.pop(name) if name in changes else getattr(self, name))
        if changes:
            raise TypeError(f"{type(self).__name__} has no field {sorted(changes)[0]!r}")
        return copy
