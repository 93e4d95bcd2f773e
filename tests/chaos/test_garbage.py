"""Floods of garbage, smaller than `python -m chaos` sends."""

from pathlib import Path

from support.kafka_broker import KafkaBroker

from chaos.garbage import flood


def test_every_payload_ends_somewhere(broker: KafkaBroker, tmp_path: Path) -> None:
    """Each record is learned, only predicted, or a dead letter with its reason; nothing is lost and
    nothing crashes, however malformed the records and their times are."""
    coped = flood(broker.bootstrap, tmp_path, 20_000, seed=1)
    assert coped.n_learned + coped.n_predicted_only + coped.n_dead_letters == coped.n_sent
    assert coped.n_letters_stored == coped.n_dead_letters
    assert coped.n_blamed_on_the_learner == 0, "decoding let something through"
    assert min(coped.n_learned, coped.n_predicted_only, coped.n_dead_letters) > 1_000
