import copy

import numpy as np
import pytest

from iln_stream.errors import StateError
from iln_stream.state import ArrayBlock, from_bytes, pack, to_bytes, unpack


def test_nobody_can_change_a_block():
    """It is a copy, read-only, and its copies are itself."""
    values = np.arange(4.0)
    block = ArrayBlock(values)
    values[:] = 0.0
    assert block.tolist() == [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="read-only"):
        block[0] = 1.0
    assert copy.deepcopy({"a": [block]})["a"][0] is block


def test_bytes_hold_blocks_as_other_arrays():
    """Bytes need no folder: a block comes back as a plain array."""
    state = {"a": ArrayBlock(np.arange(3)), "b": [np.zeros(2)]}
    read = from_bytes(to_bytes(state))
    assert type(read["a"]) is np.ndarray
    assert read["a"].tolist() == [0, 1, 2]
    assert to_bytes(read) == to_bytes(state)


def test_blocks_can_be_stored_elsewhere():
    """The JSON has the name that `store` returned, and `load` gets it; without one, it is told."""
    stored = {}

    def store(block):
        stored[f"block {len(stored)}"] = block
        return f"block {len(stored) - 1}"

    state = {
        "a": [ArrayBlock(np.arange(3)), ArrayBlock(np.ones(2))],
        "$block": "no block",
        "b": np.zeros(1),
    }
    arrays, text = pack(state, store)
    assert list(arrays) == ["b"]
    read = unpack(arrays, text, stored.__getitem__)
    assert [array.tolist() for array in read["a"]] == [[0, 1, 2], [1.0, 1.0]]
    assert read["$block"] == "no block"
    with pytest.raises(StateError, match="folder of blocks"):
        unpack(arrays, text)
