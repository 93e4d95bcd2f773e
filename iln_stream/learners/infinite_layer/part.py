"""Common base of a learner's parts: a state of plain arrays and numbers."""

import copy
from collections.abc import Mapping
from typing import Any, ClassVar


class Part:
    """A part whose state consists of the attributes named in `kept`."""

    kept: ClassVar[tuple[str, ...]]

    def state(self) -> dict[str, Any]:
        """Return copies of the kept attributes: arrays, numbers, and lists and dicts of these."""
        return {name: copy.deepcopy(getattr(self, name)) for name in self.kept}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        for name in self.kept:
            setattr(self, name, copy.deepcopy(state[name]))
