"""Explanations of predictions are Shapley values."""

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import base, compose, datasets, linear_model, naive_bayes, preprocessing
from support.prequential import learned

from iln_stream.learners.explaining import explain_one

NAMES = "abcd"
NUMBERS = st.integers(-5, 5).map(float)
EVENTS = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, NUMBERS))
BACKGROUNDS = st.lists(EVENTS, min_size=1, max_size=4)


class Formula(base.Regressor):
    """A regressor that computes a formula."""

    def __init__(self, formula: Callable[[Mapping[Any, float]], float]) -> None:
        self.formula = formula

    def learn_one(self, x, y):
        raise AssertionError("an explanation must not learn")

    def predict_one(self, x):
        return self.formula(x)


def exact(formula, x, background):
    """Shapley values by all orders of all inputs: the definition."""
    players = sorted({*x, *itertools.chain(*background)})
    total = dict.fromkeys(players, 0.0)
    for event in background:
        for order in itertools.permutations(players):
            mixed = dict(event)
            for player in order:
                before = formula(mixed)
                mixed.pop(player, None)
                if player in x:
                    mixed[player] = x[player]
                total[player] += formula(mixed) - before
    n = len(background) * math.factorial(len(players))
    return {player: value / n for player, value in total.items()}


def value(x, name):
    """An absent input counts as 7, so that absence matters."""
    return x.get(name, 7.0)


def pairs_only(x):
    a, b, c, d = (value(x, name) for name in NAMES)
    return math.sin(a) + b**2 + 3 * a * c - math.exp(c / 3) * d + 2


def of_three(x):
    a, b, c, _ = (value(x, name) for name in NAMES)
    return a * b * c + a


@given(EVENTS, BACKGROUNDS)
def test_exact_where_at_most_two_inputs_interact(x, background):
    """One order and its reverse for each event give the definition's values; absence counts."""
    found = explain_one(Formula(pairs_only), x, background).contributions
    assert found == pytest.approx(exact(pairs_only, x, background), abs=1e-9)


@given(EVENTS, BACKGROUNDS)
def test_values_sum_to_prediction_minus_baseline(x, background):
    """Efficiency holds for any model, also where single values are estimates; and d, at which the
    model does not look, contributes nothing."""
    found = explain_one(Formula(of_three), x, background)
    assert found.prediction == of_three(x)
    assert found.baseline == pytest.approx(sum(map(of_three, background)) / len(background))
    assert sum(found.contributions.values()) == pytest.approx(
        found.prediction - found.baseline, abs=1e-9
    )
    assert found.contributions.get("d", 0.0) == 0.0


def test_more_orders_come_closer_to_the_definition():
    """For a product of three the estimates tend to the Shapley values, a third each; they are the
    same again, and others with another seed."""
    formula = lambda x: x["a"] * x["b"] * x["c"]  # noqa: E731
    x, event = dict.fromkeys("abc", 1.0), dict.fromkeys("abc", 0.0)
    one = explain_one(Formula(formula), x, [event]).contributions
    many = explain_one(Formula(formula), x, [event], n_pairs=2000).contributions
    assert explain_one(Formula(formula), x, [event]).contributions == one
    seeds = [explain_one(Formula(formula), x, [event], seed=n).contributions for n in range(5)]
    assert any(other != one for other in seeds)
    assert one != pytest.approx(many, abs=0.1)
    assert many == pytest.approx(dict.fromkeys("abc", 1 / 3), abs=0.05)


def test_a_fields_categories_are_one_input():
    """Of x the field has one category, of the event another: they change together."""
    seen = []

    def formula(x):
        seen.append([name for name in x if name.startswith("sky=")])
        return 5.0 * x.get("sky=clear", 0.0) - 2.0 * x.get("sky=dark", 0.0) + x["wind"]

    found = explain_one(
        Formula(formula), {"sky=clear": 1.0, "wind": 3.0}, [{"sky=dark": 1.0, "wind": 1.0}]
    )
    assert found.contributions == {"sky": 7.0, "wind": 2.0}
    assert all(len(names) == 1 for names in seen)


def test_few_predictions_are_made():
    """m (2 (d - 1) + 1) + 1 at most; inputs that do not differ cost nothing."""
    calls = []
    model = Formula(lambda x: float(calls.append(1) or sum(x.values()) ** 3))
    x = dict.fromkeys(range(10), 1.0)
    other = dict.fromkeys(range(10), 2.0)
    explain_one(model, x, [other] * 3)
    assert len(calls) <= 3 * 19 + 1
    calls.clear()
    explain_one(model, x, [{**x, 0: 5.0}, x])
    assert len(calls) == 2


def test_a_river_pipeline_is_explained():
    """A pipeline with a scaler and a linear model: contributions are those of its terms."""
    model = preprocessing.StandardScaler() | linear_model.LinearRegression()
    events = [x for x, _ in datasets.TrumpApproval().take(200)]
    learned(model, datasets.TrumpApproval().take(200))
    found = explain_one(model, events[-1], events[:20])
    scaler, linear = model["StandardScaler"], model["LinearRegression"]
    terms = [
        {k: linear.weights[k] * v for k, v in scaler.transform_one(x).items()}
        for x in (*events[:20], events[-1])
    ]
    for name, contribution in found.contributions.items():
        mean = sum(term[name] for term in terms[:-1]) / 20
        assert contribution == pytest.approx(terms[-1][name] - mean, rel=1e-6, abs=1e-9)


def test_a_rivers_classifier_is_explained():
    """The probability of the predicted class, or of the class that is asked for."""
    model = compose.Pipeline(preprocessing.StandardScaler(), naive_bayes.GaussianNB())
    events = [x for x, _ in datasets.Phishing().take(200)]
    learned(model, datasets.Phishing().take(200))
    x = events[-1]
    probabilities = model.predict_proba_one(x)
    found = explain_one(model, x, events[:5])
    assert found.prediction == max(probabilities.values())
    for label, p in probabilities.items():
        asked = explain_one(model, x, events[:5], label=label)
        assert asked.prediction == p
        assert sum(asked.contributions.values()) == pytest.approx(p - asked.baseline)


@pytest.mark.parametrize(
    ("background", "n_pairs", "message"), [([], 1, "background is empty"), ([{}], 0, "n_pairs = 0")]
)
def test_impossible_requests_are_refused(background, n_pairs, message):
    """The error names the argument."""
    with pytest.raises(ValueError, match=message):
        explain_one(Formula(lambda x: 0.0), {"a": 1.0}, background, n_pairs=n_pairs)
