"""The learners: ours and their peers. Ids are permanent."""

from benchmarks.quality.learners.capymoa_peers import CAPYMOA
from benchmarks.quality.learners.contender import Contender, Family
from benchmarks.quality.learners.krls_t import KRLS_T
from benchmarks.quality.learners.lags import with_lags
from benchmarks.quality.learners.lightgbm_peers import LIGHTGBM
from benchmarks.quality.learners.ours import OUR_CLASSIFIERS, OURS
from benchmarks.quality.learners.river_peers import RIVER, RIVER_CLASSIFIERS
from benchmarks.quality.learners.scikit_learn_peers import SCIKIT_LEARN
from benchmarks.quality.learners.vowpal_wabbit_peers import (
    VOWPAL_WABBIT,
    VOWPAL_WABBIT_CLASSIFIERS,
)

WITH_LAGS = (
    "river-linear",
    "river-hatr",
    "river-knn",
    "river-arf",
    "river-ewa",
    "capymoa-knn-3",
    "capymoa-sgbr",
    "vw-cubic-nn",
    "sklearn-mlp-replay",
    "krls-t",
    "batch-gradient-boosting",
    "batch-kernel-ridge",
    "batch-extra-trees",
    "batch-lightgbm",
)
"""Peers that also run with the last two targets as inputs, which our learners see."""

PEERS = (*RIVER, *CAPYMOA, *VOWPAL_WABBIT, *KRLS_T, *SCIKIT_LEARN, *LIGHTGBM)
LAGGED = tuple(with_lags(peer) for peer in PEERS if peer.id in WITH_LAGS)
REGRESSORS = (*OURS, *PEERS, *LAGGED)
CLASSIFIERS = (*OUR_CLASSIFIERS, *RIVER_CLASSIFIERS, *VOWPAL_WABBIT_CLASSIFIERS)
CONTENDERS = {contender.id: contender for contender in (*REGRESSORS, *CLASSIFIERS)}

__all__ = ["CLASSIFIERS", "CONTENDERS", "REGRESSORS", "Contender", "Family"]
