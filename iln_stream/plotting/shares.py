"""Draws shares that sum to one: the relevance of inputs, and the weights of experts."""

from collections.abc import Mapping
from typing import Any

from iln_stream.errors import IlnError
from iln_stream.plotting.needed import drawing


def plot_relevance(model: Any, *, most: int = 12, figure: Any = None) -> Any:
    """Draw how much a model's predictions depend on each input.

    Bars of booleans and categories say little: see `InfiniteLayerRegressor.relevance`.

    Parameters
    ----------
    model
        A learner with an attribute `relevance`, such as `InfiniteLayerRegressor`, also behind
        scalers or within wrappers.
    most
        Inputs with bars of their own; the others have one bar together.
    figure
        A figure or subfigure of matplotlib to draw in; by default a new one.

    Returns
    -------
    figure
        Save it by `figure.savefig("picture.png")`; a notebook shows it.

    Raises
    ------
    IlnError
        When the model has no relevance, or has learned nothing yet.
    ImportError
        When matplotlib is missing.

    Examples
    --------
    >>> from river.datasets import synth
    >>> from iln_stream import InfiniteLayerRegressor, plot_relevance
    >>> model = InfiniteLayerRegressor("fast", seed=1)
    >>> for x, y in synth.Friedman(seed=1).take(1000):
    ...     model.learn_one(x, y)
    >>> (axes,) = plot_relevance(model, most=5).axes
    >>> [label.get_text() for label in axes.get_yticklabels()][-1]
    '5 others'

    """
    label = "share of the relevance (of booleans and categories: unreliable)"
    return _plot_shares(model, "relevance", label, most, figure)


def plot_weights(model: Any, *, most: int = 12, figure: Any = None) -> Any:
    """Draw the weight of each expert in a model's prediction.

    Parameters
    ----------
    model
        A learner with an attribute `expert_weights`, such as `InfiniteLayerRegressor`, also behind
        scalers or within wrappers.
    most
        Experts with bars of their own; the others have one bar together.
    figure
        A figure or subfigure of matplotlib to draw in; by default a new one.

    Returns
    -------
    figure
        As of `plot_relevance`.

    Raises
    ------
    IlnError
        When the model has no experts, or has learned nothing yet.
    ImportError
        When matplotlib is missing.

    Examples
    --------
    >>> from iln_stream import InfiniteLayerRegressor, plot_weights
    >>> model = InfiniteLayerRegressor("fast", seed=1)
    >>> for t in range(100):
    ...     model.learn_one({"hour": t % 24}, float(t % 24))
    >>> (axes,) = plot_weights(model).axes
    >>> {label.get_text() for label in axes.get_yticklabels()} == set(model.expert_weights)
    True

    """
    return _plot_shares(model, "expert_weights", "weight in the prediction", most, figure)


def _plot_shares(model: Any, name: str, meaning: str, most: int, figure: Any) -> Any:
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise IlnError(f"most must be a number of bars, at least 1, not {most!r}")
    kit = drawing()
    shares = _shares(model, name)
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    bars = [(str(key), share, kit.BLUE) for key, share in ordered[:most]]
    if others := [share for _, share in ordered[most:]]:
        bars.append((f"{len(others)} others", sum(others), kit.GREY))
    labels, widths, colours = zip(*bars, strict=True)
    figure = kit.new_figure(7.2, 1.0 + 0.27 * len(bars)) if figure is None else figure
    axes = figure.subplots()
    drawn = axes.barh(range(len(bars)), widths, color=colours)
    axes.set_yticks(range(len(bars)), labels)
    axes.bar_label(drawn, fmt=_short, padding=3, fontsize="small")
    axes.set(xlabel=f"{meaning} (all sum to 1)", xlim=(0.0, 1.12 * max(widths)))
    axes.invert_yaxis()  # the largest above
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    return figure


def _shares(model: Any, name: str) -> Mapping[Any, float]:
    from iln_stream.learners.introspection import find_with  # loads the learners

    learner = find_with(name, model)
    if learner is None:
        raise IlnError(
            f"{type(model).__name__} has no {name}: give an InfiniteLayerRegressor, an "
            "InfiniteLayerClassifier, or a learner of your own that has it, a dict of shares"
        )
    shares: Mapping[Any, float] = getattr(learner, name)
    if not sum(shares.values()) > 0.0:
        raise IlnError(f"the {type(learner).__name__} has learned nothing yet, so it has no {name}")
    return shares


def _short(share: float) -> str:
    return f"{share:.2f}" if share >= 0.005 or not share else "< 0.01"
