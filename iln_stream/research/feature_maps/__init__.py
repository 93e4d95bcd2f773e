"""Feature maps: phi with phi(x).phi(x') an estimate of a kernel.

Cosine Fourier features and arc-cosine features are `FromFamily` of families in
`iln_stream.features`. For random projections, that is the linear kernel, use
`river.preprocessing.GaussianRandomProjector` or `SparseRandomProjector`.
"""

from iln_stream.research.feature_maps.base import DrawnMap, FeatureMap
from iln_stream.research.feature_maps.fastfood import Fastfood
from iln_stream.research.feature_maps.from_family import FromFamily
from iln_stream.research.feature_maps.nystroem import LandmarkReservoir, NystroemMap
from iln_stream.research.feature_maps.orthogonal import OrthogonalFourier
from iln_stream.research.feature_maps.random_binning import RandomBinning
from iln_stream.research.feature_maps.sine_cosine import SineCosine

__all__ = [
    "DrawnMap",
    "Fastfood",
    "FeatureMap",
    "FromFamily",
    "LandmarkReservoir",
    "NystroemMap",
    "OrthogonalFourier",
    "RandomBinning",
    "SineCosine",
]
