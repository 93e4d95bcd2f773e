"""Which partitions each learner reads, and its seed."""

import hashlib
from typing import NamedTuple

from iln_stream.prequential import Horizon
from iln_stream.service.labels import label_stream
from iln_stream.service.settings import Settings, SettingsError
from iln_stream.streams import Resume, Scheme, Start, label_partition

SERIES = ("horizon", "lags", "rolling_means")
"""Settings that take the records of a learner as one series."""


class Reader(NamedTuple):
    """The partitions that one learner reads.

    Parameters
    ----------
    name
        Identifies the reader within its stream, in folder names and transactional ids.
    partitions
        Partition numbers, ascending.
    seed
        Seed of the learner.
    labels
        Partitions of the log of labels, by `label_partition`, if there is one.
    horizon
        How far ahead it forecasts; None: it does not.
    writes_unreadable
        Whether it writes the records that can't be read to the dead letters: of the readers of
        several horizons only one does.

    """

    name: str
    partitions: tuple[int, ...]
    seed: int
    labels: tuple[int, ...] = ()
    horizon: str | None = None
    writes_unreadable: bool = True

    @property
    def all_partitions(self) -> tuple[int, ...]:
        """Partitions of both logs, those of the events first."""
        return self.partitions + self.labels


def readers(settings: Settings, stream: Scheme) -> list[Reader]:
    """Return the readers that the settings describe.

    Raises
    ------
    SettingsError
        When `start` is an offset and there are several partitions, or each learner has one, and the
        log of labels has another number of them; when a series is spread over several partitions,
        or standard input should be read for several horizons.

    """
    found = _readers_of_partitions(settings, stream)
    series = next((each for each in SERIES if getattr(settings, each)), None)
    if series is not None and any(len(each.partitions) > 1 for each in found):
        raise SettingsError(
            f"{series}: a series is in the order of one partition, and several are read by one "
            "learner: set learner_per = partition, or name one of --partitions"
        )
    if len(settings.horizon) > 1 and stream.address == "-":
        raise SettingsError("horizon: standard input can be read once: give a single horizon")
    horizons = settings.horizon or (None,)
    # A record without a time can be read for a number of records, but not for a time.
    strictest = next((h for h in horizons if h and Horizon.of(h).seconds), horizons[0])
    return [
        each._replace(
            name=f"{each.name}{kind_of(horizon)}",
            horizon=horizon,
            writes_unreadable=horizon == strictest,
        )
        for each in found
        for horizon in horizons
    ]


def kind_of(horizon: str | None) -> str:
    """Return the end of the names that belong to a horizon: of models, folders, committed offsets.

    Examples
    --------
    >>> from iln_stream.service.readers import kind_of
    >>> kind_of("24h"), kind_of(None)
    ('@24h', '')

    """
    return "" if horizon is None else f"@{horizon}"


def settings_of(settings: Settings, reader: Reader) -> Settings:
    """Return the settings of a reader: those of the run, with its horizon alone."""
    if reader.horizon is None:
        return settings
    return settings.model_copy(update={"horizon": (reader.horizon,)})


def _readers_of_partitions(settings: Settings, stream: Scheme) -> list[Reader]:
    if not stream.is_log:
        return [Reader("0", (0,), settings.seed)]
    chosen = chosen_partitions(settings, stream)
    if isinstance(settings.start, int) and len(chosen) > 1:
        raise SettingsError(
            f"start = {settings.start}: an offset needs a single partition, and {len(chosen)} are "
            "read: give earliest, latest or a time, or name one of --partitions"
        )
    labels = label_stream(settings)
    if settings.learner_per == "partition" and labels is not None:
        _check_same_number(stream, labels)
        return [
            Reader(str(p), (p,), seed_of(settings.seed, p), (label_partition(p),)) for p in chosen
        ]
    of_labels = () if labels is None else tuple(map(label_partition, labels.partitions()))
    if len(chosen) == 1 or settings.learner_per == "partition":
        return [Reader(str(p), (p,), seed_of(settings.seed, p), of_labels) for p in chosen]
    name = "all" if settings.partitions == "all" else "+".join(map(str, chosen))
    return [Reader(name, chosen, settings.seed, of_labels)]


def chosen_partitions(settings: Settings, stream: Scheme) -> tuple[int, ...]:
    """Return the partitions of a log that the settings choose, ascending."""
    if settings.partitions == "all":
        return tuple(stream.partitions())
    return tuple(sorted({int(number) for number in settings.partitions.split(",")}))


def _check_same_number(stream: Scheme, labels: Scheme) -> None:
    """Refuse labels that may be in another partition than their events."""
    n_events, n_labels = len(stream.partitions()), len(labels.partitions())
    if n_events != n_labels:
        raise SettingsError(
            f"learner_per = 'partition': the learner of a partition reads the labels in the "
            f"partition of the same number, but {stream.address} has {n_events} and "
            f"{labels.address} {n_labels}: give both topics as many, keyed alike, or set "
            "learner_per to topic"
        )


def start_of(settings: Settings) -> Start | None:
    """Return where to start reading each partition of a log; None: unset."""
    if isinstance(settings.start, int):
        return Resume(settings.start, None, settings.accept_loss)
    return settings.start


def seed_of(seed: int, partition: int) -> int:
    """Return the seed of a partition's learner: `seed` for partition 0, else a hash of both.

    So learners of two partitions draw independently, and each draws the same in any process.

    Examples
    --------
    >>> from iln_stream.service.readers import seed_of
    >>> seed_of(7, 0), seed_of(7, 1) == seed_of(8, 1)
    (7, False)

    """
    if partition == 0:
        return seed
    digest = hashlib.sha256(f"iln_stream seed {seed} partition {partition}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
