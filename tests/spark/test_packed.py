import numpy as np
import pytest

from iln_stream.errors import StateError
from iln_stream.spark.stored import packed, unpacked
from iln_stream.state import ArrayBlock, to_bytes


def test_any_state_comes_back():
    """Scalars, empty arrays, matrices in Fortran's order, text and infinities keep their form."""
    state = {
        "scalar": np.float64(2.5),
        "empty": np.zeros((0, 3)),
        "matrix": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "text": "ü",
        "inf": float("inf"),
        "list": [1, None, True, {"a": np.arange(3, dtype=np.int32)}],
    }
    again = unpacked(packed(state))
    assert to_bytes(again) == to_bytes(state)
    assert again["matrix"].flags.writeable  # a restored learner updates its arrays in place


@pytest.mark.parametrize("cut", [0, 3, 20, -1])
def test_damaged_bytes_are_refused(cut):
    """Cut bytes are an error that says so, not another state."""
    data = packed({"a": np.arange(4.0)})[:cut]
    with pytest.raises(StateError, match="can't be read"):
        unpacked(data)


def test_blocks_are_stored_elsewhere():
    """A block's values are not among the bytes if it is stored elsewhere."""
    block = ArrayBlock(np.arange(1000.0))
    data = packed({"kept": block}, lambda _: "b1")
    assert len(data) < 200
    assert unpacked(data, {"b1": np.asarray(block)}.__getitem__)["kept"].tolist() == block.tolist()
