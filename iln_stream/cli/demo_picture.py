"""Draws the running loss of each model, and the shrinking run."""

from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iln_stream.cli.demo import OUR_ALGORITHM_1, OUR_POOL, OURS, Trajectory

_OUR_COLOURS = {OURS: "#d62728", OUR_ALGORITHM_1: "#e377c2", OUR_POOL: "#9467bd"}
_SHRINK_COLOUR = "#7f7f7f"
_OTHER_COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#8c564b", "#7f7f7f")
_FROM_EVENT = 20
"""Means of fewer errors are too noisy to show."""


def draw(runs: Mapping[str, Mapping[str, Trajectory]], shrinking: Trajectory, file: Path) -> None:
    """Save a picture with one panel per stream and one for the shrinking run.

    Parameters
    ----------
    runs
        Trajectory of each model on each stream, by title and name.
    shrinking
        Trajectory of a run that shrinks.
    file
        File to write; its suffix determines the format.

    """
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    axes = figure.subplots(1, len(runs) + 1)
    for panel, (title, trajectories) in zip(axes, runs.items(), strict=False):
        _draw_losses(panel, title, trajectories)
    axes[0].set_ylabel("running loss, mean of (ŷ − y)²/2")
    axes[0].legend(fontsize="small")
    _draw_shrinking(axes[-1], shrinking)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=110)


def _draw_losses(panel: Axes, title: str, trajectories: Mapping[str, Trajectory]) -> None:
    others = iter(_OTHER_COLOURS)
    for model, trajectory in trajectories.items():
        losses = trajectory.running_loss[_FROM_EVENT:]
        colour = _OUR_COLOURS.get(model)
        panel.plot(
            range(_FROM_EVENT + 1, _FROM_EVENT + 1 + len(losses)),
            losses,
            label=model,
            linewidth=2.2 if colour else 1.2,
            color=colour or next(others),
            zorder=3 if colour else 2,
        )
    panel.set(title=title, xlabel="event", yscale="log")
    panel.grid(alpha=0.3)


def _draw_shrinking(panel: Axes, trajectory: Trajectory) -> None:
    panel.plot(trajectory.alpha_l1, color=_OUR_COLOURS[OUR_ALGORITHM_1], linewidth=1.2)
    for event in trajectory.shrinks:
        panel.axvline(event, color=_SHRINK_COLOUR, linewidth=0.5, alpha=0.5, zorder=1)
    panel.set(
        title=f"norm bound far too small: {len(trajectory.shrinks)} shrinks",
        xlabel="event (grey: α ← α/4)",
        ylabel="‖α‖₁",
    )
