"""Repairing a store that can't be read: explicit, keeps the evidence, and begins a new epoch."""

import os
import time

from gitlock.domain.lease import EPOCH_STEP
from gitlock.errors import StoreError, StoreTooNew
from gitlock.stores.files.atomic import replace_file
from gitlock.stores.files.guard import Guard
from gitlock.stores.files.layout import Layout, read_whole
from gitlock.stores.files.mark import Mark, read_mark, write_mark
from gitlock.stores.files.state import SIZE_LIMIT, State, format_state, fresh, parse_state
from gitlock.stores.files.table import EndedLines, LineTable

GUARD_TIMEOUT = 5.0  # seconds


def diagnose(layout: Layout) -> StoreError | None:
    """What is wrong with every single record, not only with what a question needs; None where all is well."""
    try:
        if not layout.check():
            return None
        data = read_whole(layout.state, SIZE_LIMIT)
        if data is not None:
            state = parse_state(data, layout.state)
            LineTable(state.sections["leases"], layout.state).all()
            EndedLines(state.sections["ended"], layout.state).all()
    except StoreError as error:
        return error
    return None


def repair(layout: Layout) -> tuple[str | None, int]:
    """Puts the broken state aside and begins a new epoch above every fence that can be seen.

    Answers where the evidence is kept (None where there was none) and the new epoch. What was held is not guessed
    from a broken document: its holders must claim again. ``StoreTooNew`` is not repaired: it is not broken.
    """
    layout.make()
    with Guard(layout.guard, GUARD_TIMEOUT, layout.file_mode):
        fault = diagnose(layout)
        if isinstance(fault, StoreTooNew):
            raise fault
        evidence = _put_aside(layout)
        mark = read_mark(layout.mark)
        epoch, counter = (mark.epoch, mark.counter) if mark is not None else (1, 0)
        seen = _seen_in(evidence)
        epoch, counter = max(epoch, seen[0]), max(counter, seen[1])
        if mark is None and evidence is not None and seen == (0, 0):
            # Nothing tells how far the fences went: start above what any clock could have counted to by now.
            epoch = 1 + int(time.time()) // 3600
        state = _begun(mark.store if mark is not None else os.urandom(8).hex(), epoch + 1, counter,
                       (mark.revision if mark is not None else 0) + 1)  # fmt: skip
        replace_file(layout.state, format_state(state), layout.file_mode)
        write_mark(layout.mark, Mark(state.store, state.epoch, state.counter, state.revision), layout.file_mode)
    return evidence, state.epoch


def _begun(store: str, epoch: int, counter: int, revision: int) -> State:
    day = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    notice = (
        f"the lease store was repaired and a new epoch began at {day}: leases of before are not known any more; "
        "claim again what you work on"
    )
    return fresh(store, epoch, min(counter, EPOCH_STEP * EPOCH_STEP - 1), revision, notice)


def _put_aside(layout: Layout) -> str | None:
    if not os.path.lexists(layout.state):
        return None
    os.makedirs(layout.evidence, mode=layout.folder_mode, exist_ok=True)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    for number in range(1000):
        path = os.path.join(layout.evidence, f"state-{stamp}-{number}.json")
        if not os.path.lexists(path):
            os.rename(layout.state, path)
            return path
    raise StoreError(f"'{layout.evidence}' is full of evidence: move it away")


def _seen_in(evidence: str | None) -> tuple[int, int]:
    """The highest epoch and fence that a broken document still shows, read as text."""
    if evidence is None:
        return (0, 0)
    try:
        data = read_whole(evidence, SIZE_LIMIT) or b""
    except StoreError:
        return (0, 0)
    return _highest(data, b'"epoch":'), max(_highest(data, b'"counter":'), _highest(data, b'"fence":'))


def _highest(data: bytes, name: bytes) -> int:
    best, at = 0, data.find(name)
    while at >= 0:
        digits = data[at + len(name) : at + len(name) + 18].lstrip()
        end = 0
        while end < len(digits) and digits[end : end + 1].isdigit():
            end += 1
        if end:
            best = max(best, int(digits[:end]))
        at = data.find(name, at + 1)
    return best
