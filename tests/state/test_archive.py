"""A state as bytes."""

import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.states import STATES, same

from iln_stream.errors import StateError
from iln_stream.state import from_bytes, pack, to_bytes, write_packed

STATE = {"alpha": np.linspace(-1, 1, 50), "n": 3, "name": "ünï", "json": np.arange(3)}
DATA = to_bytes(STATE)


class Appended:
    """A file that can only be appended to."""

    def __init__(self):
        self.data = b""

    def write(self, data):
        self.data += bytes(data)
        return len(data)

    def flush(self):
        pass


@given(STATES)
def test_states_come_back(state):
    """Any state survives bit for bit, and gives the same bytes again."""
    data = to_bytes(state)
    assert same(from_bytes(data), state)
    assert to_bytes(from_bytes(data)) == data


@given(STATES)
def test_files_that_can_only_be_appended_to(state):
    """What is written without seeking is read like the bytes."""
    file = Appended()
    write_packed(*pack(state), file)
    assert same(from_bytes(file.data), state)


def test_numpy_reads_it():
    """The format is numpy's npz: arrays by their paths, the rest as JSON."""
    with np.load(io.BytesIO(DATA), allow_pickle=False) as file:
        assert file["alpha"].tolist() == STATE["alpha"].tolist()
        assert json.loads(file["json"].tobytes())["n"] == 3


@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize(
    "state",
    [
        pytest.param(STATE, id="small"),
        pytest.param({"zeros": np.zeros(1_000)}, id="large", marks=pytest.mark.long),
    ],
)
def test_a_flipped_bit_does_no_harm(state, bit):
    """Damage to any byte is refused, unless it is in a part of the archive that means nothing to
    us. The header of a large array is read before its checksum."""
    data = to_bytes(state)
    n_refused = 0
    for place in range(min(len(data), 1_262)):
        damaged = bytearray(data)
        damaged[place] ^= 1 << bit
        try:
            assert same(from_bytes(bytes(damaged)), state)
        except StateError:
            n_refused += 1
    assert n_refused > 1_000


@settings(deadline=None, max_examples=100)
@given(st.integers(0, len(DATA) - 1))
def test_a_cut_is_refused(length):
    """Bytes that end too soon raise an error, wherever they end."""
    with pytest.raises(StateError):
        from_bytes(DATA[:length])


@given(st.binary(max_size=100))
def test_other_bytes_are_refused(data):
    """What is no archive raises the same error."""
    with pytest.raises(StateError, match="the state's bytes can't be read"):
        from_bytes(data)


def test_a_pickle_is_not_run():
    """An archive whose array is a pickle is refused."""
    file = io.BytesIO()
    np.savez(file, evil=np.array([print], dtype=object), json=np.frombuffer(b"{}", np.uint8))
    with pytest.raises(StateError, match="allow_pickle=False"):
        from_bytes(file.getvalue())
