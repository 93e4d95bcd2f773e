"""Types of a model's parts."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

Parts = Mapping[str, Any]
"""Arrays, plain values and further parts, by name."""
