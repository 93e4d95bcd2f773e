"""Online standardisation of the inputs that outliers can't carry off."""

from collections.abc import Mapping
from typing import Any

from river import base

from iln_stream.learners.moments import Moments


class WinsorisedScaler(base.Transformer):
    """Standardises each input by its running mean and deviation, and clips to +-`clip`.

    Unlike with River's `StandardScaler`, a single 1e308 in a varying input does no lasting harm:
    from the 30th value on, one enters the statistics no further than 6 deviations out. The
    statistics used for an event include that event's own inputs (not its label), in prediction
    and in learning alike, so a learner behind this scaler sees the same x both times. (That is why
    it calls itself supervised, though it never looks at y: a River pipeline transforms before it
    lets a supervised step learn.)

    Parameters
    ----------
    clip
        Largest absolute value of a scaled input, in standard deviations.

    Examples
    --------
    >>> from iln_stream import WinsorisedScaler

    >>> scaler = WinsorisedScaler()
    >>> for a in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0]:
    ...     scaler.learn_one({"a": a})
    >>> scaler.transform_one({"a": 9.0})
    {'a': 2.0}

    """

    def __init__(self, clip: float = 5.0) -> None:
        if not clip > 0:
            raise ValueError(f"clip = {clip!r} must be a positive number of standard deviations")
        self.clip = clip
        self._moments: dict[Any, Moments] = {}

    @property
    def _supervised(self) -> bool:
        return True

    def learn_one(self, x: Mapping[Any, float], y: object = None) -> None:
        """Let the inputs of x join the statistics; y is not looked at."""
        for name, value in x.items():
            self._moments[name] = self._with(name, value)

    def transform_one(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the scaled inputs; a constant input becomes 0."""
        scaled = {}
        for name, value in x.items():
            moments = self._with(name, value)
            sd = moments.sd
            z = (value - moments.mean) / sd if sd > 0.0 else 0.0
            scaled[name] = max(-self.clip, min(z, self.clip))
        return scaled

    def _with(self, name: Any, value: float) -> Moments:
        return self._moments.get(name, _NOTHING_SEEN).updated(float(value))


_NOTHING_SEEN = Moments()
