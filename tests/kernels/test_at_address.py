import numpy as np
import pytest

from iln_stream.kernels.jit import address_of, call_float, call_int, compiled


@compiled
def total(x, factor):
    result = 0.0
    for i in range(x.shape[0]):
        result += x[i]
    return result * factor


@compiled
def size(x):
    return x.shape[0]


@compiled
def totals(X, factor, address, out):
    for i in range(X.shape[0]):
        out[i] = call_float(address, (X[i], factor))


@compiled
def sizes(X, address):
    n = 0
    for i in range(X.shape[0]):
        n += call_int(address, (X[i],))
    return n


@pytest.mark.parametrize("factor", [2.5, 3])
def test_the_function_at_an_address_is_called(factor):
    """With each row and a number of either type; the address is that of the code for its types."""
    X, out = np.random.default_rng(0).normal(size=(20, 7)), np.zeros(20)
    address = address_of(total, X[0], factor)
    totals(X, factor, address, out)
    assert out.tolist() == [total(x, factor) for x in X]
    assert address_of(total, X[1], factor) == address
    assert address_of(total, X[1], 3 if factor == 2.5 else 2.5) != address
    assert sizes(X, address_of(size, X[0])) == 140


def test_other_types_have_other_addresses():
    """Of arrays that are read-only, of another precision or with gaps."""
    x = np.zeros(8)
    fixed = x.copy()
    fixed.flags.writeable = False
    arrays = (x, fixed, x.astype(np.float32), x[::2])
    assert len({address_of(size, each) for each in arrays}) == len(arrays)
