"""What Prometheus sees of snapshots: how much a crash would cost."""

import datetime as dt
from collections.abc import Callable, Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

from iln_stream.listeners.family import Family
from iln_stream.listeners.snapshotter import Snapshotter
from iln_stream.listeners.watched import Watched
from iln_stream.snapshots import Header


class SnapshotMetrics(Collector):
    """Every learner's snapshots, as Prometheus metrics.

    Parameters
    ----------
    registry
        Where the metrics appear.

    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._watched: list[tuple[Watched, Snapshotter]] = []
        registry.register(self)

    def watch(self, watched: Watched, snapshotter: Snapshotter) -> None:
        """Let the snapshots of a learner that is watched appear beside it."""
        self._watched.append((watched, snapshotter))

    def collect(self) -> Iterator[Metric]:
        """Yield every metric with its values at this moment; what is not yet has no sample."""
        for family in _FAMILIES:
            yield family.collected((watched.labels, each) for watched, each in self._watched)


def _of_newest(read: Callable[[Header], float]) -> Callable[[Snapshotter], float | None]:
    def read_newest(snapshotter: Snapshotter) -> float | None:
        newest = snapshotter.saver.newest
        return None if newest is None else read(newest)

    return read_newest


_FAMILIES: tuple[Family[Snapshotter], ...] = (
    Family(
        GaugeMetricFamily,
        "iln_snapshot_last_success_timestamp_seconds",
        "When the newest snapshot that is stored was taken.",
        _of_newest(lambda header: dt.datetime.fromisoformat(header.saved_at).timestamp()),
    ),
    Family(
        GaugeMetricFamily,
        "iln_snapshot_offset",
        "Where a run would go on from the newest snapshot that is stored.",
        _of_newest(lambda header: header.next_offset),
    ),
    Family(
        GaugeMetricFamily,
        "iln_snapshot_lag",
        "Offsets from there to the learner, which a crash would have to read again.",
        lambda snapshotter: snapshotter.lag,
    ),
    Family(
        GaugeMetricFamily,
        "iln_snapshot_size_bytes",
        "Size of the last snapshot that this process stored.",
        lambda snapshotter: snapshotter.saver.n_bytes,
    ),
    Family(
        GaugeMetricFamily,
        "iln_snapshot_duration_seconds",
        "Time to store it beside the learning, waiting for predictions and dead letters included.",
        lambda snapshotter: snapshotter.saver.seconds,
    ),
)
