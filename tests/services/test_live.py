"""The committed monitoring, on real learners, workers and API, and a real Prometheus."""

import json
import math
import os
import re
import shutil
import signal
import threading
from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import yaml
from chaos.logs import EmbeddedLog
from chaos.stream import event
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from services.learners_at_work import LearnersAtWork
from support.prometheus_server import PrometheusServer, Sample
from support.running_api import RunningApi, eventually, publish
from support.running_command import Command
from support.web import ask

SERVICES = Path(__file__).parents[2] / "services"
DASHBOARDS = {
    path.stem: json.loads(path.read_text()) for path in (SERVICES / "grafana").rglob("*.json")
}
OVERVIEW = DASHBOARDS["overview"]
RULES = [
    rule
    for name in ("rules.yml", "renamed.yml")
    for rule in yaml.safe_load((SERVICES / "prometheus" / name).read_text())["groups"][0]["rules"]
]
PANELS = [
    panel
    for made in DASHBOARDS.values()
    for row in made["panels"]
    for panel in (row, *(row.get("panels") or ()))
]
QUERIES = [
    pytest.param(target["expr"], id=f"{panel['title']}:{target['refId']}")
    for panel in PANELS
    for target in panel.get("targets") or ()
]
RECORDED = [rule for rule in RULES if "record" in rule]
ALERTS = {rule["alert"]: rule["expr"] for rule in RULES if "alert" in rule}
ALERTS["IlnApiSlow"] = ALERTS["IlnApiSlow"].replace("> 0.1", "> 2.5")  # machines may be busy
WAITS_A_MINUTE = "IlnApiModelOld"

MODELS = {"healthy", "shrinking", "classifier"}
OF_WORKERS = "log-events/shrinking-gradient"
NOBODY_LISTENS_HERE = "127.0.0.1:1"
SELECTOR = re.compile(r"(?<![:\w])(iln_\w+)(?:\{(.*?)\})?")
OF_PROCESSES = re.compile("iln_(api|worker)_|process_|ALERTS")

FOUND = {
    "IlnLearnerDown": {NOBODY_LISTENS_HERE},
    "IlnApiDown": {NOBODY_LISTENS_HERE},
    "IlnSourceDisconnected": {"shrinking"},
    "IlnSnapshotOld": {"shrinking"},
    "IlnDeadLetters": {"healthy", "shrinking"},
    "IlnInputsSuspicious": {"healthy", "shrinking"},
    "IlnEventsExpire": {"shrinking"},
    "IlnNoBetterThanTrivial": {"shrinking"},
}
"""Models or instances that an alert's condition finds; those of other alerts find nothing."""


@pytest.fixture(scope="module")
def learners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LearnersAtWork]:
    at_work = LearnersAtWork(tmp_path_factory.mktemp("snapshots"))
    yield at_work
    at_work.close()


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
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
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
def addresses(learners: LearnersAtWork, workers: Command, api: RunningApi) -> list[str]:
    """Where learners, workers and the API serve their metrics."""
    supervisor = re.search(r"http://(\S+)/metrics", workers.said)
    assert supervisor is not None
    return [learners.address, supervisor[1], f"127.0.0.1:{api.port}"]


@pytest.fixture(scope="module")
def prometheus(
    addresses: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PrometheusServer]:
    """Prometheus with the committed configuration, only its targets and intervals replaced."""
    folder = tmp_path_factory.mktemp("prometheus")
    copy = shutil.copytree(SERVICES / "prometheus", folder / "config")
    config = yaml.safe_load((copy / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    jobs = {each["job_name"]: each for each in config["scrape_configs"]}
    learner, api = jobs["iln-learner"], jobs["iln-api"]
    del api["authorization"]
    learner["static_configs"] = [{"targets": [*addresses[:2], NOBODY_LISTENS_HERE]}]
    api["static_configs"] = [{"targets": [addresses[2], NOBODY_LISTENS_HERE]}]
    config["scrape_configs"] = [learner, api]
    (copy / "prometheus.yml").write_text(yaml.safe_dump(config))
    with PrometheusServer(copy / "prometheus.yml", folder) as server:
        yield server


@pytest.fixture(scope="module")
def exported(learners: LearnersAtWork) -> list[Any]:
    """The samples that the learners exported when they were asked last."""
    return samples(learners)


def families(address: str) -> list[Metric]:
    """Return the families of metrics, once each has a sample."""
    found: list[Metric] = []

    def all_have_samples() -> bool:
        found[:] = text_string_to_metric_families(ask(f"http://{address}/metrics")[1])
        return all(family.samples for family in found)

    eventually(all_have_samples)
    return found


def models_in(samples: Iterable[Any]) -> set[str]:
    """Return which of the learners have finite samples."""
    return {each.labels.get("model") for each in samples if math.isfinite(each.value)} & MODELS


def samples(learners: LearnersAtWork) -> list[Any]:
    return [sample for family in families(learners.address) for sample in family.samples]


def exporting(expression: str, exported: list[Any]) -> set[str]:
    """Return the learners that export all metrics of an expression, with finite values."""
    found = set()
    for term in expression.split(" or "):
        models = set(MODELS)
        for name, matchers in SELECTOR.findall(term):
            models &= models_in(
                sample for sample in exported if sample.name == name and fits(sample, matchers)
            )
        found |= models
    # The other learners get no late labels, so their quantiles are not finite.
    return found & {"shrinking"} if "iln_label_delay_seconds" in expression else found


def filled(expression: str, model: str) -> str:
    """Return a query with values for its variables."""
    values = {"$model": model, "$partition": ".*", "$instance": ".*", "$__rate_interval": "5s"}
    return re.sub(r"\$\w+", lambda found: values.get(found[0], found[0]), expression)


def fits(sample: Any, matchers: str) -> bool:
    """Return whether a sample has the labels of a selector; model and partition are chosen."""
    for label, operator, pattern in re.findall(r'(\w+)(=~|!~|=)"(.*?)"', matchers):
        if label not in ("model", "partition"):
            same = re.fullmatch(pattern, sample.labels.get(label, "")) is not None
            if same == (operator == "!~"):
                return False
    return True


@pytest.mark.parametrize("expression", QUERIES)
def test_panel_shows_what_exports_its_metrics(
    expression: str, prometheus: PrometheusServer, learners: LearnersAtWork, exported: list[Any]
) -> None:
    """A panel with a misspelt query, or an unknown metric, stays empty."""
    chosen = filled(expression, "|".join(MODELS))

    def shown() -> bool:
        found = prometheus.query(chosen)
        if OF_PROCESSES.search(expression):
            return bool(found)
        if found and models_in(found) != exporting(expression, exported):
            exported[:] = samples(learners)  # reading them takes as long as ten queries
        return bool(found) and models_in(found) == exporting(expression, exported)

    eventually(shown)


@pytest.mark.parametrize("model", ["healthy", "classifier"])
def test_the_overview_is_full(model: str, prometheus: PrometheusServer) -> None:
    """In a run of a regressor or of a classifier each panel of the overview shows something, or
    says which setting it needs."""

    def empty() -> list[str]:
        return [
            panel["title"]
            for panel in OVERVIEW["panels"]
            if not panel["fieldConfig"]["defaults"].get("noValue")
            and not any(
                prometheus.query(filled(target["expr"], model)) for target in panel["targets"]
            )
        ]

    eventually(lambda: empty() == [])


def test_annotations_are_queries(prometheus: PrometheusServer) -> None:
    """Grafana shows no error for an annotation that Prometheus refuses."""
    for each in OVERVIEW["annotations"]["list"]:
        prometheus.query(filled(each["expr"], ".*"))


def test_variables_offer_every_model_and_its_partitions(prometheus: PrometheusServer) -> None:
    """The drop-downs offer every model and partition."""

    def offered() -> list[list[str]]:
        variables = [v for v in OVERVIEW["templating"]["list"] if v["type"] == "query"]
        queries = "".join(each["query"] for each in variables)
        found = re.findall(r"label_values\((.*?), (\w+)\)", queries.replace("$model", ".*"))
        return [
            prometheus.get(f"label/{label}/values", **{"match[]": series})
            for series, label in found
        ]

    eventually(lambda: offered() == [sorted({*MODELS, OF_WORKERS}), ["0", "1", "2", "3"]])


@pytest.mark.parametrize("rule", RECORDED, ids=itemgetter("record"))
def test_recording_rule_has_a_value_for_its_learners(
    rule: dict[str, Any], prometheus: PrometheusServer, learners: LearnersAtWork
) -> None:
    """An alert on a recorded series that is never there could never fire."""

    def recorded() -> bool:
        found = prometheus.query(rule["record"])
        if OF_PROCESSES.search(rule["expr"]):
            return bool(found)
        models = models_in(found)
        return bool(models) and models == exporting(rule["expr"], samples(learners))

    eventually(recorded)


@pytest.mark.parametrize(
    "alert",
    [
        pytest.param(name, marks=[pytest.mark.thorough] if name == WAITS_A_MINUTE else [])
        for name in ALERTS
    ],
)
def test_alert_finds_what_is_wrong(alert: str, prometheus: PrometheusServer) -> None:
    """On real metrics each alert's condition picks what it is about, and nothing else."""
    eventually(lambda: models_in(prometheus.query("learner:iln_lag:seconds")) == MODELS)
    eventually(lambda: prometheus.query("rate(iln_api_requests_total[5s])"))

    def found() -> set[str]:
        labels = [sample.labels for sample in prometheus.query(ALERTS[alert])]
        return {each.get("model") or each["instance"] for each in labels} - {OF_WORKERS}

    eventually(lambda: found() == FOUND.get(alert, set()))


def test_prometheus_evaluates_every_rule(prometheus: PrometheusServer) -> None:
    """A rule may parse and still fail on real series, as a many-to-many match does."""

    def health() -> list[str]:
        groups = prometheus.get("rules")["groups"]
        return [rule["health"] for group in groups for rule in group["rules"]]

    eventually(lambda: health() == ["ok"] * len(RULES))


def test_every_metric_is_documented_and_shown(addresses: list[str]) -> None:
    """docs/metrics.md has the type and the labels with which each metric is exported, once in an
    exposition; and each has a panel."""
    page = (SERVICES.parent / "docs" / "metrics.md").read_text("utf-8")
    rows = re.findall(r"^\| <a id=\S+</a>`(iln_\w+)` \| (\w+)(.*?) \|", page, re.MULTILINE)
    documented = {}
    for name, kind, labels in rows:
        common = () if name.startswith(("iln_api_", "iln_worker_")) else ("model", "partition")
        documented[name] = (kind, {*common, *re.findall(r"`(\w+)`", labels)})
    found = {}
    for address in addresses:
        exposed = families(address)
        assert len({family.name for family in exposed}) == len(exposed)
        for family in exposed:
            if family.name.startswith("process_"):
                continue
            name = f"{family.name}_total" if family.type == "counter" else family.name
            labels = {label for sample in family.samples for label in sample.labels} - {"le"}
            found[name] = family.type, labels
    assert found == documented
    expressions = " ".join(query.values[0] for query in QUERIES)
    assert not [name for name in documented if not re.search(rf"\b{name}", expressions)]


def workers_in(prometheus: PrometheusServer, expression: str) -> set[str]:
    return {sample.labels["worker"] for sample in prometheus.query(expression)}


def partitions_in(samples: list[Sample]) -> list[str]:
    return sorted(sample.labels["partition"] for sample in samples)


def test_all_partitions_of_workers_are_shown(prometheus: PrometheusServer) -> None:
    """A query of the dashboard finds the learners of all workers at one address."""
    query = f'iln_events_total{{model="{OF_WORKERS}"}} == 98'
    eventually(lambda: partitions_in(prometheus.query(query)) == ["0", "1", "2", "3"])


def test_alerts_find_the_worker_that_fails(workers: Command, prometheus: PrometheusServer) -> None:
    """A worker that is killed is down until it is back, and then counts as restarted."""
    eventually(lambda: workers_in(prometheus, "iln_worker_up == 1") == {"0", "1"})
    (pid,) = re.findall(r"worker 1 \(partitions 1,3\): process (\d+)", workers.said)
    os.kill(int(pid), signal.SIGKILL)
    eventually(lambda: workers_in(prometheus, ALERTS["IlnWorkerDown"]) == {"1"})
    eventually(lambda: workers_in(prometheus, ALERTS["IlnWorkerRestarting"]) == {"1"})
    eventually(lambda: not workers_in(prometheus, ALERTS["IlnWorkerDown"]))
