"""Arrays of a state that never change."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Block(np.ndarray[Any, np.dtype[Any]]):
    """A read-only copy of an array, which a folder of snapshots stores only once.

    A learner that keeps many past events divides them into blocks, so that a snapshot has to store
    the latest ones only. In a state it may stand wherever an array may; a state that was read from
    bytes has plain arrays.

    Parameters
    ----------
    array
        The values to copy.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.state import Block
    >>> values = np.arange(3)
    >>> block = Block(values)
    >>> values[0] = 7
    >>> block.tolist(), block.flags.writeable
    ([0, 1, 2], False)

    """

    stored_as: tuple[str, int] | None = None
    """Name and size of the file that this process stored it in, so that it is written only once."""

    def __new__(cls, array: NDArray[Any]) -> "Block":
        """Copy the array."""
        block = np.array(array, order="C").view(cls)
        block.flags.writeable = False
        return block

    def __deepcopy__(self, memo: dict[int, Any] | None) -> "Block":
        """Return the block itself: nobody can change it."""
        return self
