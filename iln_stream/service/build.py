"""The composition root: from settings to the objects they name. Only here are they wired."""

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from river import base, datasets

from iln_stream.errors import SinkError, SourceError
from iln_stream.learners import (
    InfiniteLayerRegressor,
    Pool,
    ScaledTarget,
    ShrinkingGradient,
    WinsorisedScaler,
)
from iln_stream.service.partitions import first_partition
from iln_stream.service.settings import Settings, SettingsError
from iln_stream.streams import (
    CsvSource,
    JsonLinesSink,
    JsonLinesSource,
    KafkaPartition,
    KafkaSink,
    KafkaSource,
    RiverDatasetSource,
    Sink,
    Source,
    Start,
    TransactionalSink,
    require_start,
)

BOUNDED: dict[str, Any] = {"budget": 1000, "variance": 0.005, "max_draws": 5000}
"""What the service changes in Algorithm 1's defaults, so that memory and time stay bounded."""


def shrinking_gradient(seed: int, **options: Any) -> ScaledTarget:
    """Return the paper's learner: Algorithm 1 behind online scaling of x and y."""
    return ScaledTarget(
        WinsorisedScaler() | ShrinkingGradient(**{**BOUNDED, "seed": seed, **options})
    )


def pool(seed: int, size: int = 512, **options: Any) -> ScaledTarget:
    """Return Algorithm 1 on a pool of features, behind online scaling of x and y.

    With a step that doesn't fall, it follows a stream that drifts.
    """
    return ScaledTarget(
        WinsorisedScaler()
        | ShrinkingGradient(estimator=Pool(size), **{"step": 0.6, "seed": seed, **options})
    )


NAMED: dict[str, Callable[..., base.Regressor]] = {
    "infinite-layer": InfiniteLayerRegressor,
    "shrinking-gradient": shrinking_gradient,
    "pool": pool,
}
"""The learners that a setting can name."""


def build_learner(settings: Settings, seed: int | None = None) -> base.Regressor:
    """Return the regressor that `learner` names, with the settings' seed or another."""
    seed = settings.seed if seed is None else seed
    try:
        if settings.learner in NAMED:
            return NAMED[settings.learner](**{"seed": seed, **settings.learner_options})
        return _imported(settings.learner, settings.learner_options)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"learner, learner_options: {error}") from error


def _imported(path: str, options: dict[str, Any]) -> base.Regressor:
    module, _, attribute = path.partition(":")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)  # a module beside the user, as with `python -m`
    try:
        found = getattr(importlib.import_module(module), attribute or "")
    except (ImportError, AttributeError) as error:
        raise SettingsError(
            f"learner = {path!r}: {error}; give {', '.join(NAMED)} or package.module:attribute"
        ) from error
    if not callable(found) and options:
        raise SettingsError(f"learner_options: {path} is made already and takes none")
    model = found(**options) if callable(found) else found
    # River makes a pipeline an instance of its last step's class.
    if not isinstance(model, base.Regressor):
        raise SettingsError(f"learner = {path!r} is no River regressor: {type(model).__name__}")
    return model


def build_log(
    settings: Settings, partition: int, start: Start | None, stop_at: int | None = None
) -> KafkaPartition:
    """Return one partition of the topic, read from `start` on, and at most to `stop_at`."""
    return _kafka_client(settings)(
        settings.topic,
        partition,
        bootstrap=settings.bootstrap,
        start=start,
        stop_at_end=settings.stop_at_end,
        stop_at=stop_at,
        options=settings.kafka_options,
    )


def _kafka_client(settings: Settings) -> Callable[..., KafkaPartition]:
    if settings.kafka_client == "kafka-python":
        return KafkaSource
    try:
        from iln_stream.streams.kafka.confluent import ConfluentSource
    except ImportError as error:
        raise SettingsError(
            "kafka_client = 'confluent' needs confluent-kafka: pip install 'iln-stream[confluent]'"
        ) from error
    return ConfluentSource


def build_source(settings: Settings) -> Source:
    """Return the source that `source` names; of Kafka, the first of its partitions."""
    kind, _, name = settings.source.partition(":")
    if settings.source == "kafka":
        if settings.limit is not None:
            raise SettingsError("limit: a Kafka source has none; stop_at_end ends one")
        return build_log(settings, first_partition(settings), settings.start)
    if settings.source == "-":
        if sys.stdin is None:
            raise SourceError("source = '-': standard input is closed; name a file, or open it")
        return JsonLinesSource(sys.stdin.buffer, stream="stdin", limit=settings.limit)
    if kind in ("river", "synthetic"):
        return RiverDatasetSource(
            river_dataset(kind, name, settings.seed), stream=name, limit=settings.limit
        )
    if settings.source.endswith(".csv"):
        if settings.target is None:
            raise SettingsError(f"target: say which column of {settings.source} is the label")
        return CsvSource(settings.source, settings.target, limit=settings.limit)
    if settings.source.endswith(".jsonl"):
        return JsonLinesSource(Path(settings.source), limit=settings.limit)
    raise SettingsError(
        f"source = {settings.source!r}: give kafka, a .jsonl or .csv file, -, river:NAME or "
        "synthetic:NAME"
    )


def river_dataset(kind: str, name: str, seed: int) -> Any:
    """Return River's data set or synthetic stream of that name."""
    module = datasets if kind == "river" else datasets.synth
    names = [n for n in vars(module) if n[:1].isupper()]
    if name not in names:
        raise SettingsError(f"source = {kind}:{name}: River has {', '.join(sorted(names))}")
    make = getattr(module, name)
    # Some streams have two: of the concept, and of the draws from it.
    seeds = [p for p in inspect.signature(make).parameters if p.split("_")[0] == "seed"]
    dataset = make(**dict.fromkeys(seeds, seed))
    if not getattr(dataset, "is_downloaded", True):
        raise SourceError(
            f"river:{name} is not bundled with River and would have to be downloaded: call "
            f"river.datasets.{name}().download() first"
        )
    return dataset


def build_sink(address: str, settings: Settings) -> Sink:
    """Return the sink at `address`: `kafka:TOPIC`, a file, or `-` for standard output."""
    if address.startswith("kafka:"):
        return KafkaSink(
            address.removeprefix("kafka:"),
            bootstrap=settings.bootstrap,
            options=settings.kafka_options,
        )
    if address != "-":
        return JsonLinesSink(Path(address))
    if sys.stdout is None:
        raise SinkError("can't write to -: standard output is closed; name a file, or open it")
    return JsonLinesSink(sys.stdout.buffer)


def build_transactional_sink(settings: Settings, source: KafkaPartition) -> TransactionalSink:
    """Return the sink of one partition's predictions."""
    assert settings.predictions is not None
    return TransactionalSink(
        settings.predictions.removeprefix("kafka:"),
        (source.stream, source.partition),
        source.topic_id,
        bootstrap=settings.bootstrap,
        options=settings.kafka_options,
    )


def check(settings: Settings) -> None:
    """Refuse what no broker has to be asked about.

    Raises
    ------
    IlnError
        Naming the setting.

    """
    check_addresses(settings)
    build_learner(settings)
    if settings.transactional and not (
        settings.source == "kafka" and (settings.predictions or "").startswith("kafka:")
    ):
        raise SettingsError("transactional: needs a Kafka source, and predictions = kafka:TOPIC")
    if settings.source == "kafka" and settings.snapshots is None:
        require_start(settings.topic, settings.start)


def check_addresses(settings: Settings) -> None:
    """Refuse to read what is being written, or to write two kinds of messages to one place."""
    source = f"kafka:{settings.topic}" if settings.source == "kafka" else settings.source
    used = {_place(source): "source"}
    outputs = {"predictions": settings.predictions, "dead_letters": dead_letters_address(settings)}
    for name, address in outputs.items():
        if address is None or address == "-":
            continue
        other = used.setdefault(_place(address), name)
        if other != name:
            raise SettingsError(f"{name} = {address!r} is also the {other}: choose another place")


def _place(address: str) -> str:
    return address if ":" in address or address == "-" else str(Path(address).resolve())


def dead_letters_address(settings: Settings) -> str:
    """Return where dead letters go, said or not: nothing is ever dropped."""
    if settings.dead_letters is not None:
        return settings.dead_letters
    if settings.source == "kafka":
        return f"kafka:{settings.topic}-dead-letters"
    return "dead-letters.jsonl"
