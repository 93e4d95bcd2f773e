"""Common base of a learner's parts: a state of plain arrays and numbers."""

import copy
from collections.abc import Mapping
from typing import Any, ClassVar


class Part:
    """A part whose state is that of the attributes named in `kept`, and of the parts in `parts`.

    The state has no version of its own: the version of the learner's class covers all its parts.
    """

    kept: ClassVar[tuple[str, ...]] = ()
    parts: tuple[str, ...] = ()

    def state(self) -> dict[str, Any]:
        """Return copies of the kept attributes, and the states of the parts, by name."""
        kept = {name: copy.deepcopy(getattr(self, name)) for name in self.kept}
        return kept | {name: getattr(self, name).state() for name in self.parts}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned; this part is new, and was made alike."""
        for name in self.kept:
            setattr(self, name, copy.deepcopy(state[name]))
        for name in self.parts:
            getattr(self, name).restore(state[name])
