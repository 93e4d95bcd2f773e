"""The format of one class's state, with its version."""

from dataclasses import dataclass
from typing import Any

from iln_stream.errors import StateError
from iln_stream.state.state_dict import StateDict


@dataclass(frozen=True)
class StateSchema:
    """Writes and reads the states of one class.

    Parameters
    ----------
    name
        The class's name.
    version
        Version of the fields' meaning. Raise it with every change, so that an older state is
        rejected rather than misread.

    Examples
    --------
    >>> from iln_stream.state import StateSchema
    >>> form = StateSchema("Moments", 1)
    >>> form.write(n=2, mean=0.5)
    {'class': 'Moments', 'version': 1, 'n': 2, 'mean': 0.5}
    >>> n, mean = form.read(form.write(n=2, mean=0.5), "n", "mean")

    """

    name: str
    version: int

    def write(self, **fields: Any) -> StateDict:
        """Return a state with these fields."""
        return {"class": self.name, "version": self.version, **fields}

    def read(self, state: StateDict, *names: str) -> tuple[Any, ...]:
        """Return the named fields; the state must have no others.

        Raises
        ------
        StateError
            When the state is of another class or version, or has other fields.

        """
        if not isinstance(state, dict) or state.get("class") != self.name:
            found = state.get("class") if isinstance(state, dict) else state
            raise StateError(f"this is the state of {found!r}, not of {self.name!r}")
        if state.get("version") != self.version:
            raise StateError(
                f"the state of {self.name} has version {state.get('version')!r}, and this release "
                f"of iln_stream reads version {self.version}: use the release that wrote it"
            )
        found = state.keys() - {"class", "version"}
        if found != set(names):
            odd = ", ".join(sorted(found ^ set(names)))
            raise StateError(f"the state of {self.name} has missing or extra fields: {odd}")
        return tuple(state[name] for name in names)
