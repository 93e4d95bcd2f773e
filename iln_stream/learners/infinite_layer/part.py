"""What the learner's parts have in common: a state of plain arrays and numbers."""

import copy
from collections.abc import Mapping
from typing import Any, ClassVar


class Part:
    """Something whose state is the attributes it names in `kept`."""

    kept: ClassVar[tuple[str, ...]]

    def state(self) -> dict[str, Any]:
        """Return copies of what is kept: arrays, numbers, and lists and dicts of these."""
        return {name: copy.deepcopy(getattr(self, name)) for name in self.kept}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state` returned."""
        for name in self.kept:
            setattr(self, name, copy.deepcopy(state[name]))
