"""Checks of labels and inputs."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from iln_stream.learners.validation import not_a_number


def sign_of(y: Any) -> float:
    """Return +1 for True (or 1) and -1 for False (or 0).

    Raises
    ------
    ValueError
        For any other label, such as -1, which would count as true.

    """
    if y in (0, 1):
        return 1.0 if y else -1.0
    raise ValueError(
        f"y is {y!r}: this learner knows the two classes False and True (or 0 and 1); wrap it in "
        "river.multiclass.OneVsRestClassifier for more"
    )


def require_finite(x: Mapping[Any, float]) -> None:
    """Reject inputs that are not finite numbers."""
    for name, value in x.items():
        try:
            finite = isfinite(value)
        except TypeError as error:
            raise not_a_number(name, value) from error
        if not finite:
            raise not_a_number(name, value)
