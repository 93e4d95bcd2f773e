"""Training a ridge expert on stored events."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.hidden_units import features
from iln_stream.compiled.jit import compiled
from iln_stream.compiled.recursive_ridge import dot, learn
from iln_stream.compiled.regression_event import StoredEvents
from iln_stream.compiled.standardise import standardise_again
from iln_stream.compiled.target import FENCE, scaled
from iln_stream.compiled.wide import widest_vectors


class Frame(NamedTuple):
    """The statistics by which stored events are standardised when they are replayed.

    Parameters
    ----------
    stats
        Of the inputs, (5, d).
    scale
        Center and unit of the target, (2,).

    """

    stats: NDArray[Any]
    scale: NDArray[Any]


@compiled
def describe_stored(stored, i, frame, v):  # type: ignore[no-untyped-def]
    """v = [lags, z]: the event in slot i and the targets before it, by the frame's statistics."""
    n_lags = stored.lags.shape[1]
    center, unit = frame.scale
    for j in range(n_lags):
        v[j] = 3.0 * scaled(stored.lags[i, j], center, unit)
    standardise_again(stored.columns[:, i], frame.stats, v[n_lags:])


@compiled
def replay(memory, first, last, scales, new, activation, linear, forgetting, ridge, huber):  # type: ignore[no-untyped-def]
    """Train a candidate expert on events first..last - 1; return its weighted sum of |errors|.

    `memory` is a `StoredEvents`, `scales` a `Frame`, `new` an `RLSState`, whose arrays change.
    """
    stored, frame = StoredEvents(*memory), Frame(*scales)
    widest_vectors()
    size, R = stored.y.shape[0], new.b.shape[0]
    center, unit = frame.scale
    v, u = np.empty(new.omega.shape[0]), np.empty(R, np.float32)
    phi, k = np.zeros(new.theta.shape[0]), np.empty(new.theta.shape[0])
    lost = 0.0
    for i in range(first, last):
        describe_stored(stored, i % size, frame, v)
        features(new.omega, new.b, activation, linear, v, u, phi)
        t = scaled(stored.y[i % size], center, unit)
        p = min(max(dot(new.theta, phi), -FENCE), FENCE)
        w = stored.weights[i % size]
        lost += w * abs(t - p)
        learn(new.P, new.pending, new.theta, new.record, phi, k, t, p, w, forgetting, ridge, huber)
    return lost
