"""docs/deploy.md: Prometheus and Alertmanager, as the page configures them."""

from pathlib import Path

import pytest
from support.child_process import output_of
from support.debian_programs import program
from support.document import blocks
from support.prometheus_server import promtool

SCRAPING, ALERTING, ALERTMANAGER, OWN_RULES = blocks("deploy.md", "yaml")
RULES = Path(__file__).parents[2] / "services" / "prometheus" / "rules.yml"


def amtool(*arguments: str | Path) -> str:
    """Run Alertmanager's tool and return its output; raise if it reports an error."""
    command = program("usr/bin/amtool", "prometheus-alertmanager")
    return output_of([str(command), *map(str, arguments)], raising=RuntimeError)


@pytest.fixture
def alertmanager(tmp_path: Path) -> Path:
    """The page's alertmanager.yml."""
    file = tmp_path / "alertmanager.yml"
    file.write_text(ALERTMANAGER)
    return file


def test_prometheus_accepts_the_page(tmp_path: Path) -> None:
    """Prometheus finds our rules, Alertmanager and a rule of one's own, as the page says."""
    (tmp_path / "rules.yml").write_text(RULES.read_text())
    (tmp_path / "token").write_text("a token of the API")
    shown = "/etc/prometheus/iln-token"
    assert shown in SCRAPING
    scraping = SCRAPING.replace(shown, str(tmp_path / "token"))
    (tmp_path / "prometheus.yml").write_text(scraping + ALERTING)
    assert "1 rule files found" in promtool("check", "config", tmp_path / "prometheus.yml")
    (tmp_path / "own.yml").write_text(OWN_RULES)
    assert "SUCCESS" in promtool("check", "rules", tmp_path / "own.yml")


def test_alertmanager_accepts_the_page(alertmanager: Path) -> None:
    """An error in it would leave everybody uninformed."""
    assert "SUCCESS" in amtool("check-config", alertmanager)


@pytest.mark.parametrize(
    ("severity", "receiver"), [("critical", "call"), ("warning", "mail"), ("info", "mail")]
)
def test_who_is_told(alertmanager: Path, severity: str, receiver: str) -> None:
    """Alertmanager sends each severity that our rules have to the receiver that the page says."""
    assert f"severity: {severity}\n" in RULES.read_text()
    route = ("config", "routes", "test", f"--config.file={alertmanager}")
    said = amtool(*route, "alertname=IlnHung", f"severity={severity}")
    assert said.splitlines()[-1] == receiver
