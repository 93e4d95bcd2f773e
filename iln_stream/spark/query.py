"""The streaming query: a topic's rows, learned by key."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from iln_stream.spark.gathered import GATHERED, gather
from iln_stream.spark.plan import Plan, PlanError
from iln_stream.spark.processor import OUTPUT, KeyedProcessor

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = ("group", "partition", "offset", "time", "value")
"""Columns that are gathered by key: the bytes that choose the learner, the record's position, when
it was written (milliseconds), its value; and `key`, the record's key, if that is not the group."""


def topic_rows(
    spark: "SparkSession",
    topic: str,
    bootstrap: str,
    *,
    start: str = "earliest",
    most_records: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> "DataFrame":
    """Return the stream of a Kafka topic's records.

    Parameters
    ----------
    spark
        The session; its jars include the Kafka connector.
    topic, bootstrap
        The topic, and brokers as host:port, comma-separated.
    start
        Where a new checkpoint begins: `earliest` or `latest`.
    most_records
        The most records of a micro-batch; None: all there are.
    options
        Further options of Spark's Kafka source.

    """
    chosen = {
        "subscribe": topic,
        "kafka.bootstrap.servers": bootstrap,
        "startingOffsets": start,
        # A record that was deleted before it was learned is an error, not a gap.
        "failOnDataLoss": "true",
        "kafka.isolation.level": "read_committed",
        **({} if most_records is None else {"maxOffsetsPerTrigger": str(most_records)}),
        **{name: str(value) for name, value in (options or {}).items()},
    }
    return spark.readStream.format("kafka").options(**chosen).load()


def learned(records: "DataFrame", plan: Plan, by_key: str | None = None) -> "DataFrame":
    """Return the predictions and dead letters of a topic's records, learned by key.

    Parameters
    ----------
    records
        From `topic_rows`, of one topic.
    plan
        What to learn and how.
    by_key
        Path of the JSON field that chooses the learner, such as `x.customer`. None: the record's
        key chooses it.

    Returns
    -------
    DataFrame
        Columns `key` (that chose the learner), `kind` (`prediction` or `dead letter`), `partition`
        and `offset` of the record, `value`: the message as the service writes it, JSON.

    """
    from pyspark.sql import functions as f

    group = f.col("key") if by_key is None else _field(by_key)
    columns = [
        group.alias("group"),
        f.col("partition"),
        f.col("offset"),
        f.unix_millis("timestamp").alias("time"),
        f.col("value"),
    ]
    if by_key is not None:
        columns.append(f.col("key"))
    out = (
        records.select(*columns)
        .mapInArrow(gather, GATHERED)
        .groupBy("group")
        .transformWithState(KeyedProcessor(plan), OUTPUT, "Append", "None")
    )
    each = f.explode(f.arrays_zip("partitions", "offsets", "values")).alias("each")
    return out.select("key", "kind", each).select(
        "key",
        "kind",
        f.col("each.partitions").alias("partition"),
        f.col("each.offsets").alias("offset"),
        f.col("each.values").alias("value"),
    )


def _field(path: str) -> Any:
    if not path or any(sign in path for sign in "'\"[]*$"):
        raise PlanError(f"by_key = {path!r} is not the path of a field, such as x.customer")
    from pyspark.sql import functions as f

    return f.get_json_object(f.col("value").cast("string"), f"$.{path}").cast("binary")
