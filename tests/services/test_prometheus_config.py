import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.prometheus_server import promtool

SERVICES = Path(__file__).parents[2] / "services"
PROMETHEUS = SERVICES / "prometheus"
RUNBOOKS = SERVICES.parent / "docs" / "metrics.md"


def test_prometheus_accepts_the_configuration_wherever_it_is_mounted(tmp_path: Path) -> None:
    """A container mounts the folder elsewhere: no path in it may depend on the checkout."""
    mounted = shutil.copytree(PROMETHEUS, tmp_path / "etc")
    config, token = mounted / "prometheus.yml", tmp_path / "token"
    token.write_text("secret")  # promtool wants the file to exist
    config.write_text(config.read_text().replace("/var/lib/iln-api/token", str(token)))
    assert "2 rule files found" in promtool("check", "config", config)


@pytest.mark.parametrize("name", ["rules.yml", "renamed.yml"])
def test_prometheus_accepts_the_rules(name: str) -> None:
    """A misspelt rule would stop Prometheus from starting."""
    assert "SUCCESS" in promtool("check", "rules", PROMETHEUS / name)


def test_alerts_fire_when_they_should_and_only_then() -> None:
    """promtool runs the rule tests of each alert, and of a healthy learner."""
    assert "SUCCESS" in promtool("test", "rules", PROMETHEUS / "rules_test.yml")


def test_every_alert_is_seen_firing_by_the_unit_tests() -> None:
    """A test makes each alert fire."""
    fired = {
        case["alertname"]
        for test in read("rules_test.yml")["tests"]
        for case in test.get("alert_rule_test", [])
        if case.get("exp_alerts")
    }
    assert fired == {alert["alert"] for alert in alerts()}


def test_every_alert_says_what_to_do() -> None:
    """Each alert's summary names the problem and the next step."""
    for alert in alerts():
        problem, _, remedy = alert["annotations"]["summary"].partition(": ")
        assert problem, alert["alert"]
        assert remedy.endswith("."), alert["alert"]


def test_every_alert_has_a_runbook() -> None:
    """Each alert links to a section of its own, with what it means, how to check, what to do."""
    document = RUNBOOKS.read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### (Iln\w+)\n(.*?)(?=^### |\Z)", document, re.M | re.S))
    assert list(sections) == [alert["alert"] for alert in alerts()]
    for alert in alerts():
        link = f"docs/metrics.md#{alert['alert'].lower()}"
        assert alert["annotations"]["runbook"] == link
        parts = re.findall(r"^- \*\*([\w ]+)\*\*: \S", sections[alert["alert"]], re.M)
        assert parts == ["Meaning", "Check", "Do"], alert["alert"]


def test_grafana_knows_the_scrape_interval() -> None:
    """With another interval in Grafana, $__rate_interval would cover too few scrapes for a rate."""
    provisioning = SERVICES / "grafana" / "provisioning" / "datasources" / "prometheus.yml"
    (datasource,) = yaml.safe_load(provisioning.read_text())["datasources"]
    scrape_interval = read("prometheus.yml")["global"]["scrape_interval"]
    assert datasource["jsonData"]["timeInterval"] == scrape_interval


def alerts() -> list[dict[str, Any]]:
    (group,) = read("rules.yml")["groups"]
    return [rule for rule in group["rules"] if "alert" in rule]


def read(name: str) -> Any:
    return yaml.safe_load((PROMETHEUS / name).read_text())
