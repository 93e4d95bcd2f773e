"""Online standardisation of the inputs, robust to outliers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.learners.checks import require_max_columns
from iln_stream.learners.metrics import columns_metrics
from iln_stream.learners.preprocessing.columns import warn_of_overflow
from iln_stream.learners.preprocessing.moments import LARGEST_VALUE, Moments
from iln_stream.learners.restoring import RestorableLearner, restorable
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict, decode_name, encode_name

FIRST_ROOM = 16
"""Names for which there is room at first; then the room doubles."""


@restorable
class WinsorisedScaler(RestorableLearner, base.Transformer):
    """Standardises each input by its running mean and deviation, and clips to +-`clip`.

    Unlike with River's `StandardScaler`, a single 1e308 in a varying input does no lasting harm:
    the first 30 values enter the statistics clipped around their median, and each later value
    clipped to 6 deviations. After a lasting change of an input's level or scale, its statistics
    start again from the new values. The statistics used for an event include that event's own
    inputs (not its label), both in prediction and in learning, so a learner behind this scaler sees
    the same x both times. (It therefore declares itself supervised, though it ignores y: a River
    pipeline transforms an event before a supervised step learns it.)

    Parameters
    ----------
    clip
        Largest absolute value of a scaled input, in standard deviations.
    max_columns
        The most names with statistics; the inputs of later names are left out and counted in
        `n_overflowed`.

    Examples
    --------
    >>> from iln_stream import WinsorisedScaler

    >>> scaler = WinsorisedScaler()
    >>> for a in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0]:
    ...     scaler.learn_one({"a": a})
    >>> scaler.transform_one({"a": 9.0})
    {'a': 2.0}

    """

    state_version = 3
    always_finite = True

    def __init__(self, clip: float = 5.0, max_columns: int = 10_000) -> None:
        super().__init__()
        if not clip > 0:
            raise ValueError(f"clip = {clip!r} must be a positive number of standard deviations")
        require_max_columns(max_columns)
        self.clip = clip
        self.max_columns = max_columns
        self._place: dict[Any, int] = {}  # of each name's statistics
        # Imported here, so that `import iln_stream` does not wait for numba.
        from iln_stream.kernels.columns import no_statistics

        self._stats = no_statistics(0)  # (47, d), with room for more names
        self._n_overflowed = 0

    def moments(self, name: Any) -> Moments:
        """Return the statistics of an input so far; empty ones for an input never seen."""
        with self._turn:
            j = self._place.get(name)
            return Moments() if j is None else Moments(self._stats[:, j : j + 1].copy())

    @property
    def n_overflowed(self) -> int:
        """Number of inputs of learned events left out because `max_columns` names were known."""
        return self._n_overflowed

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the metric of the inputs left out."""
        return columns_metrics(self)

    @property
    def _supervised(self) -> bool:
        return True

    def learn_one(self, x: Mapping[Any, float], y: object = None) -> None:
        """Add the inputs of x to the statistics; y is ignored, and so are inputs that are nan."""
        from iln_stream.kernels.columns import join_values

        with self._turn:
            admitted = self._admitted(x)
            if len(admitted) < len(x):
                known = set(admitted)
                left_out = [name for name in x if name not in known]
                self._n_overflowed += len(left_out)
                if self._n_overflowed == len(left_out):
                    warn_of_overflow(left_out[0], self.max_columns)
            for name in admitted:
                if name not in self._place:
                    self._add(name)
            values, columns = self._values(x, admitted)
            join_values(values, columns, self._stats)

    def transform_one(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the scaled inputs; a constant input becomes 0, and nan stays nan."""
        from iln_stream.kernels.columns import deviations_with

        with self._turn:
            scaled = dict.fromkeys(self._admitted(x), 0.0)
            known = [name for name in scaled if name in self._place]
            values, columns = self._values(x, known)
            z = np.empty(len(values))
            deviations_with(values, columns, self._stats, z)
        scaled.update(zip(known, np.clip(z, -self.clip, self.clip).tolist(), strict=True))
        return scaled

    def _values(
        self, x: Mapping[Any, float], names: Collection[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        values = np.array([x[name] for name in names], np.float64)
        columns = np.array([self._place[name] for name in names], np.int64)
        return np.clip(values, -LARGEST_VALUE, LARGEST_VALUE), columns

    def _add(self, name: Any) -> None:
        d, room = len(self._place), self._stats.shape[1]
        if d == room:
            from iln_stream.kernels.columns import no_statistics

            more = no_statistics(max(d, FIRST_ROOM))
            self._stats = np.concatenate([self._stats, more], axis=1)
        self._place[name] = d

    def state(self) -> StateDict:
        """Return the statistics of all names, in arrays."""
        with self._turn:
            names = list(self._place)
            statistics = self._stats[:, : len(names)].copy()
            n_overflowed = self._n_overflowed
        return self._write_state(
            n_overflowed=n_overflowed,
            names=[encode_name(name) for name in names],
            statistics=statistics,
        )

    def restore(self, state: StateDict) -> None:
        n_overflowed, names, statistics = self._read_state(
            state, "n_overflowed", "names", "statistics"
        )
        with self._turn:
            self._n_overflowed = n_overflowed
            self._place = {decode_name(text): i for i, text in enumerate(names)}
            self._stats = statistics.copy()

    def _admitted(self, x: Mapping[Any, float]) -> Collection[Any]:
        """The names of x that have statistics, or will once x is learned."""
        if x.keys() <= self._place.keys():
            return x
        # By type first: names of different types have no order among themselves.
        fresh = sorted(x.keys() - self._place.keys(), key=lambda name: (type(name).__name__, name))
        refused = set(fresh[self.max_columns - len(self._place) :])
        return [name for name in x if name not in refused]
