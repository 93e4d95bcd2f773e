"""Snapshots: what a crash would cost."""

from grafana_foundation_sdk.models.units import BytesIEC, CountsPerSecond, Seconds, Short
from graph import Graph, Query, rate, selected

GRAPHS = (
    Graph(
        "Age of the snapshot",
        "Time since the newest stored snapshot was taken. Empty without the setting snapshots.\n\n"
        "Healthy: below twice the setting snapshot_seconds while events arrive; without events a "
        "rise is harmless.",
        Seconds,
        (Query(f"time() - {selected('iln_snapshot_last_success_timestamp_seconds')}"),),
        300.0,
    ),
    Graph(
        "Records since the snapshot",
        "Offsets that a run would read again after a crash.\n\nHealthy: a sawtooth that falls to "
        "about 0 with each snapshot.",
        Short,
        (Query(selected("iln_snapshot_lag_records")),),
    ),
    Graph(
        "Refused snapshots",
        "Snapshots per second not written because the learner's state was not finite.\n\n"
        "Healthy: 0. Above: the run resumes from the last good snapshot; look at the reinitialised "
        "parts.",
        CountsPerSecond,
        (Query(rate("iln_snapshots_refused_total")),),
    ),
    Graph(
        "Size of the snapshot",
        "Size of the last snapshot.\n\nHealthy: level once the learner's budgets are full.",
        BytesIEC,
        (Query(selected("iln_snapshot_size_bytes")),),
    ),
    Graph(
        "Time to store a snapshot",
        "Time to flush predictions and dead letters and to write the last snapshot, while learning "
        "continues.\n\nHealthy: well below the setting snapshot_seconds. Above: the disk or a "
        "broker is slow, and snapshots are less frequent.",
        Seconds,
        (Query(selected("iln_snapshot_duration_seconds")),),
    ),
)
