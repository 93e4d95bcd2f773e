"""Draws the mean absolute error of each model as it learns."""

from collections.abc import Mapping
from pathlib import Path

from iln_stream.cli.demo import Trajectory
from iln_stream.plotting import drawing

_FROM_EVENT = 20
"""Means of fewer errors are too noisy to show."""


def draw(runs: Mapping[str, Mapping[str, Trajectory]], file: Path) -> None:
    """Save a picture with a panel for each stream.

    Parameters
    ----------
    runs
        Trajectory of each model on each stream, by title and name; ours come first, then River's,
        then those that look at no input.
    file
        File to write; its suffix determines the format.

    """
    kit = drawing()
    figure = kit.new_figure(10.0, 4.6)
    panels = figure.subplots(1, len(runs))
    looks = [
        *((kit.VERMILION, "-", 2.4), (kit.VERMILION, "--", 1.2), (kit.VERMILION, ":", 1.2)),
        *((kit.BLUE, "-", 1.2), (kit.SKY, "-", 1.2), (kit.BLUE, "--", 1.2)),
        *((kit.BLACK, "-", 1.4), (kit.GREY, "-", 1.2)),
    ]
    for panel, (title, trajectories) in zip(panels, runs.items(), strict=True):
        for (name, each), (colour, dashes, width) in zip(trajectories.items(), looks, strict=True):
            means = each.running_mae[_FROM_EVENT:]
            events = range(_FROM_EVENT + 1, _FROM_EVENT + 1 + len(means))
            panel.plot(events, means, dashes, color=colour, linewidth=width, label=name)
        panel.set(title=title, xlabel="event")
        panel.grid(alpha=0.3)
        kit.log_scale(panel)
    panels[0].set_ylabel("mean absolute error so far")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    kit.save(figure, file)
