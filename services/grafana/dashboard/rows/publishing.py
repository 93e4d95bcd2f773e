"""Published versions."""

from grafana_foundation_sdk.models.units import CountsPerSecond, Seconds
from graph import Graph, Query, rate, selected

GRAPHS = (
    Graph(
        "Age of the published version",
        "Time since the learner was copied for the last published version. Empty without the "
        "setting publish, and until a restarted run has caught up with its version.\n\nHealthy: "
        "below a second while events arrive; without events a rise is harmless.",
        Seconds,
        (Query(f"time() - {selected('iln_published_timestamp_seconds')}"),),
    ),
    Graph(
        "Pause to publish",
        "Longest time for which learning stopped to copy the learner, of the last 100 versions."
        "\n\nHealthy: a few milliseconds. A learner published as a pickle may take longer, and is "
        "then published less often.",
        Seconds,
        (Query(selected("iln_publish_pause_seconds")),),
    ),
    Graph(
        "Time to write a version",
        "Time to write the last version, while learning continues.\n\nHealthy: well below "
        "half a second. Above: the disk is slow, and versions are less frequent.",
        Seconds,
        (Query(selected("iln_publish_duration_seconds")),),
    ),
    Graph(
        "Versions that failed",
        "Versions per second that could not be published.\n\nHealthy: 0. Above: the disk is full "
        "or not writable, or the learner's state was not finite; the log has the reason.",
        CountsPerSecond,
        (Query(rate("iln_publish_failures_total")),),
    ),
)
