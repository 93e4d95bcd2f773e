"""Kills of a service that forecasts."""

from pathlib import Path

from support.kafka_broker import KafkaBroker

from chaos.forecast_kills import kill_forecasters
from chaos.logs import EmbeddedLog, KafkaLog


def test_killed_as_never_killed_on_an_embedded_log(tmp_path: Path) -> None:
    """Forecasters killed at random moments end identical to uninterrupted ones, with the same
    values waiting; each forecast of each horizon is published once."""
    log = EmbeddedLog(tmp_path / "log.db")
    assert kill_forecasters(log, tmp_path, n_kills=2, records_per_kill=1_200, seed=1, more=()) == []


def test_killed_as_never_killed(broker: KafkaBroker, tmp_path: Path) -> None:
    """The same holds for a topic, if forecasts are published in transactions."""
    log = KafkaLog(broker.bootstrap, "forecasts")
    found = kill_forecasters(
        log, tmp_path, n_kills=2, records_per_kill=1_200, seed=2, more=("--transactional",)
    )
    log.close()
    assert found == []
