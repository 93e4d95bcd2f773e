import copy
import math
import pickle
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from itertools import cycle
from threading import Event, Thread
from time import monotonic, sleep

import numpy as np
import pytest

from iln_stream.learners import state_of
from iln_stream.learners.estimators import Averaged, Pool
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.keyed.regressor import KeyedRegressor
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.state import to_bytes

LEARNERS = {
    "accurate": InfiniteLayerRegressor(seed=1),
    "fast": InfiniteLayerRegressor("fast", seed=1),
    "classifier": InfiniteLayerClassifier(seed=1),
    "ridge": RandomFeatureRidge(32, seed=1),
    "sampled": ShrinkingGradient(draws=30, budget=50, policy="compress", seed=1),
    "averaged": ShrinkingGradient(estimator=Averaged(), draws=30, seed=1),
    "pool": ShrinkingGradient(estimator=Pool(32), step=0.5, seed=1),
    "keyed": KeyedRegressor("x0", InfiniteLayerRegressor("fast", seed=1)),
    "wrapped": ScaledTarget(WinsorisedScaler() | ShrinkingGradient(draws=30, seed=1)),
}
QUESTIONS = {
    "accurate": ("predict_one", "predict_interval"),
    "fast": ("predict_one", "predict_interval"),
    "classifier": ("predict_proba_one",),
    "keyed": ("predict_one", "predict_interval"),
    "averaged": ("predict_one", "estimate", "estimate_average"),
}
READINGS = (
    "alpha_l1", "drift", "estimate_variance", "expert_weights", "n_learned", "n_seen", "n_support",
    "noise", "redrawn_at", "relevance", "target_unit",
)  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


def content(model):
    """A model's complete state, in comparable form."""
    return to_bytes(state_of(model))


def stream(n, classes):
    """n events among which columns keep coming, with zeros of either sign among the values."""
    rng = np.random.default_rng(0)
    for t in range(n):
        values = rng.normal(size=1 + 30 * t // n).tolist()
        # Names that are no longer in order once new ones come.
        x = {f"x{(7 * j) % 30}": v if v > -0.5 else -0.0 for j, v in enumerate(values)}
        y = x["x0"] * x.get("x7", 1.0) + 0.1 * t % 0.3
        yield x, f"class {int(9 * y) // (2 if t < 99 else 1)}" if classes else y


def learn(model, events, first_asked, rounds=()):
    """Learn, with a prediction before every other event, and a round of each thread's questions
    in each quarter of the events, however the machine shares its processors."""
    until = monotonic() + 60.0
    for t, (x, y) in enumerate(events):
        if t % 2:
            first_asked(x)
        model.learn_one(x, y)
        while any(n < 4 * t // len(events) for n in rounds) and monotonic() < until:
            sleep(1e-3)


def numbers(answer):
    """The numbers in a learner's answer."""
    if isinstance(answer, dict):
        return list(answer.values())
    return list(answer) if isinstance(answer, tuple) else [answer]


def ask(model, questions, events, done, rounds, thread, faults):
    """Query everything a learner reports until it has learned all; collect invalid answers."""
    try:
        for x, _ in cycle(events):
            told = [number for question in questions for number in numbers(question(x))]
            told += [v for name in READINGS for v in numbers(getattr(model, name, 0.0))]
            if not all(map(math.isfinite, told)):
                faults.append(f"not finite: {told}")
            for name in ("relevance", "expert_weights"):
                shares = numbers(getattr(model, name, {}))
                if any(shares) and not math.isclose(sum(shares), 1.0, abs_tol=1e-6):
                    faults.append(f"{name}: {shares}")
            if first_order := getattr(model, "first_order", None):
                told += [first_order.alpha_l1, first_order.noise, first_order.predict_one(x)]
            rounds[thread] += 1
            if done.is_set():
                break
    except BaseException as fault:
        faults.append(fault)
        rounds[thread] = math.inf  # nobody waits for it
    if rounds[thread] < 3:
        faults.append(f"only {rounds[thread]} rounds of questions")


@contextmanager
def threads_that_switch_often():
    """Threads take turns every 10 microseconds, where it is 5 milliseconds otherwise."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


@pytest.mark.parametrize("name", LEARNERS)
def test_other_threads_may_ask_while_one_learns(name):
    """Three threads that query everything get only valid answers, and leave the state unchanged."""
    quiet, asked = LEARNERS[name].clone(), LEARNERS[name].clone()
    questions = QUESTIONS.get(name, ("predict_one",))
    n = 600 if name in ("fast", "keyed", "averaged", "pool", "wrapped") else 140
    events = list(stream(n, classes=name == "classifier"))
    learn(quiet, events, getattr(quiet, questions[0]))
    done, rounds, faults = Event(), [0, 0, 0], []
    asking = [getattr(asked, q) for q in questions]
    threads = [
        Thread(target=ask, args=(asked, asking, events, done, rounds, k, faults), daemon=True)
        for k in range(3)
    ]
    with threads_that_switch_often():
        for thread in threads:
            thread.start()
        try:
            learn(asked, events, getattr(asked, questions[0]), rounds)
        finally:
            done.set()
            for thread in threads:
                thread.join(60.0)
    assert faults == []
    assert content(asked) == content(quiet)


class Slow(Mapping):
    """Inputs whose names are available only once `go_on` is set."""

    def __init__(self):
        self.asked, self.go_on = Event(), Event()

    def __iter__(self):
        self.asked.set()
        self.go_on.wait(60.0)
        return iter(["a", "b"])

    def __len__(self):
        return 2

    def __getitem__(self, name):
        return 1.0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.parametrize("name", ["fast", "classifier", "sampled", "keyed"])
def test_a_copy_waits_for_nobody(name, copied):
    """A query of a learner waits for the query before it; a query of a copy does not."""
    model = LEARNERS[name].clone()
    model.learn_one({"a": 1.0}, 1.0)
    twin, x = copied(model), Slow()
    question = QUESTIONS.get(name, ("predict_one",))[0]
    ask_first, ask_next, ask_twin = (
        Thread(target=getattr(of, question), args=(inputs,), daemon=True)
        for of, inputs in ((model, x), (model, {"a": 1.0}), (twin, {"a": 1.0}))
    )
    ask_first.start()
    assert x.asked.wait(60.0)
    ask_next.start()
    ask_twin.start()
    ask_twin.join(60.0)
    assert (ask_first.is_alive(), ask_next.is_alive(), ask_twin.is_alive()) == (True, True, False)
    x.go_on.set()
    ask_next.join(60.0)
    assert not ask_next.is_alive()
