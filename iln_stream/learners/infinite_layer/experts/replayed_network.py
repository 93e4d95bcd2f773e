"""Networks whose units move, trained on each event and on past ones."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import replayed_network as kernels
from iln_stream.compiled.adam import LONG, SHORT, WEIGHTS
from iln_stream.compiled.network_layout import (
    STEPS,
    Network,
    Shape,
    begin,
    n_fixed,
    n_of_column,
    n_scratch,
)
from iln_stream.compiled.replay_ring import N_LAGS
from iln_stream.learners.infinite_layer.experts.replay_ring import ReplayRing
from iln_stream.learners.infinite_layer.part import Part

PREDICTIONS = {"": WEIGHTS, "-short": SHORT, "-long": LONG}
"""How a network can predict, by the end of the prediction's name."""


class ReplayedNetwork(Part):
    """A network of two hidden layers and a linear skip, trained by one step of AdamW an event.

    A step's batch is the event and fifteen draws from a ring. The network predicts by its weights,
    or by their averages over a shorter and a longer past, or by several of these. Weights are drawn
    when the first columns come, or by `begin`; a column that comes later starts with weights 0.

    Parameters
    ----------
    shape
        Sizes and pace.
    ring
        The events, also those of other networks.
    key
        Seeds the weights and the draws: those of an event are a function of the key and its number.
    ends
        How it predicts: keys of `PREDICTIONS`.

    """

    kept = ("parameters", "record", "key")

    def __init__(
        self, shape: Shape, ring: ReplayRing, key: int, ends: tuple[str, ...] = tuple(PREDICTIONS)
    ) -> None:
        self.shape = shape
        self.ends = ends
        self._rows = np.array([PREDICTIONS[end] for end in ends])
        self._ring = ring
        self.key = np.array([key], np.uint64)
        S = n_fixed(shape) + ring.n_columns * n_of_column(shape)
        self.parameters = np.zeros((5, S), np.float32)
        self.record = np.zeros(1)
        self._make_scratch()

    def _make_scratch(self) -> None:
        S = self.parameters.shape[1]
        L = (S - n_fixed(self.shape)) // n_of_column(self.shape)
        self._network = Network(self.parameters, self.record, self.key)
        self._scratch = np.zeros(n_scratch(self.shape, L), np.float32)
        # numba recognises plain tuples faster than named ones.
        self._plain = tuple(self.shape), tuple(self._network)

    @property
    def steps(self) -> int:
        """Steps taken since the weights were drawn."""
        return int(self.record[STEPS])

    def reinitialise(self, broken: Collection[str]) -> None:
        """Draw new weights."""
        self.begin()

    def begin(self) -> None:
        """Draw new weights and forget what was learned; the ring's events stay."""
        begin(self.shape, self._network, self._ring.n)

    def widen(self, n_columns: int) -> None:
        """Append columns of inputs; the ring gets them first."""
        more = n_columns * n_of_column(self.shape)
        self.parameters = np.pad(self.parameters, [(0, 0), (0, more)])
        self._make_scratch()
        if self.record[STEPS] == 0.0:  # false for nan, which heals later
            self.begin()

    def predict(self, p: NDArray[np.float64]) -> None:
        """Write the predictions at the ring's inputs into p (n,), as scaled targets."""
        ring = self._ring
        kernels.predict(*self._plain, self._rows, ring.encoding, ring.inputs, self._scratch, p)

    def learn(self, target: NDArray[np.float64]) -> None:
        """Take one step on the ring's newest event and on draws; `target` (47, 1) is its scale."""
        kernels.learn(*self._plain, self._ring.ring, self._ring.encoding, target, self._scratch)

    def sensitivity(self) -> NDArray[np.float64]:
        """Return the mean squared slope along each input's deviations, (d,), over recent events."""
        ring = self._ring
        squares = np.zeros(ring.n_columns)
        kernels.sensitivity(*self._plain, ring.ring, ring.encoding, self._scratch, squares)
        return squares[N_LAGS:]

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        self._make_scratch()
