"""Online methods that the paper and its sources compare with, as River estimators."""

from iln_stream.research.related.amm import AdaptiveMultiHyperplane
from iln_stream.research.related.budgeted_kernel_sgd import BudgetedKernelSGD
from iln_stream.research.related.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from iln_stream.research.related.kernel_pegasos import KernelPegasos
from iln_stream.research.related.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from iln_stream.research.related.norma import NormaClassifier, NormaRegressor
from iln_stream.research.related.nystroem_sgd import NystroemClassifier, NystroemRegressor
from iln_stream.research.related.pegasos import Pegasos
from iln_stream.research.related.semi_random import SemiRandomClassifier, SemiRandomRegressor

__all__ = [
    "AdaptiveMultiHyperplane",
    "BudgetedKernelSGD",
    "DoublyStochasticClassifier",
    "DoublyStochasticRegressor",
    "KernelPegasos",
    "KitchenSinksClassifier",
    "KitchenSinksRegressor",
    "NormaClassifier",
    "NormaRegressor",
    "NystroemClassifier",
    "NystroemRegressor",
    "Pegasos",
    "SemiRandomClassifier",
    "SemiRandomRegressor",
]
