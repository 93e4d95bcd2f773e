"""The bytes of a key's state."""

import struct

import numpy as np
import pytest

from iln_stream.errors import StateError
from iln_stream.learners.keyed import key_state_from_bytes, key_state_to_bytes, new_row
from iln_stream.learners.keyed.store import key_states_to_bytes


@pytest.mark.parametrize("slopes", [0, 1, 5, 12, 60])
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


def test_a_key_takes_less_than_a_kilobyte():
    """The size that docs/keys.md states, at the default number of slopes."""
    assert len(key_state_to_bytes(new_row() + 1.0)) == 968


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-1], "cut off"),
        (lambda data: data + b"\0", "longer"),
        (lambda data: b"x" + data[1:], "not the state of a key"),
        (lambda data: data[:5], "not the state of a key"),
        (lambda data: data[:4] + b"\x09" + data[5:], "version 9"),
        (lambda data: data[:6] + b"\xff\xff" + data[8:], "cut off"),
    ],
)
def test_other_bytes_are_refused(damage, message):
    """What is no key's state is an error that says so."""
    with pytest.raises(StateError, match=message):
        key_state_from_bytes(damage(key_state_to_bytes(new_row() + 1.0)))
