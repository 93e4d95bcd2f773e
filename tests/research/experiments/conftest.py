"""What tests of experiments share."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """One thread of linear algebra: of many small matrices, threads only wait for each other."""
    with threadpool_limits(1):
        yield
