import pytest
from river import compose, linear_model, preprocessing

from iln_stream.errors import IlnError
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.plotting import plot_relevance, plot_weights


@pytest.fixture(scope="module")
def learner():
    made = InfiniteLayerRegressor("fast", seed=1)
    for i in range(200):
        made.learn_one({"a": i % 7, "b": i % 11, "c": i % 5}, 3.0 * (i % 7) + i % 5)
    return made


def bars(figure):
    """The length of each bar, by its label, from top to bottom."""
    (axes,) = figure.axes
    assert axes.yaxis_inverted()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    return dict(zip(labels, (bar.get_width() for bar in axes.patches), strict=True))


def test_relevance(learner):
    """A bar for each input, its length the relevance, the largest above; and for each expert."""
    found = bars(plot_relevance(learner))
    assert found == learner.relevance
    assert list(found) == sorted(found, key=found.__getitem__, reverse=True)
    assert next(iter(found)) == "a"
    assert bars(plot_weights(learner)) == pytest.approx(learner.expert_weights)


def test_shares_are_written_at_the_bars():
    """In hundredths; a share that would be rounded to 0 is no 0."""

    class Learner:
        relevance = {"a": 0.751, "b": 0.248, "c": 0.001, "d": 0.0}  # noqa: RUF012

    (axes,) = plot_relevance(Learner()).axes
    assert [text.get_text() for text in axes.texts] == ["0.75", "0.25", "< 0.01", "0.00"]


def test_others_are_one_bar(learner):
    """Beyond `most`, inputs share a bar, so that all bars sum to one."""
    found = bars(plot_relevance(learner, most=1))
    assert list(found) == ["a", "2 others"]
    assert sum(found.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: preprocessing.TargetStandardScaler(WinsorisedScaler() | inner),
        lambda inner: compose.Pipeline(preprocessing.StandardScaler(), inner),
    ],
)
def test_behind_scalers(wrap, learner):
    """The learner is found at the end of pipelines and in wrappers."""
    assert bars(plot_relevance(wrap(learner))) == learner.relevance


def test_a_classifier():
    """A classifier has both, too."""
    made = InfiniteLayerClassifier(seed=1)
    for i in range(100):
        made.learn_one({"a": i % 7, "b": i % 11}, i % 7 > 3)
    assert bars(plot_relevance(made)).keys() == {"a", "b"}
    assert sum(bars(plot_weights(made)).values()) == pytest.approx(1.0)


def test_a_learner_of_ones_own():
    """An attribute of the name is enough."""

    class Mine:
        def __init__(self):
            self.relevance = {"x": 0.75, 3: 0.25}

    assert bars(plot_relevance(Mine())) == {"x": 0.75, "3": 0.25}


def test_what_has_no_shares():
    """The error says which learners have them, and when."""
    with pytest.raises(IlnError, match="LinearRegression has no relevance: give an Infinite"):
        plot_relevance(linear_model.LinearRegression())
    with pytest.raises(IlnError, match="has learned nothing yet"):
        plot_relevance(InfiniteLayerRegressor("fast"))
    with pytest.raises(IlnError, match="most must be a number of bars"):
        plot_relevance(InfiniteLayerRegressor("fast"), most=0)
