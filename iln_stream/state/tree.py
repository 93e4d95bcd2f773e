"""The form in which learners tell their state."""

from typing import Any, TypeAlias

Tree: TypeAlias = dict[str, Any]
"""Names with values: None, bool, int, float, str, a numpy array or scalar of numbers, a list of
values, or a Tree again. `pack` refuses anything else."""
