"""Keys, the bytes of their states, and keys in memory."""

import gc
import struct
from collections.abc import Callable

import numpy as np
import pytest

from iln_stream.errors import StateError
from iln_stream.learners.keyed import (
    KeysInMemory,
    key_of,
    key_state_from_bytes,
    key_state_to_bytes,
    new_row,
)
from iln_stream.learners.keyed.store import (
    CHUNK,
    LONGEST_KEY,
    Captured,
    Names,
    Rows,
    key_states_to_bytes,
)


@pytest.mark.parametrize(
    ("x", "key"),
    [
        ({"k": "a", "b": 1.0}, "a"),
        ({"k=a": 1.0, "b": 1.0}, "a"),
        ({"k=": 1.0, "b": 1.0}, ""),
        ({"k=a=b": 1.0, "b": 1.0}, "a=b"),
        ({"k": 17, "b": 1.0}, "17"),
        ({"k": 17.0, "b": 1.0}, "17"),
        ({"k": "17", "b": 1.0}, "17"),
        ({"k": 1.5, "b": 1.0}, "1.5"),
        ({"k": True, "b": 1.0}, "True"),
        ({"k": None, "b": 1.0}, None),
        ({"k": float("nan"), "b": 1.0}, None),
        ({"kk=a": 1.0, "b": 1.0}, None),
        ({"b": 1.0}, None),
    ],
)
def test_the_key_is_taken_out(x, key):
    """The key is a text, whatever form it has, and no input; events may lack it."""
    before = dict(x)
    found, rest = key_of(x, "k")
    assert found == key
    assert rest.pop("b") == 1.0
    assert rest == ({"kk=a": 1.0} if "kk=a" in x else {})
    assert repr(x) == repr(before)


@pytest.mark.parametrize("as_category", [False, True])
def test_a_key_too_long_to_keep_is_an_error(as_category):
    """A document in the place of a key is refused with the remedy: it would stay in memory."""
    key = "é" * (LONGEST_KEY + 1)
    x = {f"k={key}": 1.0} if as_category else {"k": key}
    with pytest.raises(ValueError, match=r"^key k: 1,025 characters, 'éé.*at most 1,024.*hash"):
        key_of(x, "k")


@pytest.mark.parametrize("slopes", [0, 12, 60])
@pytest.mark.parametrize("used", [0, 3, None])
def test_the_bytes_are_the_row(slopes, used):
    """A row comes back to the last bit, whatever is in it; zeros at its end take no room."""
    row = new_row(slopes)
    row[:used] = np.random.default_rng(0).normal(size=len(row[:used]))
    if used:
        row[2] = -0.0
    data = key_state_to_bytes(row)
    again = key_state_from_bytes(data)
    assert again.tobytes() == row.tobytes()
    assert len(data) == 8 + 8 * (len(row) if used is None else used)


def test_several_states_have_the_bytes_of_each():
    """A checkpoint writes each state as it would be written alone: the form that files have had
    since version 1, a head and the numbers up to the last whose bytes are not all 0."""
    rows = np.random.default_rng(0).normal(size=(5, len(new_row())))
    rows[1:, 50:] = 0.0
    rows[2, 70], rows[3] = -0.0, 0.0
    for row, data in zip(rows, key_states_to_bytes(list(rows)), strict=True):
        numbers = row.astype("<f8").tobytes().rstrip(b"\0")
        n = -(-len(numbers) // 8)
        assert data == struct.pack("<4sBBH", b"ilnk", 1, 12, n) + numbers.ljust(8 * n, b"\0")
    assert key_states_to_bytes([]) == []
    assert len(key_state_to_bytes(new_row() + 1.0)) == 968  # about 1 kB, as docs/scaling.md says


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-1], "cut off"),
        (lambda data: data + b"\0", "longer"),
        (lambda data: b"x" + data[1:], "not the state of a key"),
        (lambda data: data[:5], "not the state of a key"),
        (lambda data: data[:4] + b"\x09" + data[5:], "format 9"),
        (lambda data: data[:6] + b"\xff\xff" + data[8:], "cut off"),
    ],
)
def test_other_bytes_are_refused(damage, message):
    """What is no key's state is an error that says so."""
    with pytest.raises(StateError, match=message):
        key_state_from_bytes(damage(key_state_to_bytes(new_row() + 1.0)))


def test_rows_stay_where_they_are():
    """A row is changed in place, also after many other keys have come."""
    keys = KeysInMemory(len(new_row(2)))
    first = keys.to_learn("first")
    for k in range(2 * CHUNK):
        keys.to_learn(str(k))[0] = k
    first[0] = -1.0
    assert keys.get("first")[0] == -1.0
    assert (len(keys), keys.get("77")[0], keys.get("none")) == (2 * CHUNK + 1, 77.0, None)


def test_collections_of_garbage_do_not_visit_names():
    """Of a million keys that would take 40 ms: the chunks in which names lie are not tracked."""
    names = Names()
    for k in range(2 * CHUNK + 5):
        names.append(f"k{k}")
    names[CHUNK] = "other"
    assert (len(names), names[0], names[CHUNK]) == (2 * CHUNK + 5, "k0", "other")
    assert names[2 * CHUNK + 4] == f"k{2 * CHUNK + 4}"
    assert not any(map(gc.is_tracked, names._chunks))


def test_a_sample_is_spread_over_all_keys():
    """Metrics see old keys and new ones, and never more than they ask for."""
    keys = KeysInMemory(len(new_row(0)))
    assert len(keys.sample(10)) == 0
    for k in range(1000):
        keys.to_learn(str(k))[0] = k
    assert np.median(keys.sample(11)[:, 0]) in range(490, 510)
    assert len(keys.sample(11)) == 11
    assert len(keys.sample(5000)) == 1000


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
