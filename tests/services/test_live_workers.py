"""The committed monitoring of worker processes, on a real run and a real Prometheus."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from chaos.logs import EmbeddedLog
from chaos.stream import event
from support.prometheus_server import PrometheusServer
from support.running_api import eventually
from support.running_command import Command

SERVICES = Path(__file__).parents[2] / "services"
DASHBOARD = json.loads((SERVICES / "grafana" / "dashboards" / "iln_stream.json").read_text())
RULES = yaml.safe_load((SERVICES / "prometheus" / "rules.yml").read_text())["groups"][0]["rules"]

QUERIES = [
    target["expr"]
    for panel in DASHBOARD["panels"]
    for target in panel.get("targets", [])
    if "iln_worker_" in target["expr"]
]
ALERTS = {rule["alert"]: rule["expr"] for rule in RULES if "IlnWorker" in rule.get("alert", "")}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    """Two workers that learn four partitions."""
    folder = tmp_path_factory.mktemp("run")
    log = EmbeddedLog(folder / "log.db", partitions=4)
    for partition in range(4):
        log.send(map(event, range(100)), partition)
    arguments = log.arguments(folder / "state", "p", "--learner-per", "partition")
    with Command(folder, *arguments, "--workers", "2") as command:
        command.wait_for_metrics(lambda now: now.get("iln_events_total", 0) > 0)
        yield command


@pytest.fixture(scope="module")
def prometheus(
    run: Command, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PrometheusServer]:
    """Prometheus with the committed rules, which scrapes the supervisor."""
    folder = tmp_path_factory.mktemp("prometheus")
    copy = shutil.copytree(SERVICES / "prometheus", folder / "config")
    config = yaml.safe_load((copy / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "500ms", "evaluation_interval": "500ms"}
    address = re.search(r"http://(\S+)/metrics", run.said)
    assert address is not None
    targets = [{"targets": [address[1]]}]
    config["scrape_configs"] = [{"job_name": "iln-learner", "static_configs": targets}]
    (copy / "prometheus.yml").write_text(yaml.safe_dump(config))
    with PrometheusServer(copy / "prometheus.yml", folder) as server:
        yield server


def test_each_metric_of_workers_has_a_panel(prometheus: PrometheusServer) -> None:
    """A panel with a misspelt query, or an unknown metric, stays empty."""
    assert QUERIES == ["iln_worker_up", "iln_worker_restarts_total"]
    for expression in QUERIES:
        eventually(lambda e=expression: workers_in(prometheus, e) == {"0", "1"})  # type: ignore[misc]


def test_the_panels_of_learners_show_all_partitions(prometheus: PrometheusServer) -> None:
    """A query of the dashboard finds the learners of all workers at one address."""

    def partitions() -> set[str]:
        found = prometheus.query('iln_events_total{model=~".*", partition=~".*"} == 98')
        return {sample.labels["partition"] for sample in found}

    eventually(lambda: partitions() == {"0", "1", "2", "3"})


def test_alerts_find_the_worker_that_fails(run: Command, prometheus: PrometheusServer) -> None:
    """A worker that is killed is down until it is back, and then counts as restarted."""
    eventually(lambda: workers_in(prometheus, "iln_worker_up == 1") == {"0", "1"})
    assert not workers_in(prometheus, ALERTS["IlnWorkerDown"])
    assert not workers_in(prometheus, ALERTS["IlnWorkerRestarting"])
    (pid,) = re.findall(r"worker 1 \(partitions 1,3\): process (\d+)", run.said)
    os.kill(int(pid), signal.SIGKILL)
    eventually(lambda: workers_in(prometheus, ALERTS["IlnWorkerDown"]) == {"1"})
    eventually(lambda: workers_in(prometheus, ALERTS["IlnWorkerRestarting"]) == {"1"})
    eventually(lambda: not workers_in(prometheus, ALERTS["IlnWorkerDown"]))


def workers_in(prometheus: PrometheusServer, expression: str) -> set[str]:
    return {sample.labels["worker"] for sample in prometheus.query(expression)}
