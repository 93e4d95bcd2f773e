"""The learners: ours and their peers. Ids are permanent."""

from benchmarks.quality.learners.capymoa_peers import CAPYMOA
from benchmarks.quality.learners.contender import Contender, Family
from benchmarks.quality.learners.ours import OUR_CLASSIFIERS, OURS
from benchmarks.quality.learners.river_peers import RIVER, RIVER_CLASSIFIERS
from benchmarks.quality.learners.scikit_learn_peers import SCIKIT_LEARN
from benchmarks.quality.learners.vowpal_wabbit_peers import (
    VOWPAL_WABBIT,
    VOWPAL_WABBIT_CLASSIFIERS,
)

REGRESSORS = (*OURS, *RIVER, *CAPYMOA, *VOWPAL_WABBIT, *SCIKIT_LEARN)
CLASSIFIERS = (*OUR_CLASSIFIERS, *RIVER_CLASSIFIERS, *VOWPAL_WABBIT_CLASSIFIERS)
CONTENDERS = {contender.id: contender for contender in (*REGRESSORS, *CLASSIFIERS)}

__all__ = ["CLASSIFIERS", "CONTENDERS", "REGRESSORS", "Contender", "Family"]
