"""The Grafana dashboard as code: `python services/grafana/dashboard` rewrites its JSON."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from grafana_foundation_sdk.builders.common import VizLegendOptions, VizTooltipOptions
from grafana_foundation_sdk.builders.dashboard import Dashboard, QueryVariable, Row
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.builders.timeseries import Panel
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import TooltipDisplayMode
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DataSourceRef,
    VariableOption,
    VariableRefresh,
    VariableSort,
)
from graph import Graph
from rows import (
    algorithm_1,
    api,
    baselines,
    contest,
    keys,
    labels,
    learned,
    predictions,
    publishing,
    snapshots,
    stream,
    workers,
)

JSON_FILE = Path(__file__).parents[1] / "dashboards" / "iln_stream.json"

PROMETHEUS = DataSourceRef(type_val="prometheus", uid="iln-prometheus")
COLUMNS = 24
PER_LINE = 4
"""Panels beside each other, at most: titles and legends of narrower ones can't be read."""

HEIGHT = 8

ROWS = (
    ("How good are the predictions?", predictions.GRAPHS),
    ("Quality against baselines", baselines.GRAPHS),
    ("What has the learner learned?", learned.GRAPHS),
    ("How are the keys doing?", keys.GRAPHS),
    ("Which contender predicts?", contest.GRAPHS),
    ("Is Algorithm 1 healthy?", algorithm_1.GRAPHS),
    ("Does the learner keep up?", stream.GRAPHS),
    ("Do all worker processes run?", workers.GRAPHS),
    ("Do labels arrive in time?", labels.GRAPHS),
    ("What would a crash cost?", snapshots.GRAPHS),
    ("Are published versions fresh?", publishing.GRAPHS),
    ("Does the HTTP API answer?", api.GRAPHS),
)


def lines(graphs: Sequence[Graph]) -> Iterator[Sequence[Graph]]:
    """Divide a row's graphs into as few lines as it takes, the first ones the longer ones."""
    while graphs:
        n_lines = -(-len(graphs) // PER_LINE)
        n = -(-len(graphs) // n_lines)
        yield graphs[:n]
        graphs = graphs[n:]


def panel(graph: Graph, width: int) -> Panel:
    """Return the panel of a graph."""
    made = (
        Panel()
        .title(graph.title)
        .description(graph.description)
        .datasource(PROMETHEUS)
        .unit(graph.unit)
        .axis_soft_min(0)
        .legend(VizLegendOptions().show_legend(True))
        .tooltip(VizTooltipOptions().mode(TooltipDisplayMode.MULTI))
        .span(width)
        .height(HEIGHT)
    )
    for ref_id, query in zip("ABC", graph.queries, strict=False):
        made.with_target(
            Dataquery()
            .datasource(PROMETHEUS)
            .ref_id(ref_id)
            .expr(query.expression)
            .legend_format(query.legend)
            .range()
        )
    return made


def variable(name: str, series: str) -> QueryVariable:
    """Return a template variable with the label's values in these series."""
    return (
        QueryVariable(name)
        .label(name.capitalize())
        .datasource(PROMETHEUS)
        .query(f"label_values({series}, {name})")
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.NATURAL_ASC)
        .multi(True)
        .include_all(True)
        .current(VariableOption(selected=True, text=["All"], value=["$__all"]))
    )


def dashboard() -> Dashboard:
    """Return the dashboard."""
    made = (
        Dashboard("iln_stream")
        .uid("iln-stream")
        .description("Online learning with infinite-layer networks. Hover over an (i) for help.")
        .tags(["iln_stream"])
        .readonly()
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .time("now-15m", "now")
        .refresh("5s")
        .with_variable(variable("model", "iln_events_total"))
        .with_variable(variable("partition", 'iln_events_total{model=~"$model"}'))
    )
    for title, graphs in ROWS:
        made.with_row(Row(title))
        for line in lines(graphs):
            for graph in line:
                made.with_panel(panel(graph, COLUMNS // len(line)))
    return made


def as_json() -> str:
    """Return the dashboard as Grafana reads it."""
    built = dashboard().build()
    for number, each in enumerate(built.panels or [], start=1):
        each.id_val = number
    return json.dumps(built, cls=JSONEncoder, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    JSON_FILE.write_text(as_json())
