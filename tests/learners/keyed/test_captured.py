"""Copies of states by one thread, while another one learns."""

from collections.abc import Callable

import numpy as np
import pytest

from iln_stream.learners.keyed.store import Captured, Names, Rows

MOMENTS = ("its key is read", "its state is read", "its state is copied")


class Interruption:
    """What the other thread does at one of the moments, once."""

    def __init__(self, moment: str, action: Callable[[], None]) -> None:
        self._moment, self._action = moment, action

    def at(self, moment: str) -> None:
        if moment == self._moment:
            self._moment = ""
            self._action()


class InterruptedNames(Names):
    """Keys, at the reading of which the other thread may run."""

    interruption: Interruption

    def __getitem__(self, slot):
        self.interruption.at("its key is read")
        return super().__getitem__(slot)


class InterruptedRows(Rows):
    """States, at the reading and after the copying of which the other thread may run."""

    interruption: Interruption

    def __getitem__(self, slot):
        self.interruption.at("its state is read")
        return InterruptedRow(super().__getitem__(slot), self.interruption)


class InterruptedRow:
    """One of these states."""

    def __init__(self, row, interruption: Interruption) -> None:
        self._row, self._interruption = row, interruption

    def __array__(self, dtype=None, copy=None):
        copied = self._row.copy()
        self._interruption.at("its state is copied")
        return copied


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("leaves", [False, True])
def test_a_key_that_changes_while_it_is_copied(moment, leaves):
    """The learning thread may interrupt the copying of a state anywhere: the checkpoint has each
    state of its time, and no key that came later."""
    rows, names = InterruptedRows(1), InterruptedNames()
    rows.make_room(1)
    states = rows._chunks[0]
    states[:2] = 1.0
    names.append("a")
    names.append("b")
    captured = Captured(rows, names, bytearray([1, 1]), {})

    def learn() -> None:
        captured.save(0)
        if leaves:
            names[0] = "new"
        states[0] = 2.0

    names.interruption = rows.interruption = Interruption(moment, learn)
    found = captured.complete()
    assert states[0, 0] == 2.0
    assert set(found) == {"a", "b"}
    for row in found.values():
        np.testing.assert_array_equal(row, 1.0)
    assert captured.waiting == bytearray(2)
