"""docs/kafka.md and docs/metrics.md: what they show for production works."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml
from support.document import DOCS, blocks
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic, produce, read_topic
from support.prometheus_server import promtool

from iln_stream.service import Service, Settings

(PRODUCTION,) = blocks("kafka.md", "toml")
CREATED = [shlex.split(each) for each in blocks("kafka.md", "text")[0].splitlines()]


def test_the_settings_of_production(broker: KafkaBroker, tmp_path: Path) -> None:
    """A run with the page's settings, on topics as the page creates them, learns, skips a repeat,
    publishes in transactions, and writes a dead letter."""
    for words in CREATED:
        configs = dict([words[words.index("--config") + 1].split("=")])
        n_partitions = int(words[words.index("--partitions") + 1])
        topic = words[words.index("--topic") + 1]
        create_topic(broker.bootstrap, n_partitions, name=topic, configs=configs)
    orders = [
        {"order_id": f"o-{n}", "ordered_at": f"2026-03-01T12:{n:02}:00Z", "km": n, "minutes": 9 + n}
        for n in range(20)
    ]
    sent = [(None, json.dumps(each).encode()) for each in [*orders, orders[-1]]]
    produce(broker.bootstrap, "orders", [*sent, (None, b"no order")], partition=1)
    changed = {
        "bootstrap": broker.bootstrap, "snapshots": str(tmp_path), "metrics_port": 0,
        "metrics_host": "127.0.0.1", "stop_at_end": True,
        "learner_options": {"profile": "fast"},
    }  # fmt: skip
    Service(Settings(**{**tomllib.loads(PRODUCTION), **changed})).run()
    published = read_topic(broker.bootstrap, "orders-predictions", 1)
    assert [json.loads(each.value)["id"] for each in published] == [f"o-{n}" for n in range(20)]
    assert len(read_topic(broker.bootstrap, "orders-dead-letters")) == 1


def test_the_topics_are_those_of_the_settings() -> None:
    """Each topic that the settings name is created, with the marks of replayed letters as long as
    the letters."""
    settings = Settings(**tomllib.loads(PRODUCTION))
    retention = {
        words[words.index("--topic") + 1]: words[words.index("--config") + 1] for words in CREATED
    }
    letters = str(settings.dead_letters).removeprefix("kafka:")
    predictions = str(settings.predictions).removeprefix("kafka:")
    assert list(retention) == [settings.topic, predictions, letters, f"{letters}-replayed"]
    assert retention[letters] == retention[f"{letters}-replayed"]
    assert settings.transactional


def test_the_page_of_metrics_configures_prometheus(tmp_path: Path) -> None:
    """Prometheus accepts the page's configuration and alert; the job has the name that the rules
    ask for, and the alert's metric exists."""
    config, rules = blocks("metrics.md", "yaml")
    (tmp_path / "prometheus.yml").write_text(config)
    committed = DOCS.parent / "services" / "prometheus" / "rules.yml"
    (tmp_path / "rules.yml").write_text(committed.read_text())
    assert "1 rule files found" in promtool("check", "config", tmp_path / "prometheus.yml")
    (tmp_path / "own.yml").write_text(rules)
    assert "SUCCESS" in promtool("check", "rules", tmp_path / "own.yml")
    (job,) = yaml.safe_load(config)["scrape_configs"]
    assert f'up{{job="{job["job_name"]}"}}' in committed.read_text()
    (metric,) = re.findall(r"expr: (iln_\w+)", rules)
    assert f"| `{metric}` |" in (DOCS / "metrics.md").read_text("utf-8")


@pytest.mark.parametrize("page", ["how_to_secure_kafka.md", "changing.md", "learner_options.md"])
def test_examples_load(page: str) -> None:
    """Each TOML example of these pages is valid settings."""
    for text in blocks(page, "toml"):
        Settings(**tomllib.loads(text))
