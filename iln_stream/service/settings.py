"""Every setting of the learner: its name, type, default and description.

Settings are flat for users. In the code they are groups: a function takes the group that it needs,
so its signature says what it depends on. `Settings` is all of them.
"""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from math import inf, isfinite
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, AwareDatetime, Field, ValidationInfo, field_validator

from iln_stream.errors import did_you_mean
from iln_stream.learners.keyed.aggregates import Aggregate
from iln_stream.loop import Horizon
from iln_stream.records.time_inputs import numbers_of_records
from iln_stream.records.values import NULLS
from iln_stream.settings import (
    Address,
    Attribute,
    CommandSettings,
    FieldName,
    Folder,
    JsonObject,
    JsonPaths,
    LogFormat,
    LogLevel,
    NumberList,
    Port,
    Seconds,
    SettingsError,
    SettingsGroup,
    TextList,
    moment_of,
)

LATE_SETTINGS = ("pending_seconds", "pending_expired", "pending_label")
"""Settings of the wait for labels, which need `pending_events`."""


Position = Annotated[Literal["earliest", "latest"] | int | AwareDatetime, "POSITION"]


class SeedSettings(SettingsGroup):
    """The seed of what is random."""

    seed: int = Field(default=1, ge=0, description="Random seed of learners and synthetic streams.")


class SourceSettings(SeedSettings):
    """Where events come from."""

    source: Address = Field(
        default="kafka",
        description="Where events come from: a file (`.csv`, `.jsonl`, `.parquet`, ...), "
        "`kafka:TOPIC`, an embedded log (`sqlite:PATH` or `sqlite:PATH#TOPIC`), `-` "
        "(JSON lines on standard input), a River dataset (`river:NAME`, "
        "`synthetic:NAME`), or `package.module:attribute`. `kafka` alone is the "
        "topic in `topic`.",
    )
    topic: str = Field(
        default="iln-events", description="Kafka topic to learn from, if `source` does not name it."
    )
    partitions: str = Field(
        default="all",
        pattern=r"^(all|\d+(,\d+)*)$",
        description="Partitions of the topic: `all` or numbers like `0,2`.",
    )
    learner_per: Literal["topic", "partition"] = Field(
        default="topic",
        description="`topic`: one learner for all partitions, which learns in order of arrival; "
        "`partition`: one for each.",
    )
    start: Position | None = Field(
        default=None,
        description="Where the first run from a log begins: `earliest`, `latest`, a time (RFC "
        "3339: the first record at or after it), or an offset in a single "
        "partition. Required for Kafka; for `sqlite:PATH` the default is "
        "`earliest`. With `snapshots`, later runs resume.",
    )
    stop_at_end: bool = Field(
        default=False, description="Stop at the end that the topic had at startup."
    )
    limit: int | None = Field(
        default=None,
        ge=1,
        description="Stop after this many records of a source that is not a log.",
    )
    workers: int = Field(
        default=1,
        ge=1,
        description="Number of processes that share the partitions. Needs `learner_per = "
        "partition` and `snapshots`.",
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
        moment = moment_of(value) if isinstance(value, str) else value
        if not isinstance(moment, dt.datetime) or moment.tzinfo is None:
            raise ValueError(
                "expected earliest, latest or a time with a UTC offset, like "
                "2026-01-31T12:00:00Z, or the offset of a record"
            )
        return moment


class KafkaSettings(SettingsGroup):
    """How to reach Kafka."""

    bootstrap: Annotated[str, "HOST:PORT"] = Field(
        default="127.0.0.1:9092", description="Kafka brokers, host:port, comma-separated."
    )
    kafka_client: Literal["kafka-python", "confluent"] = Field(
        default="kafka-python",
        description="Client of Kafka; `confluent` is faster and needs the extra "
        "`iln-stream[confluent]`.",
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
        description="Secret options of the Kafka client (`sasl_plain_password`, "
        "`sasl_plain_username`, `ssl_password`): for each the path of a file with "
        "its value, which is read at each start.",
    )


class FormatSettings(SettingsGroup):
    """How records are taken apart."""

    format: Literal["json", "avro", "json-schema"] = Field(
        default="json",
        description="Encoding of a log's records: `json`, or a schema registry's `avro` or "
        "`json-schema` (extra `iln-stream[registry]`).",
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
        description="Secret options of the registry's client (`basic.auth.user.info`: "
        "`NAME:PASSWORD`; `bearer.auth.token`, `ssl.key.password`): for each the "
        "path of a file with its value.",
    )
    decoder: Attribute | None = Field(
        default=None,
        description="Your own format: `package.module:attribute` of a function that takes a "
        "record's bytes and returns its fields, or None to skip the record.",
    )
    where: str | None = Field(
        default=None,
        examples=['payload.op == "c"'],
        description='Which records are events: `status == "paid" and amount > 0`. Others are '
        "skipped and counted (`iln_skipped_records_total`). A field that a record "
        "lacks is null and equals only null. Comparing the size of null, or of a "
        "text and a number, is never true.",
    )
    envelope: Literal["debezium", "cloudevents"] | None = Field(
        default=None,
        description="What surrounds a record's fields: `debezium` (the record is the row after "
        "the change), or `cloudevents` in structured mode (the record is its "
        "`data`, with `ce_id` and `ce_time`).",
    )
    learner_inputs: Literal["columns", "record"] = Field(
        default="columns",
        description="What your own learner gets of a text field: `columns`, an input "
        "`sky=clear` of value 1; or `record`, the text itself, as River's "
        "`BagOfWords` and `Agg` need it.",
    )
    separator: Literal[",", ";", "tab", "|", "^", "~", "blank"] = Field(
        default=",",
        description="Character between the cells of a CSV file; `blank`: any number of them.",
    )
    columns: TextList = Field(
        default=(),
        description="Names of a CSV file's columns, comma-separated, if its first row has none, "
        "or two alike.",
    )
    decimal: Literal[".", ","] = Field(
        default=".",
        description="Decimal separator of numbers in texts. With `,`, dots may separate thousands.",
    )
    date_order: Literal["ymd", "dmy", "mdy"] = Field(
        default="ymd",
        description="Order of year, month and day: `dmy` also reads `31.12.2026` and "
        "`31/12/2026` as times, `mdy` reads `12/31/2026`.",
    )


class FieldSettings(SettingsGroup):
    """Which field of a record is what.

    A snapshot's configuration has each, and `FieldMapping` an argument of its name.
    """

    target: FieldName | None = Field(
        default=None,
        description="Field that holds the label (`price`, or nested: `sale.price`). If this or "
        "another setting of fields is set, records are read in their own format; "
        'otherwise a record is `{"x": {inputs}, "y": label}`.',
    )
    features: TextList = Field(
        default=("*",),
        description="Fields that are inputs: names or patterns like `sensor_*`, "
        "comma-separated. A name includes everything below it. Label, id and time "
        "are left out.",
    )
    ignore: TextList = Field(
        default=(), description="Fields that are not inputs: names or patterns, comma-separated."
    )
    id_field: FieldName | None = Field(
        default=None, description="Field that holds the event's id; `@key`: the record's own key."
    )
    time_field: FieldName | None = Field(
        default=None,
        description="Field that holds the event's time: ISO 8601 (UTC if it has no offset), or "
        "POSIX seconds, milliseconds, microseconds or nanoseconds. Unset: when the "
        "record was written.",
    )
    weight_field: FieldName | None = Field(
        default=None,
        description="Field that holds the event's weight: at least 0; 1 if it has no value. It "
        "weighs learning, losses, errors, baselines and calibration. This package's "
        "learners take weights up to 1,000,000. A learner that takes none is "
        "refused.",
    )
    time_features: TextList = Field(
        default=(),
        description="Inputs made from the event's time, comma-separated: `hour`, `weekday`, "
        "`day_of_year` (a sine and a cosine each), `year` (2026.5), `since_last` "
        "(seconds since the previous event).",
    )
    time_zone: str = Field(
        default="UTC",
        examples=["Europe/Berlin"],
        description="Time zone of hours, weekdays and days of the year. Times without an offset "
        "are still in UTC.",
    )
    crosses: TextList = Field(
        default=(),
        examples=[["zone*hour"]],
        description="Inputs made of several fields, comma-separated: `zone*hour` is a category "
        "for each zone and hour. Its parts are fields, whose values are taken as "
        "texts, and `hour` and `weekday` of the event's time.",
    )
    types: JsonObject = Field(
        default_factory=dict,
        examples=[{"temp": "number"}],
        description="Types of fields by name or pattern: `number`, `amount` ($1,204.50, 5 km), "
        "`category`, `boolean`, `time`, `duration`, `text` (its words and pairs of "
        "words are categories) or `auto`. `auto` reads text that looks like a "
        "number as a number, with a warning, and other text as a category.",
    )
    null_values: TextList = Field(
        default=NULLS,
        description="Texts that mean a missing value, comma-separated. If the first is empty, "
        "the empty text is one of them.",
    )


def aggregate_of(given: Any) -> Aggregate:
    """Return the aggregate that a table of the settings describes.

    Raises
    ------
    ValueError
        When it describes none.

    """
    known = ("by", "how", "of", "over")
    if not isinstance(given, dict):
        raise ValueError(f"expected a table of {', '.join(known)}, not {given!r:.60}")
    for key in given:
        if key not in known:
            raise ValueError(f"{key!r} is not among {', '.join(known)}{did_you_mean(key, known)}")
    by = [by] if isinstance(by := given.get("by", []), str) else by
    if not isinstance(by, list | tuple) or not all(isinstance(each, str) for each in by):
        raise ValueError(f"by: {by!r} must be the name of a field, or a list of names")
    try:
        seconds = None if (over := given.get("over")) is None else seconds_of(over)
    except ValueError as error:
        raise ValueError(f"over: {error}") from None
    return Aggregate(given.get("how", ""), tuple(by), given.get("of"), seconds)


def seconds_of(span: Any) -> float:
    """Return the seconds of a time such as `1h`; a ValueError says what is wrong with it."""
    seconds = Horizon.of(str(span)).seconds
    if seconds is None:
        raise ValueError(f"{span!r} has no unit: give a time such as 30min, 1h or 7d")
    return seconds


class ForecastSettings(SettingsGroup):
    """What is forecast, and inputs made from earlier records."""

    horizon: Annotated[TextList, "AHEAD,..."] = Field(
        default=(),
        description="Forecasts: how far ahead, comma-separated, such as `1,6,24` (records) or "
        "`1h,6h,24h` (`s`, `min`, `h`, `d`). The label of an event is the later "
        "value of `target`. Each horizon has its own learner, scores and "
        "predictions.",
    )
    series: TextList = Field(
        default=(),
        description="Fields that tell several series of one stream apart, comma-separated, such "
        "as `shop,article`. Horizons, lags, means and baselines are then of a "
        "record's own series. One learner learns all, relative to the level of "
        "each.",
    )
    forecast: Literal["value", "change"] = Field(
        default="value",
        description="What is learned with `horizon`: the later `value` of `target`, or its "
        "`change` from the present value, which suits series that grow. Predictions "
        "and scores are of the value in both cases.",
    )
    lags: JsonObject = Field(
        default_factory=dict,
        examples=[{"temp": 24, "load": [1, 24, 168]}],
        description="Inputs made from earlier values of columns: how many records back, as a "
        "list, or one number for all up to it. `temp.lag_24` is then an input. "
        "`target` can have lags with `horizon`.",
    )
    rolling_means: JsonObject = Field(
        default_factory=dict,
        examples=[{"temp": [24, 168]}],
        description="Inputs made from means over the latest records: a list of how many. "
        "`temp.mean_24` is then an input.",
    )

    aggregates: JsonObject = Field(
        default_factory=dict,
        examples=[{"card_n_1h": {"by": "card", "over": "1h", "how": "count"}}],
        description="Inputs made from earlier events of the same key, by the name of the input: "
        "`by`, the fields that are the key (`@key`: the record's own); `how`, such "
        "as `count`, `mean` or `since_last`; `of`, the field; `over`, the window "
        "(`1h`, `7d`).",
    )
    forget_keys_after: str | None = Field(
        default=None,
        examples=["90d"],
        description="How long after its last event a key of `aggregates` is forgotten, by the "
        "times of events (`12h`, `90d`).",
    )

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

    @field_validator("series")
    @classmethod
    def _check_series(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if "" in names or len(set(names)) < len(names):
            raise ValueError("a name of a field is empty, or given twice")
        return names

    @field_validator("aggregates")
    @classmethod
    def _check_aggregates(cls, wanted: dict[str, Any]) -> dict[str, Any]:
        for name, each in wanted.items():
            try:
                aggregate_of(each)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        return wanted

    @field_validator("forget_keys_after")
    @classmethod
    def _check_span(cls, span: str | None) -> str | None:
        if span is not None:
            seconds_of(span)
        return span

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


class LabelSettings(SettingsGroup):
    """Labels that come later than their event."""

    pending_events: int | None = Field(
        default=None,
        ge=1,
        description="Number of predicted events that may wait for their label, which a later "
        "record with their id brings. When full, the oldest expires. Set it with "
        "`labels`: without it, late labels become dead letters.",
    )
    pending_seconds: Seconds | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="How long an event waits for its label, by the times of records, before it "
        "expires.",
    )
    pending_expired: Literal["count", "write", "learn"] = Field(
        default="count",
        description="What happens to an expired event: `count` counts it; `write` also writes "
        "it to the dead letters; `learn` learns it with `pending_label`, if it "
        "waited for `pending_seconds`.",
    )
    pending_label: float | bool | str | None = Field(
        default=None,
        description="The label that `pending_expired = learn` assumes, such as 0. For a class "
        "that is the text 0, write `'\"0\"'`.",
    )
    labels: Address | None = Field(
        default=None,
        description="A second log, of labels: `kafka:TOPIC` or `sqlite:PATH#TOPIC`. Each label "
        "is joined by its id with a waiting event. Unset: labels are in the source.",
    )
    labels_settings: JsonObject = Field(
        default_factory=dict,
        examples=[{"target": "minutes", "id_field": "order"}],
        description="Settings that differ for the log of labels: `target`, `id_field`, "
        "`time_field`, `weight_field`, `types`, `null_values`, `decimal`, "
        "`date_order`, `format`, `registry`, `registry_options`, "
        "`registry_secrets`, `decoder`, `where`, `envelope`, `bootstrap`, "
        "`kafka_options`, `kafka_secrets`, `kafka_client`. Empty text: labels have "
        "no such field.",
    )
    recent_ids: int | None = Field(
        default=None,
        ge=1,
        description="Number of recent event and label ids to remember. Records that repeat one "
        "are skipped.",
    )

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


def _checked_levels(levels: tuple[float, ...]) -> tuple[float, ...]:
    if wrong := [level for level in levels if not 0.0 < level < 1.0]:
        raise ValueError(f"a level lies between 0 and 1, not {wrong[0]:g}")
    if len(set(levels)) < len(levels):
        raise ValueError("a level is given twice")
    return levels


Levels = Annotated[NumberList, AfterValidator(_checked_levels)]


class LearnerSettings(SeedSettings):
    """The learner."""

    learner: Annotated[str, "NAME"] = Field(
        default="infinite-layer",
        description="`infinite-layer`, or `infinite-layer-classifier` if labels are classes: "
        "the most accurate. Others: `package.module:attribute` of a River learner "
        "or pipeline, or of a function that returns one; `shrinking-gradient`, the "
        "paper's algorithm; `pool`, its steps on a fixed pool of hidden units. "
        "Theorem 1 covers neither's defaults.",
    )
    profile: Literal["accurate", "fast"] | None = Field(
        default=None,
        description="Profile of the default learners: `accurate`, or `fast`, which learns "
        "several times as many events per second and is somewhat less accurate. "
        "Unset: `accurate`.",
    )
    learner_options: JsonObject = Field(
        default_factory=dict,
        examples=[{"budget": 500}],
        description="Arguments of the learner. The page of settings lists all of them at its end.",
    )
    prediction_quantiles: Annotated[
        Levels, AfterValidator(lambda levels: tuple(sorted(levels)))
    ] = Field(
        default=(),
        examples=[[0.1, 0.5, 0.9]],
        description="Levels of the quantiles published with each prediction, comma-separated: "
        "the label exceeds that of `0.9`, the p90, in 10 % of the cases.",
    )
    class_weights: JsonObject = Field(
        default_factory=dict,
        examples=[{"true": 10}],
        description="Weights of classes, by class as text (`true`, `3`, `cat`); other classes "
        "have weight 1. They weigh learning, losses, errors, baselines and "
        "calibration. A learner that takes no weights is refused.",
    )

    @field_validator("class_weights")
    @classmethod
    def _check_weights(cls, weights: dict[str, Any]) -> dict[str, float]:
        for name, weight in weights.items():
            is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
            if not (is_number and 0.0 <= weight < inf):
                raise ValueError(f"a weight is a finite number and at least 0: {name} = {weight!r}")
        return {name: float(weight) for name, weight in weights.items()}


class HistorySettings(SettingsGroup):
    """Files that are learned before a log."""

    warm_start: TextList = Field(
        default=(),
        description="History files, comma-separated (`.csv`, `.jsonl`, also with `.gz`, "
        "`.parquet`). A run without a snapshot learns them in this order, and then "
        "continues with the log at `start`.",
    )
    warm_start_fields: JsonObject = Field(
        default_factory=dict,
        description="Settings that differ for the history files: `target`, `features`, "
        "`ignore`, `id_field`, `time_field`, `time_features`, `types`, "
        "`null_values`, `weight_field`, `decimal`, `date_order`, `separator`, "
        "`decoder`, `where`, `envelope`. Empty text: the files have no such field.",
    )


class KeySettings(SettingsGroup):
    """A model for each key."""

    by_key: FieldName | None = Field(
        default=None,
        min_length=1,
        description="Field that holds the key, such as `customer`, or `@key` for the record's "
        "own key. Each key has a small model on top of the one in `learner`, which "
        "all keys train. Unset: one model for all.",
    )
    keys_in_memory: int = Field(
        default=1_000_000,
        ge=1,
        description="Number of keys whose models, or `aggregates`, are in memory, about 1 kB "
        "each; all keys are in a file beside the snapshots. Without `snapshots`, "
        "aggregates of more keys are forgotten.",
    )


class ContestSettings(SettingsGroup):
    """Challengers of the learner."""

    challengers: JsonObject = Field(
        default_factory=dict,
        examples=[{"linear": {"learner": "package.module:attribute"}}],
        description="Other learners of the same events, by name: each with `learner` and, "
        "optionally, `learner_options`, `seed` and `on_failure` (`skip`, `restart` "
        "or `stop`). `learner` predicts until a challenger is promoted.",
    )
    promotion: Literal["never", "evidence"] = Field(
        default="never",
        description="Whether a better challenger becomes champion without a command: `never`, "
        "or by `evidence`, a confidence sequence.",
    )
    mixture: bool = Field(
        default=False,
        description="Add a contender, `mixture`: the weighted mean of all others.",
    )


class SnapshotSettings(SettingsGroup):
    """What is stored of a learner."""

    snapshots: Folder | None = Field(
        default=None,
        description="Folder for snapshots: each learner's state and its position in the log. A "
        "run resumes from the newest snapshot, even after a crash. Unset: each run "
        "starts over.",
    )
    snapshot_seconds: Seconds = Field(
        default=10.0, gt=0, description="Most seconds between two snapshots."
    )
    snapshot_keep: int = Field(default=3, ge=1, description="Number of snapshots to keep.")
    snapshot_pickle: bool = Field(
        default=False,
        description="Save, publish and load learners from outside this package as pickles. "
        "Loading a pickle runs code: use only if nobody else can write to the "
        "folder.",
    )
    publish: Folder | None = Field(
        default=None,
        description="Folder for published versions of the learners, with which other processes "
        "predict while learning continues.",
    )
    version_keep: int = Field(
        default=24,
        ge=0,
        description="Number of published versions to keep.",
    )
    version_seconds: Seconds = Field(
        default=3600.0,
        gt=0,
        description="Least seconds between two versions that are kept.",
    )
    version_days: float | None = Field(
        default=None,
        gt=0,
        description="Days after which a kept version makes room for a newer one. Unset: never.",
    )


class OutputSettings(SettingsGroup):
    """What is written."""

    predictions: Address | None = Field(
        default=None,
        description="Where predictions go: `kafka:TOPIC`, `sqlite:PATH#TOPIC`, a file, `-` for "
        "standard output, or `package.module:attribute` for your own sink.",
    )
    prediction_intervals: Levels = Field(
        default=(),
        description="Levels of the intervals published with each prediction, comma-separated: "
        "an interval of `0.9` contains the label in 90 % of the cases.",
    )
    prediction_contributions: int = Field(
        default=0,
        ge=0,
        description="Number of inputs to publish with each prediction, with their "
        "contributions, largest first. It costs several hundred predictions per "
        "event.",
    )
    prediction_challengers: bool = Field(
        default=False,
        description="Publish what each challenger predicts, beside each prediction.",
    )
    transactional: bool | None = Field(
        default=None,
        description="Publish predictions in transactions with their positions: readers of "
        "committed records see each prediction exactly once. Otherwise predictions "
        "are published at least once, and repeats are identical. Needs a log as "
        "source and for predictions. Unset: on for `sqlite:PATH`, otherwise off.",
    )
    dead_letters: Address | None = Field(
        default=None,
        description="Where dead letters (records that could not be learned) go: `kafka:TOPIC`, "
        "`sqlite:PATH#TOPIC` or a file. Unset: for a log, the topic "
        "`<topic>-dead-letters` beside its own; otherwise the file "
        "`dead-letters.jsonl`.",
    )


class ServerSettings(SettingsGroup):
    """What the learner's HTTP server shows."""

    metrics_host: str = Field(default="127.0.0.1", description="Address that serves /metrics.")
    metrics_port: Port | None = Field(
        default=9108, description="Port that serves /metrics; 0 picks a free one."
    )
    live: bool = Field(
        default=True,
        description="Serve /live beside /metrics: the data of the page, with ids, predictions "
        "and labels of the latest events.",
    )
    page_port: Port | None = Field(
        default=None,
        description="Port of a page that shows the learner in a browser, on `metrics_host`; 0 "
        "picks a free one. Needs the extra `iln-stream[api]`.",
    )


class MetricSettings(SettingsGroup):
    """What is measured, and who else is told."""

    window: int = Field(
        default=1000, ge=1, description="Number of labelled events in the windowed metrics."
    )
    model: str | None = Field(
        default=None,
        description="Value of the metric label `model`. Unset: stream and learner, such as "
        "`iln-events/infinite-layer`.",
    )
    target_unit: str | None = Field(
        default=None,
        max_length=20,
        examples=["MW"],
        description="Unit of the label, for the page.",
    )
    listeners: Attribute | None = Field(
        default=None,
        description="Your own listeners: `package.module:attribute`, comma-separated.",
    )


class LoggingSettings(SettingsGroup):
    """The log of the program."""

    log_level: LogLevel = "info"
    log_format: LogFormat = "text"


class RecordSettings(FormatSettings, FieldSettings, ForecastSettings, KeySettings):
    """How records become examples."""


class LogSettings(KafkaSettings, FormatSettings, FieldSettings):
    """How to reach a log, and which field of its records is what."""


class StreamSettings(SourceSettings, LogSettings, RecordSettings, LabelSettings, OutputSettings):
    """Streams that are read and written, and how records become examples."""


class ModelSettings(LearnerSettings, ContestSettings, MetricSettings, RecordSettings):
    """The learner, and its challengers."""


class LoopSettings(StreamSettings, ModelSettings, HistorySettings):  # type: ignore[misc]
    """What a loop is made of: all but snapshots, the HTTP server and the log of the program."""


class Settings(LoopSettings, SnapshotSettings, ServerSettings, LoggingSettings, CommandSettings):
    """Settings of the learner. Flags override variables, which override the TOML file."""

    other_tables = ("api", "page", "spark")  # of `iln-stream serve`, `... page`, the Spark job
    secret = (
        *("kafka_options", "kafka_secrets", "registry", "registry_options", "registry_secrets"),
        "labels_settings",
    )
    removed: ClassVar[Mapping[str, str]] = {
        "accept_loss": "give the flag --accept-loss to the one `run` or `rebuild` that needs it",
        "broker_wait": "unset it; a command waits 30 s for brokers, and a supervisor can start it "
        "again",
        "early_labels": "unset it; 1,000 labels may wait for their event",
        "pending_bytes": "set pending_events, which bounds the memory, too",
        "promotion_error": "unset it; the probability of any false promotion by evidence is 0.05",
        "publish_seconds": "unset it; versions are published 0.5 s apart",
        "snapshot_events": "set snapshot_seconds",
        "when_refused": "unset it; a refused run ends, and its supervisor says how often it is "
        "started again (Docker and Kubernetes: with growing pauses; systemd: StartLimitBurst)",
    }


_GROUPS: dict[str, tuple[type[SettingsGroup], ...]] = {
    "Source": (SourceSettings,),
    "Kafka": (KafkaSettings,),
    "Format of records": (FormatSettings,),
    "Fields": (FieldSettings,),
    "Forecasts": (ForecastSettings,),
    "Late labels": (LabelSettings,),
    "Learner": (LearnerSettings, SeedSettings, HistorySettings, KeySettings),
    "Champion and challengers": (ContestSettings,),
    "State": (SnapshotSettings,),
    "Predictions and dead letters": (OutputSettings,),
    "Metrics, page and log": (ServerSettings, MetricSettings, LoggingSettings),
}
"""Headings of the groups in documents and in `--help`."""

_BASIC = (
    *("source", "bootstrap", "start", "target", "id_field", "time_field", "time_features"),
    *("ignore", "types", "horizon", "pending_events", "learner", "snapshots", "predictions"),
    "page_port",
)
"""What `run --help` shows: the source, what `inspect-source` proposes, what is learned and kept."""

SETTING_GROUPS = {"Basic": _BASIC} | {
    heading: tuple(name for each in groups for name in each.__annotations__ if name not in _BASIC)
    for heading, groups in _GROUPS.items()
}
"""Names of settings by heading; each setting is in one group, the basic ones in the first."""

GROUP_OF = {name: group for group, names in SETTING_GROUPS.items() for name in names}


def default_of(name: str) -> Any:
    """Return the default of a setting."""
    return Settings.model_fields[name].get_default(call_default_factory=True)


def unusual(settings: SettingsGroup, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of these settings that are not the default, by name."""
    values = {name: getattr(settings, name) for name in names}
    return {name: value for name, value in values.items() if value != default_of(name)}


def own_values(
    name: str, given: Mapping[str, Any], allowed: Sequence[str], may_be_absent: Collection[str]
) -> dict[str, Any]:
    """Return the checked values of a setting that has settings of another stream.

    Parameters
    ----------
    name
        The setting, for errors.
    given
        Its value.
    allowed
        Settings that may differ.
    may_be_absent
        Those that empty text makes None.

    Raises
    ------
    SettingsError
        When one is invalid or not allowed.

    """
    if not given:
        return {}
    if strangers := sorted(given.keys() - set(allowed)):
        raise SettingsError(f"{name}: {strangers[0]} is not one of {', '.join(allowed)}")
    absent = [each for each in may_be_absent if given.get(each, ".") in ("", None)]
    try:
        checked = Settings.load(**{k: v for k, v in given.items() if k not in absent})
    except SettingsError as error:
        raise SettingsError(f"{name}: {error}") from error
    own = {each: getattr(checked, each) for each in given if each not in absent}
    return {**own, **dict.fromkeys(absent)}
