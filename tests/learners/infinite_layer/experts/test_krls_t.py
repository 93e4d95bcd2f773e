import numpy as np
from support.prequential import engine_errors, products

from iln_stream.kernels.krls_t import N_POINTS
from iln_stream.learners.infinite_layer.engine import RegressionEngine
from iln_stream.learners.infinite_layer.experts.krls_t import KRLST
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.target import Target


class Alone(RegressionEngine):
    """A learner of one KRLS-T of 40 points."""

    def __init__(self):
        self.krls_t = KRLST(39)
        super().__init__(Inputs(256), Target(), Memory(64, 2), self.krls_t)


def test_learns_a_function_and_its_opposite_from_few_events():
    """Three hundred events after the function has turned over, the error is half of the mean's."""
    engine = Alone()
    engine_errors(engine, products(2_000))
    found = engine_errors(engine, products(600, seed=1, sign=-1.0))
    size = np.mean([abs(y) for _, y in products(600, seed=1)])
    assert found[:20].mean() > 1.2 * size
    assert found[300:].mean() < 0.5 * size


def test_begins_anew_when_many_more_inputs_vary():
    """The kernel's width is for three inputs; it is found again for nine."""
    engine = Alone()
    engine_errors(engine, products(500))
    rng = np.random.default_rng(2)
    wider = [
        ({**x, **{f"new{j}": float(rng.normal()) for j in range(6)}}, y)
        for x, y in products(1_000, seed=1)
    ]
    n_points = []
    for event in wider:
        engine_errors(engine, [event])
        n_points.append(int(engine.krls_t.record[N_POINTS]))
    assert n_points[0] == 39
    assert min(n_points) == 0
    assert n_points[-1] == 39


def test_hostile_values_do_no_lasting_harm():
    """Inputs and targets of 1e300 leave it finite, and useful within its memory."""
    engine = Alone()
    engine_errors(engine, products(500))
    for x, _ in products(3, seed=2):
        engine_errors(engine, [({name: 1e300 * value for name, value in x.items()}, -1e300)])
    found = engine_errors(engine, products(500, seed=1))
    assert np.isfinite(found).all()
    assert found[-100:].mean() < 0.6
