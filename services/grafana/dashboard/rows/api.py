"""The HTTP API."""

from grafana_foundation_sdk.models.units import CountsPerSecond, PercentUnit, Seconds, Short
from graph import Graph, Query
from overview import Stat


def of_api(metric: str, more: str = "") -> str:
    """Return a selector of the metric's series for the chosen instances."""
    return f'{metric}{{instance=~"$instance"{more and ", " + more}}}'


def api_rate(counter: str, labels: str = "", by: str = "instance") -> str:
    """Return the increase per second of a counter of the HTTP API."""
    return f"sum by ({by}) (rate({of_api(counter, labels)}[$__rate_interval]))"


def api_quantile(q: float) -> Query:
    """Return the quantile of the time that requests take, by route."""
    buckets = api_rate("iln_api_request_duration_seconds_bucket", by="le, route")
    return Query(f"histogram_quantile({q}, {buckets})", f"{{{{route}}}} {q:.0%}")


def api_stat(
    title: str, description: str, unit: str, query: str, limit: float | None = None
) -> Stat:
    """Return a figure of each instance; it is red from the limit on."""
    colours = ((None, "green"), *(() if limit is None else ((limit, "red"),)))
    return Stat(title, 8, description, unit, query, colours, "no request", (), "{{instance}}")


ASKED = api_rate("iln_api_requests_total", 'route!="/ready"')
FAILED = api_rate("iln_api_requests_total", 'status=~"5..", route!="/ready"')
SLOW = api_rate("iln_api_request_duration_seconds_bucket", 'route="/predict"', by="le, instance")

STATS = (
    api_stat(
        "Requests per second",
        "Requests answered, of all routes but /ready.\n\nHealthy: what the clients send.",
        CountsPerSecond,
        ASKED,
    ),
    api_stat(
        "Time of a prediction (p99)",
        "Time within which 99 of 100 requests of /predict are answered.\n\nHealthy: a few "
        "milliseconds. Above 0.1 s: IlnApiSlow.",
        Seconds,
        f"histogram_quantile(0.99, {SLOW})",
        0.1,
    ),
    api_stat(
        "Server errors",
        "Share of requests whose answer has a status from 500 on.\n\nHealthy: 0. Above 1 %: "
        "IlnApiFails.",
        PercentUnit,
        f"({FAILED} or 0 * {ASKED}) / {ASKED}",
        0.01,
    ),
)

GRAPHS = (
    Graph(
        "Requests",
        "Requests per second, by route and status. Empty without `iln-stream serve`.\n\nHealthy: "
        "200 and 201. 4xx: a client's mistake, or a limit; 503: no model, no log, or too many "
        "concurrent requests.",
        CountsPerSecond,
        (Query(api_rate("iln_api_requests_total", by="route, status"), "{{route}} {{status}}"),),
    ),
    Graph(
        "Time per request",
        "Time from a request's headers to its answer: median and 99th percentile.\n\nHealthy: a "
        "few milliseconds; /events waits for the disk.",
        Seconds,
        (api_quantile(0.5), api_quantile(0.99)),
        0.1,
    ),
    Graph(
        "Refused requests",
        "Requests refused per second, by reason.\n\nHealthy: 0. queue, backlog: "
        "events arrive faster than the log or the learner takes them. rate: raise rate, or let the "
        "client send batches. token: wrong tokens.",
        CountsPerSecond,
        (Query(api_rate("iln_api_refusals_total", by="reason"), "{{reason}}"),),
    ),
    Graph(
        "Age of the model",
        "Time since the version that predicts was published, with the API's release.\n\nHealthy: "
        "about a second while the learner learns; without new labels a rise is harmless.",
        Seconds,
        (
            Query(
                'iln_api_model_age_seconds{instance=~"$instance"} '
                "* on (instance) group_left (version) iln_api_build_info",
                "{{model}}, release {{version}}",
            ),
        ),
        60.0,
    ),
    Graph(
        "Versions that can't be loaded",
        "Versions per second that the API could not load; it predicts with the previous one."
        "\n\nHealthy: 0. Above: /ready and the log have the reason.",
        CountsPerSecond,
        (Query(api_rate("iln_api_model_failures_total", by="model"), "{{model}}"),),
    ),
    Graph(
        "Version that predicts",
        "Number of the version, and whether it is pinned.\n\nHealthy: it grows while the learner "
        "learns, unless it is pinned: `iln-stream versions --unpin`.",
        Short,
        (Query(of_api("iln_api_model_version"), "{{model}}, pinned {{pinned}}"),),
    ),
    Graph(
        "Recorded answers",
        "Predictions recorded by the setting answers, and lost, per second.\n\nHealthy: none lost; "
        "the API's log has the reason.",
        CountsPerSecond,
        (Query(api_rate("iln_api_answers_total", by="outcome"), "{{outcome}}"),),
    ),
    Graph(
        "Predictions and events",
        "Predictions answered, events and labels appended, and repeats not appended, per second."
        "\n\nHealthy: what the clients send. Many repeats: a client repeats requests that were "
        "answered.",
        CountsPerSecond,
        (
            Query(api_rate("iln_api_predictions_total"), "predictions"),
            Query(api_rate("iln_api_events_total", by="outcome"), "{{outcome}}"),
        ),
    ),
    Graph(
        "Queue",
        "Events that wait to be appended.\n\nHealthy: a short queue. "
        "At 10,000 events: clients get a 429; the disk is slow, or another process holds the log.",
        Short,
        (Query(of_api("iln_api_queue_events"), "waiting"),),
    ),
    Graph(
        "Suspicious inputs of requests",
        "Inputs per second that the client may have meant otherwise: numbers as text, which are "
        "categories, and inputs that the learner does not know, which it ignores.\n\nHealthy: 0, "
        "or codes such as postcodes. Above: the client should omit the quotes, or misspells a "
        "name; the API's log and answers name them.",
        CountsPerSecond,
        (Query(api_rate("iln_api_inputs_suspicious_total", by="kind"), "{{kind}}"),),
    ),
    Graph(
        "Backlog",
        "Records between the learner's published position and the end of the log, at the last "
        "append.\n\nHealthy: what arrives in a second. At max_backlog: clients get a 429; the "
        "learner is too slow, or stopped.",
        Short,
        (Query(of_api("iln_api_backlog_records"), "records"),),
    ),
)
