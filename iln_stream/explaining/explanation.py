"""The result of an explanation."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Explanation:
    """What each input contributes to a prediction.

    Parameters
    ----------
    prediction
        The prediction that is explained: a target, or the probability of a class.
    baseline
        The mean prediction over the background.
    contributions
        By input, in the units of the prediction; they sum to `prediction - baseline`, to within
        rounding. Inputs are those of x, and then those that only the background has. Names with the
        same text before "=" are one input, by that text.

    """

    prediction: float
    baseline: float
    contributions: dict[Any, float]

    def largest(self, n: int) -> dict[Any, float]:
        """Return the n contributions with the largest absolute values, the largest first.

        >>> Explanation(5.0, 1.0, {"a": 1.0, "b": -2.0, "c": 5.0}).largest(2)
        {'c': 5.0, 'b': -2.0}
        """
        ordered = sorted(self.contributions.items(), key=lambda item: -abs(item[1]))
        return dict(ordered[:n])
