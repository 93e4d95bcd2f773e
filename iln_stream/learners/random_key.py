"""The key of a learner's counter-based randomness."""

import numpy as np
from numpy.typing import NDArray


def random_key(seed: int | None) -> NDArray[np.uint64]:
    """Return the two words that seed all draws of a learner; None: from the system's entropy.

    Raises
    ------
    ValueError
        When the seed is no whole number of at least 0.

    """
    try:
        sequence = np.random.SeedSequence(seed)
    except (TypeError, ValueError):
        raise ValueError(
            f"seed = {seed!r} must be a whole number of at least 0, or None to draw one"
        ) from None
    return sequence.generate_state(2, np.uint64).astype(np.uint64)
