"""Online scaling of inputs and target, by River, for all peers."""

from collections.abc import Callable

from river import base, preprocessing


def scaled(make: Callable[[int], base.Regressor]) -> Callable[[int], base.Regressor]:
    """Return a factory of the regressor behind online z-scores of x and y."""
    return lambda seed: (
        preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(make(seed))
    )


def scaled_inputs(make: Callable[[int], base.Classifier]) -> Callable[[int], base.Classifier]:
    """Return a factory of the classifier behind online z-scores of x."""
    return lambda seed: preprocessing.StandardScaler() | make(seed)
