"""Names that belong to one input."""

from collections.abc import Mapping
from typing import Any


def input_of(name: Any) -> Any:
    """Return the input that a name belongs to: the text before "=", if there is one.

    >>> input_of("sky=clear"), input_of("wind"), input_of(7)
    ('sky', 'wind', 7)
    """
    return name.partition("=")[0] if isinstance(name, str) else name


def by_input(x: Mapping[Any, float]) -> dict[Any, dict[Any, float]]:
    """Return the entries of x, grouped by the input that they belong to.

    >>> by_input({"sky=clear": 1.0, "wind": 3.0, "sky=dark": 0.0})
    {'sky': {'sky=clear': 1.0, 'sky=dark': 0.0}, 'wind': {'wind': 3.0}}
    """
    groups: dict[Any, dict[Any, float]] = {}
    for name, value in x.items():
        groups.setdefault(input_of(name), {})[name] = value
    return groups
