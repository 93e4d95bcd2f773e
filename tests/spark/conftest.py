"""A Spark session on two cores of this machine."""

from collections.abc import Iterator

import pytest
from support.spark_jars import spark_jars

from iln_stream.spark.job import session


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """The session that the tests of this folder share, with the Kafka connector."""
    master = {"spark.master": "local[2]", "spark.ui.enabled": "false"}
    running = session("tests", state_partitions=2, jars=spark_jars(), configuration=master)
    yield running
    running.stop()
