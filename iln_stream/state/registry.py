"""Classes by the names under which states store them."""

from collections.abc import Iterator, Mapping

from iln_stream.errors import StateError

_PACKAGE = __name__.partition(".")[0]


class Registry(Mapping[str, type]):
    """Classes by qualified names that stay the same when a class moves to another module.

    A class of this package is `iln_stream.NAME`, whatever module it is in. Any other class is
    `its.module.NAME`, or has the name that was given with it.

    Release 0.1.0 stored the last part of the name only. Such a bare name is understood as that of a
    class of this package, else as that of the only other class that ends in it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from iln_stream.state import Registry
    >>> registry = Registry()
    >>> registry.add(Fraction)
    >>> registry.name_of(Fraction), registry["fractions.Fraction"], registry["Fraction"]
    ('fractions.Fraction', <class 'fractions.Fraction'>, <class 'fractions.Fraction'>)

    """

    def __init__(self) -> None:
        self._classes: dict[str, type] = {}

    def add(self, cls: type, name: str | None = None) -> None:
        """Register a class; one of the same name and module replaces its earlier definition.

        Raises
        ------
        TypeError
            When a class of another module has the name.

        """
        name = qualified_name(cls) if name is None else name
        other = self._classes.setdefault(name, cls)
        if other.__module__ != cls.__module__:
            raise TypeError(
                f"{name} is already the name of a class of {other.__module__}: choose another one, "
                "restorable(name=...)"
            )
        self._classes[name] = cls

    def name_of(self, cls: type) -> str | None:
        """Return a class's name; None if it is not registered, even if its base is."""
        return next((name for name, known in self._classes.items() if known is cls), None)

    def __getitem__(self, name: str) -> type:
        if name in self._classes:
            return self._classes[name]
        same = [known for known in self._classes if bare_name(known) == name]
        ours = [known for known in same if known == f"{_PACKAGE}.{name}"]
        if len(ours or same) > 1:
            raise StateError(
                f"the state names a class only {name}, as release 0.1.0 did, and several are "
                f"registered: {', '.join(same)}; import only the one that is meant"
            )
        if not same:
            raise KeyError(name)
        return self._classes[(ours or same)[0]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


def qualified_name(cls: type) -> str:
    """Return the name under which a class is stored unless another one is given."""
    if cls.__module__.partition(".")[0] == _PACKAGE:
        return f"{_PACKAGE}.{cls.__name__}"
    return f"{cls.__module__}.{cls.__qualname__}"


def bare_name(name: str) -> str:
    """Return the last part of a qualified name."""
    return name.rpartition(".")[2]
