import numpy as np
import pytest

from iln_stream.kernels.jit import compiled
from iln_stream.kernels.program import Call, Program, bound, scalar


@compiled
def scale(values, factors, by, on):
    """A pair of numbers from arrays, a nested tuple, a number and a boolean."""
    weights, (offset, (shift, power)) = factors
    total = 0.0
    for i in range(values.shape[0]):
        values[i] *= by if on else 1.0
        total += weights[i, 0] * values[i]
    return total + offset, shift[0] + power


@compiled
def exceeds(value, limit):
    return value > limit


@compiled
def allocate(n):
    return np.empty(n)[0]


def calls(by, total, shifted, is_large):
    weights = np.arange(6.0, dtype=np.float32).reshape(3, 2)[::-1]  # not in order in memory
    factors = weights, (0.5, (np.array([7.0]), 2))
    values = np.array([1.0, 2.0, 3.0])
    return values, [
        Call(scale, (values, factors, by, True), (total, shifted)),
        Call(exceeds, (total, 50.0), (is_large,)),
    ]


def test_a_program_does_what_its_calls_do():
    """Numbers are those at the time, and a call sees what the ones before it have written."""
    found = []
    for make in (Program, lambda made: lambda: [call() for call in made]):
        by, total, shifted = np.array(2.0), np.zeros(()), np.zeros(())
        is_large = np.zeros((), bool)
        values, made = calls(by, total, shifted, is_large)
        run = make(made)
        for factor in (2.0, 3.0):
            by[()] = factor
            run()
            found.append((values.tolist(), total.item(), shifted.item(), is_large.item()))
    assert found[:2] == found[2:]
    assert found[0] == ([2.0, 4.0, 6.0], 16.5, 9.0, False)
    assert found[1] == ([6.0, 12.0, 18.0], 48.5, 9.0, False)


def test_python_between_calls_keeps_its_place():
    """Calls that follow each other are one program; a number of an array is written in place."""
    numbers = np.array([60.0, 0.0])
    is_large = np.zeros((), bool)
    seen = []
    call = Call(exceeds, (scalar(numbers), 50.0), (is_large,))
    steps = bound([call, call, lambda: seen.append(is_large.item()), call])
    assert [isinstance(step, Program) for step in steps] == [True, False, True]
    for _ in range(2):
        for step in steps:
            step()
        scalar(numbers)[()] = 40.0
    assert seen == [True, False]
    assert numbers.tolist() == [40.0, 0.0]


def test_a_failure_ends_a_program():
    """An array that does not fit into memory is an error, and no later call is made."""
    is_large = np.zeros((), bool)
    program = Program([Call(allocate, (1 << 58,)), Call(exceeds, (1.0, 0.0), (is_large,))])
    with pytest.raises(RuntimeError, match="a compiled function failed"):
        program()
    assert not is_large


@pytest.mark.parametrize(
    "call",
    [
        Call(exceeds, (1.0, 0.0), (np.zeros(()),)),
        Call(scale, (np.ones(3), (np.ones((3, 2)), (0.5, (np.ones(1), True))), 1.0, True)),
    ],
)
def test_what_would_write_or_read_other_memory_is_refused(call):
    """A result has a place of its type, and tuples hold nothing whose layout is another one."""
    with pytest.raises(TypeError, match=r"a place of float64|True can't be bound"):
        Program([call])
