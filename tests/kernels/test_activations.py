import math

import numpy as np
import pytest

from iln_stream.kernels.activations import CODES, activate

FUNCTIONS = {
    "cos": lambda z: math.cos(2 * math.pi * (z - round(z))),
    "erf": math.erf,
    "tanh": math.tanh,
    "sigmoid": lambda z: 0.5 + 0.5 * math.tanh(z / 2),
    "relu": lambda z: max(z, 0.0),
}


@pytest.mark.parametrize("name", CODES)
def test_equals_the_standard_library(name):
    """To 5e-7, over all that an activation does, and at its limits."""
    z = np.concatenate([np.linspace(-12, 12, 20_001), [0.0, 1e-30, -1e-30, 1e30, -1e30]])
    z = z.astype(np.float32)
    expected = [FUNCTIONS[name](float(v)) for v in z]
    activate(CODES[name], z, len(z))
    np.testing.assert_allclose(z, expected, rtol=1e-6, atol=5e-7)


@pytest.mark.parametrize("name", ["erf", "tanh", "sigmoid"])
def test_infinities_have_their_limits(name):
    """What overflowed single precision saturates the unit."""
    z = np.array([np.inf, -np.inf], np.float32)
    activate(CODES[name], z, 2)
    low = 0.0 if name == "sigmoid" else -1.0
    assert z.tolist() == [1.0, pytest.approx(low, abs=1e-6)]


def test_every_activation_has_a_code():
    """What a ridge family may be, compiled code can evaluate."""
    from typing import get_args

    from iln_stream.features import Activation

    assert set(CODES) == set(get_args(Activation))
