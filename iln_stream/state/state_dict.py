"""The type of a state."""

from typing import Any, TypeAlias

StateDict: TypeAlias = dict[str, Any]
"""Names with values: None, bool, int, float, str, a numpy array or scalar of numbers, a list of
values, or another StateDict. `pack` rejects anything else."""
