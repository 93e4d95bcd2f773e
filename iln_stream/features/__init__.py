"""Families of hidden units: a law mu to draw w from, and an activation psi(x; w)."""

from iln_stream.features.base import LARGEST_INPUT, ClosedForm, Features, Kernel, closed_form
from iln_stream.features.check import FeaturesError, check_features
from iln_stream.features.decision_stumps import DecisionStumps
from iln_stream.features.gaussian_fourier import GaussianFourier
from iln_stream.features.mixture import Mixture
from iln_stream.features.random_network import RandomNetwork
from iln_stream.features.uniform_coordinates import UniformCoordinates

__all__ = [
    "LARGEST_INPUT",
    "ClosedForm",
    "DecisionStumps",
    "Features",
    "FeaturesError",
    "GaussianFourier",
    "Kernel",
    "Mixture",
    "RandomNetwork",
    "UniformCoordinates",
    "check_features",
    "closed_form",
]
