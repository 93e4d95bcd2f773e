"""Names of packages that are imported on first use, so that nobody loads what they do not need."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any


def imported_on_use(package: str, names: Mapping[str, Iterable[str]], name: str) -> Any:
    """Return what a package's `__getattr__` is asked for.

    `names` has, by module, relative to the package, the names that come from it.

    Raises
    ------
    AttributeError
        If the package has no such name.

    """
    for module, given in names.items():
        if name in given:
            return getattr(import_module(f"{package}.{module}"), name)
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
