"""River's regressors and classifiers."""

from river import (
    base,
    ensemble,
    forest,
    linear_model,
    multiclass,
    naive_bayes,
    neighbors,
    rules,
    tree,
)

from benchmarks.quality.learners.contender import Contender
from benchmarks.quality.learners.scaled import scaled, scaled_inputs


class AnswersFromTheStart(base.Wrapper, base.Regressor):
    """Predicts 0 where the regressor predicts None, which EWARegressor can't add up."""

    def __init__(self, regressor: base.Regressor) -> None:
        self.regressor = regressor

    @property
    def _wrapped_model(self) -> base.Regressor:
        return self.regressor

    def learn_one(self, x: dict[str, float], y: float) -> None:
        self.regressor.learn_one(x, y)

    def predict_one(self, x: dict[str, float]) -> float:
        return self.regressor.predict_one(x) or 0.0


def _nearest(kind: type[base.Estimator], seed: int) -> base.Estimator:
    # Default settings with a seed, as its graph is random.
    return kind(engine=neighbors.SWINN(seed=seed))


RIVER = (
    Contender(
        "river-linear",
        "River LinearRegression",
        "online",
        scaled(lambda _: linear_model.LinearRegression()),
    ),
    Contender(
        "river-bayesian-linear",
        "River BayesianLinearRegression",
        "online",
        scaled(lambda _: linear_model.BayesianLinearRegression()),
    ),
    Contender(
        "river-knn",
        "River KNNRegressor",
        "online",
        scaled(lambda seed: _nearest(neighbors.KNNRegressor, seed)),
        "defaults: k = 5, the SWINN graph",
    ),
    Contender(
        "river-hatr",
        "River HoeffdingAdaptiveTreeRegressor",
        "online",
        scaled(lambda seed: tree.HoeffdingAdaptiveTreeRegressor(seed=seed)),
    ),
    Contender("river-amrules", "River AMRules", "online", scaled(lambda _: rules.AMRules())),
    Contender(
        "river-arf",
        "River ARFRegressor",
        "online",
        scaled(lambda seed: forest.ARFRegressor(seed=seed)),
        "defaults: 10 trees",
    ),
    Contender(
        "river-srp",
        "River SRPRegressor",
        "online",
        scaled(lambda seed: ensemble.SRPRegressor(seed=seed)),
        "defaults: 10 trees",
    ),
    Contender(
        "river-ewa",
        "River EWARegressor",
        "online",
        scaled(
            lambda seed: ensemble.EWARegressor(
                [
                    linear_model.LinearRegression(),
                    tree.HoeffdingAdaptiveTreeRegressor(seed=seed),
                    AnswersFromTheStart(_nearest(neighbors.KNNRegressor, seed)),
                    AnswersFromTheStart(forest.AMFRegressor(seed=seed)),
                ]
            )
        ),
        "experts: LinearRegression, HoeffdingAdaptiveTreeRegressor, KNNRegressor, AMFRegressor",
    ),
)

RIVER_CLASSIFIERS = (
    Contender(
        "river-logistic",
        "River LogisticRegression",
        "online",
        scaled_inputs(lambda _: multiclass.OneVsRestClassifier(linear_model.LogisticRegression())),
        "one against the rest",
        task="classification",
    ),
    Contender(
        "river-hat",
        "River HoeffdingAdaptiveTreeClassifier",
        "online",
        scaled_inputs(lambda seed: tree.HoeffdingAdaptiveTreeClassifier(seed=seed)),
        task="classification",
    ),
    Contender(
        "river-knn-classifier",
        "River KNNClassifier",
        "online",
        scaled_inputs(lambda seed: _nearest(neighbors.KNNClassifier, seed)),
        "defaults: k = 5, the SWINN graph",
        task="classification",
    ),
    Contender(
        "river-arf-classifier",
        "River ARFClassifier",
        "online",
        scaled_inputs(lambda seed: forest.ARFClassifier(seed=seed)),
        "defaults: 10 trees",
        task="classification",
    ),
    Contender(
        "river-gaussian-nb",
        "River GaussianNB",
        "online",
        scaled_inputs(lambda _: naive_bayes.GaussianNB()),
        task="classification",
    ),
)
