"""What a learner computed at the time of a prediction."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Token: TypeAlias = NDArray[np.float64]
"""Numbers (k,), which the loop keeps with the event until its label comes."""


@runtime_checkable
class LearnsLate(Protocol):
    """A learner that can learn a label with what it computed at the time of the prediction.

    Others learn the event's inputs and label when the label comes, as if the event came then.
    """

    def predict_token(self, x: Mapping[Any, float]) -> tuple[Any, Token]:
        """Return the prediction for x, and a token from which its label can be learned."""
        ...

    def learn_token(self, x: Mapping[Any, float], token: Token, y: Any) -> None:
        """Learn that y is the label of x, which was predicted with this token."""
        ...
