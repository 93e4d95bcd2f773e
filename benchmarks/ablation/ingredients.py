"""Learners that lack one ingredient each."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from iln_stream.learners.infinite_layer.accurate import ENDS, NETWORKS, AccurateEngine
from iln_stream.learners.infinite_layer.experts.resampled_ridges import NEVER
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank
from iln_stream.learners.infinite_layer.mixing import ExpertMixture
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor


class Lacking(InfiniteLayerRegressor):
    """The accurate profile without one ingredient of its engine."""

    def __init__(self, seed: int, spoil: Callable[[AccurateEngine], None]) -> None:
        super().__init__(seed=seed)
        self.spoil = spoil
        assert isinstance(self._engine, AccurateEngine)
        spoil(self._engine)

    def learn_one(self, x: Mapping[Any, float], y: float) -> None:
        super().learn_one(x, y)
        assert isinstance(self._engine, AccurateEngine)
        self.spoil(self._engine)


def _silence(mixture: ExpertMixture, left_out: tuple[str, ...]) -> None:
    """Take the weight of some experts, so that their predictions do not count."""
    names = [name for expert in mixture.experts.values() for name in expert.names]
    places = [names.index(name) for name in left_out if name in names]
    weights = mixture.rule.weights
    weights[places] = 0.0
    if weights.sum() == 0.0:
        weights[:] = 1.0
        weights[places] = 0.0


def experts(*left_out: str) -> Callable[[AccurateEngine], None]:
    """Return a function that silences experts, of any rule."""

    def spoil(engine: AccurateEngine) -> None:
        for mixture in (engine.moving, engine.mean, engine.mixture):
            _silence(mixture, left_out)

    return spoil


def moving(engine: AccurateEngine) -> None:
    """Silence both the networks and KRLS-T."""
    _silence(engine.mean, engine.moving.names)


def sleep(engine: AccurateEngine) -> None:
    """Keep the ridges awake."""
    engine.sleepers.n_learned = 0


def redraws(engine: AccurateEngine) -> None:
    """Never redraw units."""
    engine.ridges.resampler.next_at = NEVER


def relevance(engine: AccurateEngine) -> None:
    """Draw units from the first prior and one gradient; weigh inputs about alike in distances."""
    engine.ridges.agop[:] = np.eye(engine.ridges.agop.shape[1])


def late_redraws(engine: AccurateEngine) -> None:
    """Draw no units once the memory has lost history."""
    bank = engine.ridges.bank
    bank.specs = tuple(spec._replace(renewed=False) for spec in bank.specs)


def huber(engine: AccurateEngine) -> None:
    """Let large errors of the exact ridges, but not of forgetting-rls, count by their squares."""
    linear = engine.mean.experts["linear"]
    assert isinstance(linear, RLSBank)
    engine.ridges.bank.huber = linear.huber = 1e12


def nothing(engine: AccurateEngine) -> None:
    """Leave the learner as it is."""


INGREDIENTS: dict[str, Callable[[AccurateEngine], None]] = {
    "nothing": nothing,
    "redraws": redraws,
    "relevance": relevance,
    "redraws after 2,048 events": late_redraws,
    "Huber weights": huber,
    "networks": experts(*(f"{net}{end}" for net in NETWORKS for end in ENDS[net])),
    "krls-t": experts("krls-t"),
    "networks, krls-t": moving,
    "net-piecewise": experts("net-piecewise-short", "net-piecewise-long"),
    "net-smooth": experts("net-smooth-short", "net-smooth-long"),
    "net-recent": experts("net-recent", "net-recent-short"),
    "sleep": sleep,
    "dense, sparse, recent, forgetting-rls": experts("dense", "sparse", "recent", "forgetting-rls"),
    "dense, forgetting-rls": experts("dense", "forgetting-rls"),
    "forgetting-rls": experts("forgetting-rls"),
    "sparse": experts("sparse"),
    "recent": experts("recent"),
    "linear-recent, persistence": experts("linear-recent", "persistence"),
    "linear, linear-fast": experts("linear", "linear-fast"),
    "first-order": experts("first-order"),
    "median": experts("median"),
    "neighbours": experts("neighbours"),
    "nearest-as-of": experts("nearest-as-of"),
}
