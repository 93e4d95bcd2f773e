"""Draws each learner's result on each stream, and errors against speed."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmarks.quality.learners import CONTENDERS
from benchmarks.quality.learners.lags import SUFFIX
from benchmarks.quality.store import Store
from benchmarks.quality.summary import rows
from benchmarks.quality.tables.table import GROUPS, REGRESSION

RIGHT_END = 1.6
"""Upper limit of the axis: worse results are drawn here."""

NAMED = {
    "iln-accurate": ("#d62728", "o", 75),
    "iln-fast": ("#ff7f0e", "o", 45),
    "iln-pool": ("#9467bd", "o", 28),
    "iln-shrinking-gradient": ("#8c564b", "o", 28),
    "vw-cubic-nn": ("#2ca02c", "v", 34),
    "river-ewa": ("#1f77b4", "^", 34),
    "capymoa-knn-3": ("#17becf", "s", 24),
    "batch-kernel-ridge": ("#111111", "x", 30),
    "batch-gradient-boosting": ("#111111", "+", 40),
}
"""Colour, marker and size of highlighted learners; the others are grey."""
OTHERS = ("#bbbbbb", ".", 40)
LABELLED = (
    *("iln-accurate", "iln-fast", "iln-pool", "vw-cubic-nn", "krls-t", "batch-gradient-boosting"),
    *("river-ewa", "river-arf", "river-knn", "river-hatr", "river-linear"),
)
"""Learners that have their names in the picture of speeds, where others would overlap them."""


def draw(store: Store, file: Path) -> None:
    """Save a picture with a panel per group, a line per stream and a mark per learner."""
    found = {title: rows(store, [stream.id for stream in group]) for title, group in GROUPS.items()}
    groups = {title: group for title, group in GROUPS.items() if found[title]}
    figure = Figure(figsize=(9, 10.5), layout="constrained")
    heights = [len(group) + 1.2 for group in groups.values()]
    panels = figure.subplots(len(groups), 1, height_ratios=heights, sharex=True, squeeze=False)[
        :, 0
    ]
    shown: set[str] = set()
    for panel, (title, group) in zip(panels, groups.items(), strict=True):
        for row in found[title]:
            colour, marker, size = NAMED.get(row.learner.id, OTHERS)
            shown.add(row.learner.id)
            panel.scatter(
                [min(ratio, RIGHT_END) for ratio in row.ratios.values()],
                range(len(group)),
                c=colour,
                marker=marker,
                s=size,
                zorder=4 if row.learner.family == "ours" else 3 if marker != "." else 2,
            )
        panel.axvline(1.0, color="#444444", linewidth=0.8, linestyle="--", zorder=1)
        panel.set_yticks(range(len(group)), [stream.id for stream in group])
        panel.set_ylim(len(group) - 0.4, -0.6)
        panel.set_xscale("log")
        panel.set_title(title, loc="left", fontsize="medium")
        panel.grid(axis="both", alpha=0.25)
    ticks = [0.1, 0.2, 0.3, 0.5, 0.7, 1.0, RIGHT_END]
    panels[-1].set_xticks(ticks, [f"{t:g}" for t in ticks[:-1]] + [f"≥ {RIGHT_END}"])
    panels[-1].set_xticks([], minor=True)
    panels[-1].set_xlabel("MAE / MAE of the running mean (left is better)")
    figure.legend(handles=_legend(shown), loc="outside lower center", ncols=3, fontsize="small")
    _save(figure, file)


def draw_speeds(store: Store, file: Path) -> None:
    """Save a picture of errors against speed: a mark per learner that ran on all streams.

    Of a peer with and without lags, the better one.
    """
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    panel = figure.subplots()
    drawn: set[str] = set()
    for row in rows(store, [stream.id for stream in REGRESSION]):
        id_ = row.learner.id.removesuffix(SUFFIX)
        if id_ in drawn:
            continue
        drawn.add(id_)
        place = row.events_per_s, row.mean_ratio
        colour, marker, size = NAMED.get(id_, OTHERS) if id_ in LABELLED else OTHERS
        panel.scatter(*place, c=colour, marker=marker, s=size)
        if id_ in LABELLED:
            title = CONTENDERS[id_].title
            panel.annotate(title, place, (6, -3), textcoords="offset points", fontsize=7)
    panel.set_xscale("log")
    panel.set_xlim(right=1e6)
    panel.grid(alpha=0.25)
    panel.set_xlabel("events per second of processor time (right is faster)")
    panel.set_ylabel("MAE / MAE of the running mean (lower is better)")
    _save(figure, file)


def _save(figure: Figure, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    # Without matplotlib's version, the same picture is the same file.
    figure.savefig(file, dpi=110, metadata={"Software": None})


def _legend(shown: set[str]) -> list[Line2D]:
    named = {CONTENDERS[id_].title: style for id_, style in NAMED.items() if id_ in shown}
    return [
        Line2D([], [], color=colour, marker=marker, linestyle="", markersize=size**0.5, label=title)
        for title, (colour, marker, size) in {**named, "other online peers": OTHERS}.items()
    ]
