from numba import njit

from iln_stream.compiled.wide import widest_vectors


@njit
def asks(x):
    """Wish for wide vectors."""
    widest_vectors()
    return 2.0 * x


@njit
def does_not_ask(x):
    """Wish for nothing."""
    return 2.0 * x


def test_the_wish_reaches_the_compiler():
    """The function that asks is given the attribute, and no other: without it loops stay narrow."""
    assert asks(3.0) == does_not_ask(3.0) == 6.0
    (wide,), (narrow,) = asks.inspect_llvm().values(), does_not_ask.inspect_llvm().values()
    assert '"prefer-vector-width"="512"' in wide
    assert "prefer-vector-width" not in narrow
