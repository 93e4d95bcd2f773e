"""Online methods that the paper and its sources compare with, as River estimators."""

from iln_stream.related.amm import AdaptiveMultiHyperplane
from iln_stream.related.budgeted_kernel_sgd import BudgetedKernelSGD
from iln_stream.related.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from iln_stream.related.kernel_pegasos import KernelPegasos
from iln_stream.related.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from iln_stream.related.norma import NormaClassifier, NormaRegressor
from iln_stream.related.nystroem_sgd import NystroemClassifier, NystroemRegressor
from iln_stream.related.pegasos import Pegasos
from iln_stream.related.semi_random import SemiRandomClassifier, SemiRandomRegressor

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
