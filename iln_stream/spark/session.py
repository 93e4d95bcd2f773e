"""Spark's settings for a learner by key."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iln_stream.errors import IlnError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STATE_SERVER = (
    "org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkStateServer"
)

CONFIGURATION = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # With it, each write of a key begins with a read (docs/spark.md has the measurement).
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    # A micro-batch uploads its changes, not a snapshot of RocksDB.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Bytes. A larger function is broadcast, and the driver's process that asks a stateful function
    # for its variables can't read a broadcast: the query would not start with a prior above 1 MB.
    "spark.broadcast.UDFCompressionThreshold": str(64 << 20),
    "spark.sql.session.timeZone": "UTC",
}
"""What `transformWithState` needs, and the settings that matter for speed."""


def session(
    name: str,
    *,
    state_partitions: int,
    jars: Path | None = None,
    configuration: Mapping[str, str] | None = None,
) -> "SparkSession":
    """Return the Spark session with `CONFIGURATION`.

    What `spark-submit --conf` gives is kept.

    Parameters
    ----------
    name
        Name of the application.
    state_partitions
        Number of partitions of the state: the most workers that can learn at a time. A checkpoint
        keeps the number that it began with.
    jars
        Folder with the jars of Spark's Kafka connector; None: `spark-submit` names them.
    configuration
        Further settings of Spark, such as `spark.master`.

    Raises
    ------
    IlnError
        When the folder has no jars.

    """
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    wanted = {**CONFIGURATION, "spark.sql.shuffle.partitions": str(state_partitions)}
    wanted.update(configuration or {})
    if jars is not None:
        files = sorted(jars.absolute().glob("*.jar"))
        if not files:
            raise IlnError(
                f"jars: {jars} has no jars; services/spark/README.md says how to get them"
            )
        wanted["spark.jars"] = ",".join(map(str, files))
    # Workers on this machine have this interpreter's packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf().setAppName(name)
    for key, value in wanted.items():
        conf.setIfMissing(key, value)
    spark = SparkSession.builder.config(conf=conf).getOrCreate()
    _quieten(spark)
    return spark


def _quieten(spark: "SparkSession") -> None:
    """Log no warning for each new key; of executors elsewhere only their log4j2.properties can."""
    java: Any = spark._jvm
    levels = java.org.apache.logging.log4j
    levels.core.config.Configurator.setLevel(_STATE_SERVER, levels.Level.ERROR)
