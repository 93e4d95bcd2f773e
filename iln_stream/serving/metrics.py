"""Metrics of the API."""

from collections.abc import Iterable

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.registry import CollectorRegistry

from iln_stream._version import __version__
from iln_stream.records.decoding import NumbersAsText
from iln_stream.records.messages import Inputs

ROUTES = frozenset(
    (
        *("/predict", "/events", "/feedback", "/promote", "/model"),
        *("/metrics", "/live", "/ready", "/openapi.json"),
    )
)
SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class ApiMetrics:
    """Counts requests, refusals and appended events."""

    def __init__(self, registry: CollectorRegistry) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each
        self.registry = registry
        build = Gauge("iln_api_build_info", "1, with the release.", ("version",), registry=registry)
        build.labels(__version__).set(1.0)
        self._requests = Counter(
            "iln_api_requests", "Requests.", ("route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "iln_api_request_duration_seconds",
            "Time from a request's headers to its answer.",
            ("route",),
            buckets=SECONDS,
            registry=registry,
        )
        self._kept: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._refusals = Counter(
            "iln_api_refusals", "Requests refused, by reason.", ("reason",), registry=registry
        )
        self.predicted = Counter("iln_api_predictions", "Predictions answered.", registry=registry)
        self._events = Counter(
            "iln_api_events",
            "Events and labels that were appended to the log, or not because it had them "
            "(repeated).",
            ("outcome",),
            registry=registry,
        )
        self._answers = Counter(
            "iln_api_answers",
            "Predictions answered with the setting `answers`, recorded or lost.",
            ("outcome",),
            registry=registry,
        )
        self.queue = Gauge(
            "iln_api_queue_events", "Events that wait to be appended.", registry=registry
        )
        self._suspicious = Counter(
            "iln_api_inputs_suspicious",
            "Inputs that the client may have meant otherwise: numbers as text, which are read as "
            "categories (number_as_category), and inputs of predictions that the learner has not "
            "learned, and ignores (unknown).",
            ("kind",),
            registry=registry,
        )
        for outcome in ("appended", "repeated"):
            self._events.labels(outcome)
        for outcome in ("recorded", "lost"):
            self._answers.labels(outcome)
        for kind in ("number_as_category", "unknown"):
            self._suspicious.labels(kind)
        self._texts = NumbersAsText()
        self.backlog = Gauge(
            "iln_api_backlog_records",
            "Records between the learner's published position and the end of the log.",
            registry=registry,
        )

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        route = path if path in ROUTES else "other"
        kept = self._kept.get((route, status))
        if kept is None:
            kept = self._requests.labels(route, status), self._seconds.labels(route)
            self._kept[route, status] = kept
        count, duration = kept
        count.inc()
        duration.observe(seconds)

    def got(self, events: Iterable[Inputs]) -> None:
        """Count inputs of events that are numbers as text; warn once of each name."""
        if n := sum(map(self._texts.watch, events)):
            self._suspicious.labels("number_as_category").inc(n)

    def not_learned(self, n: int) -> None:
        """Count inputs that the learner does not know."""
        self._suspicious.labels("unknown").inc(n)

    def refused(self, reason: str) -> None:
        """Count a request that was not carried out."""
        self._refusals.labels(reason).inc()

    def appended(self, n_new: int, n_known: int) -> None:
        """Count a group of appended events."""
        self._events.labels("appended").inc(n_new)
        self._events.labels("repeated").inc(n_known)

    def recorded(self, n: int, outcome: str) -> None:
        """Count answers that were recorded or lost."""
        self._answers.labels(outcome).inc(n)
