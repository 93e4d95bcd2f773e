"""The schema of one class's state: its name, its version, and migrations from older versions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from iln_stream._version import __version__
from iln_stream.errors import StateError
from iln_stream.state.registry import bare_name
from iln_stream.state.state_dict import StateDict

Migration: TypeAlias = Callable[[StateDict], StateDict]
"""From a state of one version to that of the next; it leaves the given state as it is."""


@dataclass(frozen=True)
class StateSchema:
    """Writes and reads the states of one class.

    Parameters
    ----------
    name
        The class's qualified name. A state with only the last part of it is read too, as release
        0.1.0 stored that.
    version
        Version of the fields' meaning. Raise it with every change, so that an older state is
        migrated or rejected rather than misread.
    migrations
        By an older version, the function that makes a state of it one of the version after it. The
        version itself is set by the schema.

    Examples
    --------
    >>> from iln_stream.state import StateSchema
    >>> first = StateSchema("iln_stream.Moments", 1)
    >>> first.write(n=2, sum=1.0)
    {'class': 'iln_stream.Moments', 'version': 1, 'n': 2, 'sum': 1.0}
    >>> def with_mean(state):
    ...     fields = {name: value for name, value in state.items() if name != "sum"}
    ...     return {**fields, "mean": state["sum"] / state["n"]}
    >>> second = StateSchema("iln_stream.Moments", 2, {1: with_mean})
    >>> second.read(first.write(n=2, sum=1.0), "n", "mean")
    (2, 0.5)

    """

    name: str
    version: int
    migrations: Mapping[int, Migration] = field(default_factory=dict)

    def write(self, **fields: Any) -> StateDict:
        """Return a state with these fields."""
        return {"class": self.name, "version": self.version, **fields}

    def read(self, state: StateDict, *names: str) -> tuple[Any, ...]:
        """Return the named fields; the state, once migrated, must have no others.

        Raises
        ------
        StateError
            When the state is of another class, of a version without a migration, or has other
            fields.

        """
        state = self.migrated(state)
        found = state.keys() - {"class", "version"}
        if found != set(names):
            odd = ", ".join(sorted(found ^ set(names)))
            raise StateError(f"the state of {self.name} has missing or extra fields: {odd}")
        return tuple(state[name] for name in names)

    def is_of(self, state: Any) -> bool:
        """Whether this is a state of the class."""
        found = state.get("class") if isinstance(state, dict) else None
        return found in (self.name, bare_name(self.name))

    def migrated(self, state: StateDict) -> StateDict:
        """Return the state in this version.

        Raises
        ------
        StateError
            When the state is of another class, or of a version without a migration.

        """
        found = state.get("class") if isinstance(state, dict) else state
        if found not in (self.name, bare_name(self.name)):
            raise StateError(f"this is the state of {found!r}, not of {self.name!r}")
        version = state.get("version")
        readable = self._readable()
        if version not in readable:
            raise StateError(
                f"the state of {self.name} has version {version!r}, and iln_stream {__version__} "
                f"reads {', '.join(map(str, readable))}: use the release that wrote it"
            )
        for older in range(version, self.version):
            state = {**self.migrations[older](state), "version": older + 1}
        return state

    def _readable(self) -> list[int]:
        """The versions that are read, oldest first."""
        oldest = self.version
        while oldest - 1 in self.migrations:
            oldest -= 1
        return list(range(oldest, self.version + 1))
