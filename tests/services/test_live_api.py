"""The committed monitoring of the HTTP API, on a real server and a real Prometheus."""

import json
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from support.prometheus_server import PrometheusServer
from support.running_api import RunningApi, eventually, publish

SERVICES = Path(__file__).parents[2] / "services"
DASHBOARD = json.loads((SERVICES / "grafana" / "dashboards" / "iln_stream.json").read_text())
RULES = yaml.safe_load((SERVICES / "prometheus" / "rules.yml").read_text())["groups"][0]["rules"]

TYPES = {
    "iln_api_appended_events_total": "counter",
    "iln_api_backlog": "gauge",
    "iln_api_group_size": "histogram",
    "iln_api_model_age_seconds": "gauge",
    "iln_api_model_failures_total": "counter",
    "iln_api_model_load_seconds": "gauge",
    "iln_api_model_version": "gauge",
    "iln_api_numbers_as_categories_total": "counter",
    "iln_api_predictions_total": "counter",
    "iln_api_queue_length": "gauge",
    "iln_api_refusals_total": "counter",
    "iln_api_repeated_events_total": "counter",
    "iln_api_request_duration_seconds": "histogram",
    "iln_api_requests_total": "counter",
}

QUERIES = [
    pytest.param(target["expr"], id=f"{panel['title']}:{target['refId']}")
    for panel in DASHBOARD["panels"]
    for target in panel.get("targets", [])
    if "iln_api_" in target["expr"]
]
ALERTS = {rule["alert"]: rule["expr"] for rule in RULES if "IlnApi" in rule.get("alert", "")}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApi]:
    """A server with requests of all kinds."""
    folder = tmp_path_factory.mktemp("api")
    publish(folder)
    stop = threading.Event()

    def send(api: RunningApi) -> None:
        while not stop.wait(0.05):
            api.post("/predict", {"x": {}})
            api.post("/predict", {})
            api.post("/events", {"x": {}})
            api.post("/events", {"x": {}, "id": "again"})

    with RunningApi(folder) as api:
        sender = threading.Thread(target=send, args=(api.ready(),))
        sender.start()
        yield api
        stop.set()
        sender.join()


@pytest.fixture(scope="module")
def prometheus(
    api: RunningApi, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PrometheusServer]:
    """Prometheus with the committed rules, which scrapes the API."""
    folder = tmp_path_factory.mktemp("prometheus")
    copy = shutil.copytree(SERVICES / "prometheus", folder / "config")
    config = yaml.safe_load((copy / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "500ms", "evaluation_interval": "500ms"}
    targets = [f"127.0.0.1:{api.port}", "127.0.0.1:1"]
    config["scrape_configs"] = [{"job_name": "iln-api", "static_configs": [{"targets": targets}]}]
    (copy / "prometheus.yml").write_text(yaml.safe_dump(config))
    with PrometheusServer(copy / "prometheus.yml", folder) as server:
        yield server


@pytest.mark.parametrize("expression", QUERIES)
def test_panels_show_the_api(expression: str, prometheus: PrometheusServer) -> None:
    """A panel with a misspelt query, or an unknown metric, stays empty."""
    expression = expression.replace("$__rate_interval", "2s")
    eventually(lambda: prometheus.query(expression))


def test_every_metric_is_on_the_dashboard(api: RunningApi) -> None:
    """Each metric has the type that panels rely on, and a panel."""
    exposition = api.http.get("/metrics").text
    full_name: dict[str, str] = {"counter": "{}_total"}
    families: list[Any] = list(text_string_to_metric_families(exposition))
    assert {full_name.get(f.type, "{}").format(f.name): f.type for f in families} == TYPES
    assert all(family.documentation and family.samples for family in families)
    expressions = " ".join(query.values[0] for query in QUERIES)
    assert not [name for name in TYPES if not re.search(rf"\b{name}", expressions)]


@pytest.mark.parametrize("alert", sorted(ALERTS))
def test_alerts_find_what_is_wrong(alert: str, prometheus: PrometheusServer) -> None:
    """On real metrics only the server that does not run is found; rules_test.yml has the rest."""
    eventually(lambda: prometheus.query("rate(iln_api_requests_total[2s])"))
    found = {sample.labels["instance"] for sample in prometheus.query(ALERTS[alert])}
    assert found == ({"127.0.0.1:1"} if alert == "IlnApiDown" else set())


def test_prometheus_evaluates_every_rule(prometheus: PrometheusServer) -> None:
    """A rule may parse and still fail on real series, as a many-to-many match does."""
    eventually(
        lambda: (
            {r["health"] for group in prometheus.get("rules")["groups"] for r in group["rules"]}
            == {"ok"}
        )
    )
