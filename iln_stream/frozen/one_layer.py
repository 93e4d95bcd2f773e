"""Drawn units of a family as one layer of ridges, where possible."""

from typing import Any, NamedTuple

import numpy as np

from iln_stream.features import (
    Activation,
    AffineFeatures,
    AffineWeights,
    ArcCosine,
    Features,
    Mixture,
    as_ridges,
)


class OneLayer(NamedTuple):
    """sigma(omega.z + b), with z in a ball if `radius` is given; see `FrozenNetwork`."""

    activation: Activation
    radius: float | None
    ridges: AffineWeights


def one_layer(family: Features[Any], w: Any, d: int) -> OneLayer:
    """Return the units w that a family drew for d columns.

    Raises
    ------
    ValueError
        When the family's units are not ridges of one kind; the message lists families that qualify.

    """
    if isinstance(family, Mixture):
        layers = [one_layer(group.family, group.w, d) for group in w]
        if len({layer[:2] for layer in layers}) > 1:
            raise ValueError(
                f"{family!r} can't be frozen: its components have different units; "
                "a mixture of one family with several bandwidths can"
            )
        omega = np.concatenate([layer.ridges.omega for layer in layers])
        return layers[0]._replace(
            ridges=AffineWeights(omega, np.concatenate([layer.ridges.b for layer in layers]))
        )
    ridges = as_ridges(family)
    if ridges is not None and type(ridges).inputs is AffineFeatures.inputs:
        return OneLayer(ridges.activation, None, w)
    if isinstance(ridges, ArcCosine) and type(ridges).inputs is ArcCosine.inputs:
        return OneLayer(ridges.activation, ridges.reach(d), w)
    raise ValueError(
        f"{family!r} can't be frozen: its units are not sigma(omega.x + b). Use GaussianFourier, "
        "LaplacianFourier, CauchyFourier, Erf, Tanh, Sigmoid, ArcCosine, or a AffineFeatures whose "
        "inputs are x itself"
    )
