"""The key of a learner's counter-based randomness."""

import numpy as np
from numpy.typing import NDArray


def random_key(seed: int | None) -> NDArray[np.uint64]:
    """Return the two words that seed all draws of a learner; None: from the system's entropy."""
    return np.random.SeedSequence(seed).generate_state(2, np.uint64).astype(np.uint64)
