"""Families of hidden units: a distribution mu to draw w from, and a function psi(x; w)."""

from iln_stream.features.affine import (
    Activation,
    AffineFeatures,
    AffineWeights,
    BiasLaw,
    GaussianAffineFeatures,
    as_gaussian_ridges,
    as_ridges,
)
from iln_stream.features.arc_cosine import ArcCosine
from iln_stream.features.base import LARGEST_INPUT, ClosedForm, Features, Kernel, closed_form
from iln_stream.features.cauchy_fourier import CauchyFourier
from iln_stream.features.check import FeaturesError, check_features
from iln_stream.features.decision_stumps import DecisionStumps
from iln_stream.features.erf import Erf
from iln_stream.features.gaussian_fourier import GaussianFourier
from iln_stream.features.laplacian_fourier import LaplacianFourier
from iln_stream.features.mixture import Mixture
from iln_stream.features.random_network import RandomNetwork
from iln_stream.features.sigmoid import Sigmoid
from iln_stream.features.tanh import Tanh
from iln_stream.features.uniform_coordinates import UniformCoordinates

__all__ = [
    "LARGEST_INPUT",
    "Activation",
    "AffineFeatures",
    "AffineWeights",
    "ArcCosine",
    "BiasLaw",
    "CauchyFourier",
    "ClosedForm",
    "DecisionStumps",
    "Erf",
    "Features",
    "FeaturesError",
    "GaussianAffineFeatures",
    "GaussianFourier",
    "Kernel",
    "LaplacianFourier",
    "Mixture",
    "RandomNetwork",
    "Sigmoid",
    "Tanh",
    "UniformCoordinates",
    "as_gaussian_ridges",
    "as_ridges",
    "check_features",
    "closed_form",
]
