import copy
import pickle

import numpy as np
import pytest

from iln_stream.learners.infinite_layer.expert import Observation


@pytest.mark.parametrize(
    "made", [lambda o: o, copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))]
)
@pytest.mark.parametrize(("n_lags", "d"), [(2, 3), (0, 3), (2, 0)])
def test_deviations_are_the_end_of_v(n_lags, d, made):
    """z is a view: what a compiled loop writes to v is read from z, in a copy too."""
    event = made(Observation(n_lags, d))
    event.v[:] = np.arange(n_lags + d)
    assert event.z.tolist() == list(range(n_lags, n_lags + d))
    event.z[:] = -1.0
    assert event.v[:n_lags].tolist() == list(range(n_lags))
    assert (event.v[n_lags:] == -1.0).all()
    assert len(event.row) == d
