"""The Spark job: reads a topic, learns by key, writes predictions."""

import argparse
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iln_stream.errors import IlnError
from iln_stream.files import read_stored, write_whole
from iln_stream.service import Settings, SettingsError
from iln_stream.service.decoding import mapping_of
from iln_stream.service.learners import build_learner
from iln_stream.service.streams import source_stream, stream_options
from iln_stream.service.worker import model_name, version_of_settings
from iln_stream.snapshots import load
from iln_stream.spark.plan import KeyedPlan, PlanError, prior_of
from iln_stream.spark.processor import OUTPUT, KeyedProcessor
from iln_stream.spark.records import GATHERED, gather
from iln_stream.spark.settings import SparkSettings
from iln_stream.spark.sinks import sink_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery


_STATE_SERVER = (
    "org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkStateServer"
)

CONFIGURATION = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # With it, each write of a key begins with a read.
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
    # No warning for each new key; of executors elsewhere only their log4j2.properties can do that.
    java: Any = spark._jvm
    levels = java.org.apache.logging.log4j
    levels.core.config.Configurator.setLevel(_STATE_SERVER, levels.Level.ERROR)
    return spark


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


def learned(records: "DataFrame", plan: KeyedPlan, by_key: str | None = None) -> "DataFrame":
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


log = logging.getLogger(__name__)

LEARNER_SETTINGS = (
    *("source", "topic", "bootstrap", "start", "kafka_options", "kafka_secrets"),
    *("learner", "profile", "learner_options", "seed", "model", "predictions", "dead_letters"),
    *("target", "features", "ignore", "id_field", "time_field", "types", "null_values"),
    *("weight_field", "decimal", "date_order"),
)
"""The settings of `iln-stream run` that the job has, too; it refuses others that are set."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job until it is stopped, or at the end with `available_now`."""
    try:
        settings, spark_settings = settings_of(sys.argv[1:] if arguments is None else arguments)
        logging.basicConfig(level=spark_settings.log_level.upper())
        query, sink = start(settings, spark_settings)
        try:
            query.awaitTermination()
        finally:
            query.stop()
            sink.close()
    except IlnError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def settings_of(arguments: Sequence[str]) -> tuple[Settings, SparkSettings]:
    """Return the settings of the learner and of the job.

    Raises
    ------
    SettingsError
        When one is invalid, or the job does not have it.

    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, help="TOML file; the job's own are in [spark]")
    for cls, names in ((SparkSettings, SparkSettings.model_fields), (Settings, LEARNER_SETTINGS)):
        group = parser.add_argument_group(cls.__name__)
        for name in names:
            field = cls.model_fields[name]
            text = (field.description or "").replace("%", "%%")
            flag = "--" + name.replace("_", "-")
            if field.annotation is bool:
                group.add_argument(flag, action=argparse.BooleanOptionalAction, help=text)
            else:
                group.add_argument(flag, help=text)
    given = vars(parser.parse_args(arguments))
    config = given.pop("config")
    own = {name: given.pop(name) for name in SparkSettings.model_fields}
    settings = Settings.load(config, **given)
    others = settings.model_fields_set - {*LEARNER_SETTINGS, *_WITHOUT_EFFECT}
    if others:
        raise SettingsError(
            f"{', '.join(sorted(others))}: the Spark job has no such setting; unset it, or use "
            "`iln-stream run`"
        )
    return settings, SparkSettings.load(config, **own)


_WITHOUT_EFFECT = ("log_level", "log_format", "metrics_host", "metrics_port")


def start(settings: Settings, spark_settings: SparkSettings) -> tuple["StreamingQuery", Any]:
    """Start the query; return it and its sink, which is to be closed after it.

    Raises
    ------
    IlnError
        When pyspark is not installed, or a setting is wrong.

    """
    for name in ("pyspark", "pyarrow", "pandas", "google.protobuf"):
        # Without protobuf or pyarrow a worker would end with an error that names neither.
        if not _is_installed(name):
            raise IlnError(f"spark: {name} is not installed: pip install 'iln-stream[spark]'")
    stream = source_stream(settings)
    if stream.scheme != "kafka":
        raise SettingsError(f"source = {stream.address!r}: the Spark job reads kafka:TOPIC")
    if settings.predictions is None:
        raise SettingsError("predictions: name kafka:TOPIC, sqlite:PATH#TOPIC or folder:PATH")
    if settings.start not in (None, "earliest", "latest"):
        raise SettingsError("start: the Spark job knows earliest and latest")
    if settings.aggregates:
        raise SettingsError("aggregates: the Spark job has none; compute them before the topic")
    plan = plan_of(settings, spark_settings, stream.name)
    spark = session(
        plan.model, state_partitions=spark_settings.state_partitions, jars=spark_settings.jars
    )
    records = topic_rows(
        spark,
        stream.name,
        settings.bootstrap,
        start=str(settings.start or "earliest"),
        most_records=spark_settings.most_records,
        options=spark_settings.kafka_source_options,
    )
    sink = sink_at(settings.predictions, settings.dead_letters, stream, stream_options(settings))
    writer = (
        learned(records, plan, spark_settings.by_key)
        .writeStream.queryName(plan.model)
        .option("checkpointLocation", spark_settings.checkpoint)
        .foreachBatch(sink.write)
    )
    if spark_settings.available_now:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{spark_settings.trigger_seconds} seconds")
    return writer.start(), sink


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of its parent
        return False


def plan_of(settings: Settings, spark_settings: SparkSettings, stream: str) -> KeyedPlan:
    """Return the plan that the settings describe, with the prior of the first run."""
    return KeyedPlan(
        stream,
        _frozen_prior(settings, spark_settings),
        model_name(settings, stream),
        version_of_settings(settings, settings.seed),
        mapping_of(settings, source_stream(settings)),
        None if spark_settings.by_key is None else spark_settings.by_key.removeprefix("x."),
        spark_settings.live_learners,
    )


def _frozen_prior(settings: Settings, spark_settings: SparkSettings) -> bytes:
    """Return the prior; the first run writes it to a file, so that later ones have the same."""
    file = spark_settings.prior_file
    if file is None:
        if "://" in spark_settings.checkpoint:
            raise PlanError(
                "prior_file: name a local file that keeps the prior; the checkpoint "
                f"{spark_settings.checkpoint} is not a local folder"
            )
        checkpoint = Path(spark_settings.checkpoint)
        file = checkpoint.with_name(f"{checkpoint.name}.prior.npz")
    if file.exists():
        return read_stored(file)
    saved = spark_settings.prior
    prior = prior_of(build_learner(settings) if saved is None else load(saved))
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, lambda out: out.write(prior))
    return prior


if __name__ == "__main__":
    sys.exit(main())
