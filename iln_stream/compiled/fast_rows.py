"""Many events of the fast profile in one call."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.at_address import address_of, call_float, call_int
from iln_stream.compiled.borrowed import borrowed
from iln_stream.compiled.fast_event import (
    EVENT_WEIGHT,
    LEARNED,
    PREDICTIONS,
    learn_event,
    parts_of,
    predict_event,
)
from iln_stream.compiled.jit import compiled


@compiled
def _predict_rows(X, stats, array, units, predict, y_pred):  # type: ignore[no-untyped-def]
    X, stats, array, units = borrowed(X), borrowed(stats), borrowed(array), borrowed(units)
    for i in range(X.shape[0]):
        y_pred[i] = call_float(predict, (X[i], stats, array, units))


@compiled
def _learn_rows(  # type: ignore[no-untyped-def]
    X, y, w, stats, array, units, memory, seed, squared, predict, learn
):
    X, stats, array = borrowed(X), borrowed(stats), borrowed(array)
    units, memory = borrowed(units), borrowed(memory)
    predicted = parts_of(array, units.shape[1] - 1, units.shape[2]).look[PREDICTIONS]
    for i in range(X.shape[0]):
        call_float(predict, (X[i], stats, array, units))
        predicted[EVENT_WEIGHT] = w[i]
        fault = call_int(learn, (X[i], y[i], stats, array, units, memory, seed, squared))
        if fault != LEARNED:
            return i, fault
    return X.shape[0], LEARNED


def predict_rows(X: NDArray[np.float64], *state: Any) -> NDArray[np.float64]:
    """Return the predictions (m,) of `predict_event` for raw rows X (m, d), read-only."""
    y_pred = np.empty(len(X))
    if len(X):
        _predict_rows(X, *state, address_of(predict_event, X[0], *state), y_pred)
    return y_pred


def learn_rows(
    X: NDArray[np.float64], y: NDArray[np.float64], w: NDArray[np.float64], *state: Any
) -> tuple[int, int]:
    """Let `learn_event` learn raw rows X (m, d), read-only, with targets y (m,), until a fault.

    The rows' weights are w (m,); if one is not 1, the memory has room for weights. Returns how many
    rows were passed before the one with the fault, and the result of that.
    """
    if not len(X):
        return 0, LEARNED
    predict = address_of(predict_event, X[0], *state[:3])
    learn = address_of(learn_event, X[0], float(y[0]), *state)
    n, fault = _learn_rows(X, y, w, *state, predict, learn)
    return int(n), int(fault)
