"""A network whose units move, with the logits of classes as its outputs."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import class_network as kernels
from iln_stream.compiled.adam import SQUARES
from iln_stream.compiled.network_layout import Shape, n_fixed, n_of_column, weights_of
from iln_stream.compiled.replayed_network import Pace
from iln_stream.learners.infinite_layer.experts.replay_ring import ReplayRing
from iln_stream.learners.infinite_layer.experts.replayed_network import ReplayedNetwork

N_PREDICTIONS = 2


class ClassNetwork(ReplayedNetwork):
    """A `ReplayedNetwork` for the log loss: one logit for two classes, otherwise one for each.

    It predicts by two averages of its weights. The logits start at 0, so that the first predictions
    are the classes' frequencies; so does the logit of a class that comes later.

    Parameters
    ----------
    shape
        Sizes and pace.
    pace
        How it forgets.
    ring
        The events, also those of other networks; targets are the classes' indices.
    key
        Seeds the weights and the draws.

    """

    def __init__(self, shape: Shape, pace: Pace, ring: ReplayRing, key: int) -> None:
        super().__init__(shape, ring, key)
        self._pace = tuple(pace)

    def add_class(self, n_classes: int) -> None:
        """Make room for one more class; now there are `n_classes`."""
        if n_classes > 2:
            shape = self.shape._replace(outputs=n_classes)
            self.parameters = _with_more_outputs(self.parameters, self.shape, shape)
            self.shape = shape
            self._make_scratch()

    def predict_classes(self, offsets: NDArray[np.float64], p: NDArray[np.float64]) -> None:
        """Write the probabilities at the ring's inputs to p (2, C); offsets (C,) are added."""
        ring = self._ring
        kernels.predict(*self._plain, ring.encoding, ring.inputs, offsets, self._scratch, p)

    def learn_classes(self, offsets: NDArray[np.float64]) -> None:
        """Take one step on the ring's newest event and on draws."""
        ring = self._ring
        kernels.learn(*self._plain, ring.ring, ring.encoding, offsets, self._pace, self._scratch)

    def restore_classes(self, state: Mapping[str, Any], n_classes: int) -> None:
        """Resume from a state that `state` returned when there were `n_classes`."""
        self.shape = self.shape._replace(outputs=n_classes if n_classes > 2 else 1)
        self.restore(state)


def _with_more_outputs(
    parameters: NDArray[np.float32], old: Shape, shape: Shape
) -> NDArray[np.float32]:
    """Return the parameters of a network with further outputs; their weights are 0.

    The one logit w of two classes becomes -w/2 and w/2.
    """
    n1, n3 = old.first, old.outputs
    L = (parameters.shape[1] - n_fixed(old)) // n_of_column(old)
    wide = np.zeros((len(parameters), n_fixed(shape) + L * n_of_column(shape)), np.float32)
    signs = np.ones((1, 1), np.float32) if n3 > 1 else np.array([[-0.5], [0.5]], np.float32)
    for k in range(len(parameters)):
        a, b = weights_of(parameters[k], old), weights_of(wide[k], shape)
        factors = signs**2 if k == SQUARES else signs
        known = len(factors * a.w3)
        b.W2[:], b.b1[:], b.b2[:] = a.W2, a.b1, a.b2
        b.w3[:known] = factors * a.w3
        b.b3[0, :known] = factors[:, 0] * a.b3[0, :n3]
        b.columns[:, :n1] = a.columns[:, :n1]
        b.columns[:, n1 : n1 + known] = a.columns[:, n1 : n1 + n3] * factors.T
        U = old.piecewise * 15
        b.columns[:, b.columns.shape[1] - U :] = a.columns[:, a.columns.shape[1] - U :]
    return wide
