"""How large the error of a prediction may be: two estimates that depend on the inputs."""

from iln_stream.compiled.block_ridge import learn_blocks
from iln_stream.compiled.jit import compiled
from iln_stream.compiled.recursive_ridge import dot

NEAREST, LINEAR = 0, 1
"""Indices of the estimates."""

LEAST_SHARE = 0.1
"""Estimates are at least this share of the mean |error|."""

MOST = 6.0
"""Larger errors count as this many mean |errors| in the linear estimate."""

FORGETTING, RIDGE, HUBER = 0.999, 10.0, 1e12
"""Of the linear estimate's recursive least squares, where errors are clipped already."""

EVENTS, MEAN = 0, 1
"""Indices into the record: events learned, and the mean |error| of about the last 1000."""


@compiled
def describe_error(z, phi):  # type: ignore[no-untyped-def]
    """phi = 1, and of each of the deviations z (d,) z itself and |z|, about centred; then zeros."""
    phi[:] = 0.0
    phi[0] = 1.0
    for j in range(z.shape[0]):
        phi[1 + 2 * j] = z[j]
        phi[2 + 2 * j] = abs(z[j]) - 0.8


@compiled
def expected_errors(z, near, n_near, absolute, record, theta, phi, scales):  # type: ignore[no-untyped-def]
    """scales (2,): the mean |error| of the nearest events, and a linear function of z and |z|.

    The first n_near entries of `near` are slots of the nearest events, whose |errors| `absolute`
    (N,) has. While nothing is known, or all errors are 0, the estimates are 1.
    """
    describe_error(z, phi)
    mean = record[MEAN]
    if mean <= 0.0:
        scales[:] = 1.0
        return
    total = 0.0
    for i in range(n_near):
        total += absolute[near[i]]
    scales[NEAREST] = max(total / n_near, LEAST_SHARE * mean) if n_near > 0 else mean
    scales[LINEAR] = mean * max(dot(theta, phi), LEAST_SHARE)


@compiled
def learn_error(error, slot, absolute, record, theta, P, huber, phi, k):  # type: ignore[no-untyped-def]
    """Learn that the event that `phi` describes, in this slot of the memory, had this |error|."""
    absolute[slot] = error
    record[EVENTS] += 1.0
    record[MEAN] += (error - record[MEAN]) / min(record[EVENTS], 1000.0)
    if record[MEAN] > 0.0:
        ratio = min(error / record[MEAN], MOST)
        learn_blocks(P, theta, huber, phi, k, ratio, dot(theta, phi), 1.0, FORGETTING, RIDGE, HUBER)
