import numpy as np
import pytest

from iln_stream.learners.infinite_layer.category_effects import Effects
from iln_stream.learners.infinite_layer.hashed_categories import hashed


def test_two_fields_explain_their_own_part():
    """Residuals that two fields cause together are divided between them."""
    rng = np.random.default_rng(0)
    users, items = rng.normal(size=50), rng.normal(size=50)
    effects, errors = Effects(), []
    for _ in range(4_000):
        i, j = rng.integers(50, size=2).tolist()
        names = [hashed(f"item={j}", "item"), hashed(f"user={i}", "user")]
        found = effects.of(names)
        errors.append(abs(items[j] + users[i] - sum(found)))
        effects.learn(names, found, 2.0, float(2.0 + items[j] + users[i]))
    assert np.mean(errors[3_000:]) < 0.15
    assert sum(effects.shares().values()) == pytest.approx(1.0, abs=0.1)  # constant predictions


def test_names_of_opposite_signs_share_a_cell():
    """The effect that one leaves to the other is its negative: on average they cancel."""
    one, two = hashed("id=1", "id"), None
    two = one._replace(sign=-one.sign)
    effects = Effects()
    for _ in range(30):
        effects.learn([one], effects.of([one]), 0.0, 1.0)
    (a,), (b,) = effects.of([one]), effects.of([two])
    assert a == -b > 0.5


def test_an_outlier_moves_an_effect_by_a_bounded_amount():
    """One residual of a million counts as one of six mean absolute errors."""
    rng = np.random.default_rng(0)
    effects = Effects()
    names = [[hashed(f"id={k}", "id")] for k in range(20)]
    for k in rng.integers(20, size=400).tolist():
        effects.learn(names[k], effects.of(names[k]), 0.0, float(k + rng.normal()))
    (before,) = effects.of(names[3])
    effects.learn(names[3], [before], 0.0, 1e6)
    assert abs(effects.of(names[3])[0] - before) < 6.0


def test_occupied_cells():
    """Cells that learned are counted, and a state has only these."""
    effects = Effects()
    for k in range(100):
        effects.learn([hashed(f"id={k}", "id")], [0.0], 0.0, 1.0)
    n = len(effects.state()["cells"])
    assert effects.occupied * 65_536 == n
    assert 97 <= n <= 100
