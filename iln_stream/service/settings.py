"""Every setting of the learner: its name, type, default and description."""

import datetime as dt
from math import inf, isfinite
from typing import Any, Literal

from pydantic import AwareDatetime, Field, ValidationInfo, field_validator

from iln_stream.mapping import NULLS
from iln_stream.mapping.lags import numbers_of_records
from iln_stream.prequential import Horizon
from iln_stream.settings import (
    ENV_PREFIX,
    CommandSettings,
    JsonObject,
    JsonPaths,
    NumberList,
    SettingsError,
    TextList,
    json_object,
    text_list,
)

__all__ = ["ENV_PREFIX", "LATE_SETTINGS", "Settings", "SettingsError"]

LATE_SETTINGS = (
    "pending_bytes",
    "pending_seconds",
    "pending_expired",
    "pending_label",
    "early_labels",
)
"""Settings of the wait for labels, which need `pending_events`."""


class Settings(CommandSettings):
    """Settings of the learner. Flags override variables, which override the TOML file."""

    other_tables = ("api", "page", "spark")  # of `iln-stream serve`, `... page`, the Spark job
    secret = (
        *("kafka_options", "kafka_secrets", "registry", "registry_options", "registry_secrets"),
        "labels_settings",
    )

    source: str = Field(
        default="kafka",
        description="Where events come from: `kafka` (the topic in `topic`) or `kafka:TOPIC`; "
        "`sqlite:PATH` or `sqlite:PATH#TOPIC` (an embedded log, by default its topic `events`); a "
        "`.jsonl`, `.csv` or `.parquet` file; `-` for JSON lines on standard input; `river:NAME` "
        "or `synthetic:NAME` for a River dataset; or `package.module:attribute` of a source.",
    )
    bootstrap: str = Field(
        default="127.0.0.1:9092", description="Kafka brokers, host:port, comma-separated."
    )
    topic: str = Field(default="iln-events", description="Kafka topic to learn from.")
    partitions: str = Field(
        default="all",
        pattern=r"^(all|\d+(,\d+)*)$",
        description="Partitions of the topic: `all` or numbers like `0,2`.",
    )
    learner_per: Literal["topic", "partition"] = Field(
        default="topic",
        description="`topic`: one learner for all partitions, which learns in order of arrival "
        "(snapshots record that order); `partition`: one learner per partition.",
    )
    start: Literal["earliest", "latest"] | int | AwareDatetime | None = Field(
        default=None,
        description="Where a run from a log begins: `earliest`, `latest`, the first record at or "
        "after a time (RFC 3339), or an offset in a single partition. Required on the "
        "first run from Kafka; unset, `sqlite:PATH` begins at `earliest`. With `snapshots`, later "
        "runs resume.",
    )
    stop_at_end: bool = Field(
        default=False, description="Stop at the offset that was the topic's end at startup."
    )
    limit: int | None = Field(
        default=None,
        ge=1,
        description="Stop after this many events; not for a log.",
    )
    format: Literal["json", "avro", "json-schema"] = Field(
        default="json",
        description="How records of a log are written: `json`, or by a schema registry's "
        "serialiser: `avro` or `json-schema` (needs the extra `iln-stream[registry]`).",
    )
    registry: str | None = Field(
        default=None,
        pattern=r"^https?://[^@]+$",
        description="Address of the schema registry, such as `http://127.0.0.1:8081`.",
    )
    registry_options: JsonObject = Field(
        default_factory=dict,
        examples=[{"ssl.ca.location": "ca.pem"}],
        description="Options of the registry's client, by confluent-kafka's names "
        "(`ssl.ca.location`, ...).",
    )
    registry_secrets: JsonPaths = Field(
        default_factory=dict,
        examples=[{"bearer.auth.token": "token.txt"}],
        description="Files with secrets of the registry's client: for each option "
        "(`basic.auth.user.info`: `NAME:PASSWORD`; `bearer.auth.token`, `ssl.key.password`) the "
        "path of a file that contains its value.",
    )
    decoder: str | None = Field(
        default=None,
        description="Your own format: `package.module:attribute` of a function that gets a "
        "record's bytes and returns its fields as a mapping.",
    )
    separator: Literal[",", ";", "tab", "|"] = Field(
        default=",", description="What separates the cells of a CSV file."
    )
    decimal: Literal[".", ","] = Field(
        default=".",
        description="What stands before the decimals of numbers that come as text: with `,`, dots "
        "may separate thousands.",
    )
    date_order: Literal["ymd", "dmy", "mdy"] = Field(
        default="ymd",
        description="Order of year, month and day in dates: with `dmy`, `31.12.2026` and "
        "`31/12/2026` are times, too; with `mdy`, `12/31/2026`.",
    )
    target: str | None = Field(
        default=None,
        description="Field of the label (`price`, or a nested one: `sale.price`). If this or "
        "another setting of fields is set, records are read as they are; otherwise a record is "
        '`{"x": {inputs}, "y": label}`.',
    )
    features: TextList = Field(
        default=("*",),
        description="Fields that are inputs: names or patterns like `sensor_*`, comma-separated; a "
        "name includes all below it. The label, the id and the time are left out.",
    )
    ignore: TextList = Field(
        default=(), description="Fields that are no inputs: names or patterns, comma-separated."
    )
    id_field: str | None = Field(default=None, description="Field of the event's id.")
    time_field: str | None = Field(
        default=None,
        description="Field of the event's time: ISO 8601 (UTC if it has no offset), or POSIX "
        "seconds, milliseconds, microseconds or nanoseconds. Unset: the time of writing.",
    )
    weight_field: str | None = Field(
        default=None,
        description="Field of the event's weight: how much it counts when it is learned, at least "
        "0; 1 without a value. Ours take weights up to 1,000,000, and many of River take them; "
        "others are refused. Scores are not weighted.",
    )
    time_features: TextList = Field(
        default=(),
        description="Inputs made of the event's time, comma-separated: `hour`, `weekday`, "
        "`day_of_year` (in UTC, each a sine and a cosine), `since_last` (seconds since the event "
        "before).",
    )
    horizon: TextList = Field(
        default=(),
        description="Forecasts: how far ahead, comma-separated, such as `1,6,24` (records) or "
        "`1h,6h,24h` (time: `s`, `min`, `h`, `d`). The label of an event is the later value of "
        "`target`, whose present value is an input; each horizon has its own learner, scores and "
        "predictions. Unset: the label is in the record or comes for its id.",
    )
    lags: JsonObject = Field(
        default_factory=dict,
        examples=[{"temp": 24, "load": [1, 24, 168]}],
        description="Inputs made of the values that columns had some records before: these numbers "
        "of records, or one number for all up to it; `temp.lag_24` is an input then. Of `target`, "
        "too, with `horizon`.",
    )
    rolling_means: JsonObject = Field(
        default_factory=dict,
        examples=[{"temp": [24, 168]}],
        description="Inputs made of the means of columns over the last records, the present one "
        "included: these numbers of records; `temp.mean_24` is an input then.",
    )
    types: JsonObject = Field(
        default_factory=dict,
        examples=[{"temp": "number"}],
        description="Types of fields by name or pattern: `number`, `category`, `boolean`, `time` "
        "(as POSIX seconds) or `auto`, the default: text that is a number is taken as one, with a "
        "warning and a metric, and other text is a category.",
    )
    null_values: TextList = Field(
        default=NULLS,
        description="Texts that mean a missing value, comma-separated; the first may be empty.",
    )
    kafka_options: JsonObject = Field(
        default_factory=dict,
        examples=[{"security_protocol": "SSL"}],
        description="Options of the Kafka client, by kafka-python's names (`security_protocol`, "
        "`ssl_cafile`, ...).",
    )
    kafka_secrets: JsonPaths = Field(
        default_factory=dict,
        examples=[{"sasl_plain_password": "password.txt"}],
        description="Files with passwords of the Kafka client: for each option "
        "(`sasl_plain_password`, `sasl_plain_username`, `ssl_password`) the path of a file that "
        "contains its value, read at each start.",
    )
    kafka_client: Literal["kafka-python", "confluent"] = Field(
        default="kafka-python",
        description="Client that reads from and writes to Kafka: `confluent` is faster and needs "
        "the extra `iln-stream[confluent]`.",
    )
    broker_wait: float = Field(
        default=30.0, ge=0, description="Seconds to wait at startup for unreachable brokers."
    )
    snapshots: str | None = Field(
        default=None,
        description="Folder for snapshots: each learner's state with its position in the topic. "
        "A run resumes from the newest one, even after a crash. Unset: each run starts over.",
    )
    warm_start: TextList = Field(
        default=(),
        description="Files of history, comma-separated (`.csv`, `.jsonl`, also with `.gz`, "
        "`.parquet`): a run without a snapshot learns them in this order, saves a snapshot, and "
        "then goes on with the log at `start`. Later runs resume and don't read them.",
    )
    warm_start_fields: JsonObject = Field(
        default_factory=dict,
        description="Settings of fields that are different for these files: `target`, `features`, "
        "`ignore`, `id_field`, `time_field`, `time_features`, `types`, `null_values`, "
        "`weight_field`, `decimal`, `date_order`, `separator`, `decoder`. Empty text: the files "
        "have no such field.",
    )
    snapshot_events: int = Field(
        default=100_000, ge=1, description="Take a snapshot after this many records at the latest."
    )
    snapshot_seconds: float = Field(
        default=10.0, gt=0, description="Take a snapshot after this many seconds at the latest."
    )
    snapshot_keep: int = Field(default=3, ge=1, description="Number of snapshots to keep.")
    snapshot_pickle: bool = Field(
        default=False,
        description="Save, publish and load your own learners as pickles. Loading a pickle runs "
        "code: use only if nobody else can write to the folder.",
    )
    publish: str | None = Field(
        default=None,
        description="Folder for published versions of the learners, from which other processes "
        "predict while these learn. Unset: none.",
    )
    publish_seconds: float = Field(
        default=0.5, gt=0, description="Publish a version after this many seconds."
    )
    accept_loss: bool = Field(
        default=False,
        description="Continue even if retention deleted records before they were learned.",
    )
    recent_ids: int | None = Field(
        default=None,
        ge=1,
        description="Number of recent event and label ids to remember; records that repeat one are "
        "skipped. Unset: no record is skipped.",
    )
    pending_events: int | None = Field(
        default=None,
        ge=1,
        description="Number of predicted events with an id and no label that wait for a later "
        "record with their label; when full, the oldest expires. Unset: later labels become dead "
        "letters.",
    )
    pending_bytes: int | None = Field(
        default=None, ge=1, description="Memory for them, about; when full, the oldest expires."
    )
    pending_seconds: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="How long an event waits for its label, by the times of records; then it "
        "expires. Unset: until too many wait.",
    )
    pending_expired: Literal["count", "write", "learn"] = Field(
        default="count",
        description="What happens to an expired event: `count` it only, `write` it to the dead "
        "letters, or, after pending_seconds, `learn` it with pending_label.",
    )
    pending_label: float | bool | str | None = Field(
        default=None,
        description="The label that `pending_expired = learn` assumes, such as 0 where no label "
        "within a day means that nothing happened. A class that is the text 0: `'\"0\"'`.",
    )
    early_labels: int = Field(
        default=1000,
        ge=0,
        description="Number of labels that wait for their event; when full, or after "
        "pending_seconds, the oldest becomes a dead letter.",
    )
    labels: str | None = Field(
        default=None,
        description="A second log, of labels: `kafka:TOPIC` or `sqlite:PATH#TOPIC`. Each label is "
        "joined with the event of its id, which waits among `pending_events`. Unset: labels are in "
        "the source.",
    )
    labels_settings: JsonObject = Field(
        default_factory=dict,
        examples=[{"target": "minutes", "id_field": "order"}],
        description="Settings that are different for the log of labels: `target`, `id_field`, "
        "`time_field`, `weight_field`, `types`, `null_values`, `decimal`, `date_order`, `format`, "
        "`registry`, `registry_options`, `registry_secrets`, `decoder`, `bootstrap`, "
        "`kafka_options`, `kafka_secrets`, `kafka_client`. If no field is named here or for the "
        'source, a label is `{"id": ..., "y": ...}`; other fields are ignored. Empty text: labels '
        "have no such field.",
    )
    learner: str = Field(
        default="infinite-layer",
        description="`infinite-layer`: the most accurate, nothing to tune; `shrinking-gradient`: "
        "the paper's algorithm; `pool`: the same steps on a fixed pool of features, fast, without "
        "Theorem 1; `infinite-layer-classifier`: the most accurate if the label is a class; or "
        "`package.module:attribute` of a River regressor, classifier or pipeline, or of a function "
        "that returns one.",
    )
    learner_options: JsonObject = Field(
        default_factory=dict,
        examples=[{"profile": "fast"}],
        description="Arguments of the learner: `profile` (`accurate` or `fast`) of "
        "`infinite-layer`, "
        "`norm_bound` and `budget` of `shrinking-gradient`, `size` and `step` of `pool`, ...",
    )
    class_weights: JsonObject = Field(
        default_factory=dict,
        examples=[{"true": 10}],
        description="Weights of classes, by class as text (`true`, `3`, `cat`); 1 for others. "
        "Ours take weights, and many of River; others are refused. Scores are not weighted.",
    )
    challengers: JsonObject = Field(
        default_factory=dict,
        examples=[{"linear": {"learner": "package.module:attribute"}}],
        description="Other learners on the same events, by name: each with `learner`, and if need "
        "be with `learner_options`, `seed` and `on_failure` (`skip`, `restart` or `stop`). The one "
        "of `learner` predicts until another one is promoted.",
    )
    promotion: Literal["never", "evidence"] = Field(
        default="never",
        description="Whether a challenger that is better becomes champion by itself: `never`, or "
        "by `evidence`, a confidence sequence. `iln-stream promote` works in any case.",
    )
    promotion_error: float = Field(
        default=0.05,
        gt=0,
        lt=1,
        description="Probability, over the whole run, that a promotion by evidence is false.",
    )
    mixture: bool = Field(
        default=False,
        description="Whether there is one more contender, `mixture`: the weighted mean of all "
        "others, by the rule of `infinite-layer`.",
    )
    seed: int = Field(default=1, ge=0, description="Random seed of learners and synthetic streams.")
    listeners: str | None = Field(
        default=None,
        description="Your own listeners: `package.module:attribute`, comma-separated.",
    )
    model: str | None = Field(
        default=None,
        description="Value of the metric label `model`. Unset: stream and learner, such as "
        "`iln-events/infinite-layer`.",
    )
    predictions: str | None = Field(
        default=None,
        description="Where predictions go: `kafka:TOPIC`, `sqlite:PATH#TOPIC`, a file, `-` for "
        "standard output, or `package.module:attribute` for your own sink.",
    )
    prediction_intervals: NumberList = Field(
        default=(),
        description="Levels of intervals that predictions carry, comma-separated: with `0.9`, each "
        "has one that contains the label in 90 % of the cases. Unset: none.",
    )
    prediction_contributions: int = Field(
        default=0,
        ge=0,
        description="How many inputs predictions name with what they contribute to the prediction, "
        "the largest contributions first. It takes some hundred predictions an event. 0: none.",
    )
    transactional: bool | None = Field(
        default=None,
        description="Publish predictions in transactions with their positions: readers of "
        "committed records see each exactly once. Otherwise at least once, with identical repeats. "
        "Needs a log as source, and predictions to `kafka:TOPIC` or `sqlite:PATH`. Unset: yes for "
        "`sqlite:PATH`, where it costs nothing, else no.",
    )
    dead_letters: str | None = Field(
        default=None,
        description="Where dead letters go: `kafka:TOPIC`, `sqlite:PATH#TOPIC` or a file. Unset: "
        "the topic `<topic>-dead-letters` beside that of a log, else the file "
        "`dead-letters.jsonl`.",
    )
    metrics_host: str = Field(default="127.0.0.1", description="Address that serves /metrics.")
    metrics_port: int | None = Field(
        default=9108, ge=0, le=65535, description="Port that serves /metrics; 0 picks a free one."
    )
    live: bool = Field(
        default=True,
        description="Serve /live beside /metrics: what a page shows, with ids, predictions and "
        "labels of the latest events and excerpts of dead letters.",
    )
    page_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="Port of a page on metrics_host that shows the learner in browsers, as "
        "`iln-stream page` does; 0 picks a free one. Unset: none. Needs the extra "
        "`iln-stream[api]`.",
    )
    window: int = Field(
        default=1000, ge=1, description="Number of labelled events in the windowed metrics."
    )
    when_refused: Literal["exit", "wait"] = Field(
        default="exit",
        description="What `run` does if its settings are invalid or differ from the snapshot's: "
        "`exit`, or `wait` to be stopped, so that a supervisor does not restart it in a loop.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="Minimum level of the log: `debug`, `info`, `warning` or `error`; `debug` "
        "includes the Kafka client's log.",
    )
    log_format: Literal["text", "json"] = Field(
        default="text",
        description="`text`, or `json`: one object per line, with time, level, logger, message and "
        "exception.",
    )

    @property
    def topic_address(self) -> str:
        """Address of the topic in `topic`."""
        return f"kafka:{self.topic}"

    @property
    def source_address(self) -> str:
        """Address of the source; `kafka` alone stands for the topic in `topic`."""
        return self.topic_address if self.source == "kafka" else self.source

    @field_validator("start", mode="before")
    @classmethod
    def _parse_start(cls, value: object) -> object:
        if value is None or value in ("earliest", "latest"):
            return value
        if isinstance(value, str) and value.isdecimal():
            return int(value)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        moment = value
        if isinstance(value, str):
            try:
                moment = dt.datetime.fromisoformat(value)
            except ValueError:
                moment = None
        if not isinstance(moment, dt.datetime) or moment.tzinfo is None:
            raise ValueError(
                "expected earliest, latest or a time with a UTC offset, like "
                "2026-01-31T12:00:00Z, or the offset of a record"
            )
        return moment

    @field_validator("horizon", mode="before")
    @classmethod
    def _read_horizon(cls, value: Any) -> Any:
        parts = value.split(",") if isinstance(value, str) else value
        if isinstance(parts, int):
            parts = (parts,)
        if not isinstance(parts, list | tuple):
            return value
        texts = tuple(str(part).strip() for part in parts)
        for text in texts:
            Horizon.of(text)
        if len(set(texts)) < len(texts):
            raise ValueError("a horizon is given twice")
        return texts

    @field_validator("lags", "rolling_means")
    @classmethod
    def _read_numbers(cls, columns: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        found = {}
        for name, given in columns.items():
            single = type(given) is int and info.field_name == "rolling_means"
            try:
                found[name] = list(numbers_of_records([given] if single else given))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        return found

    @field_validator("class_weights")
    @classmethod
    def _check_weights(cls, weights: dict[str, Any]) -> dict[str, float]:
        for name, weight in weights.items():
            is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
            if not (is_number and 0.0 <= weight < inf):
                raise ValueError(f"a weight is a finite number and at least 0: {name} = {weight!r}")
        return {name: float(weight) for name, weight in weights.items()}

    @field_validator("prediction_intervals")
    @classmethod
    def _check_levels(cls, levels: tuple[float, ...]) -> tuple[float, ...]:
        if wrong := [level for level in levels if not 0.0 < level < 1.0]:
            raise ValueError(f"a level lies between 0 and 1, not {wrong[0]:g}")
        if len(set(levels)) < len(levels):
            raise ValueError("a level is given twice")
        return levels

    @field_validator("pending_label", mode="before")
    @classmethod
    def _read_label(cls, label: Any) -> Any:
        """Read a label: a number or a boolean, if it is one; `"0"` with its quotes is a text."""
        if not isinstance(label, str):
            return label
        if len(label) > 2 and label[0] == label[-1] == '"':
            return label[1:-1]
        if label in ("true", "false"):
            return label == "true"
        try:
            number = float(label)
        except ValueError:
            return label
        return number if isfinite(number) else label

    _parse_json = field_validator(
        "kafka_options",
        "kafka_secrets",
        "learner_options",
        "class_weights",
        "registry_options",
        "registry_secrets",
        "lags",
        "rolling_means",
        "types",
        "warm_start_fields",
        "labels_settings",
        "challengers",
        mode="before",
    )(json_object)
    _split = field_validator(
        "features",
        "ignore",
        "time_features",
        "null_values",
        "prediction_intervals",
        "warm_start",
        mode="before",
    )(text_list)
