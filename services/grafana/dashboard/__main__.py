"""The Grafana dashboards as code: `python services/grafana/dashboard` rewrites their JSON."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import overview
import yaml
from grafana_foundation_sdk.builders.common import (
    GraphThresholdsStyleConfig,
    ReduceDataOptions,
    ScaleDistributionConfig,
    VizLegendOptions,
    VizTooltipOptions,
)
from grafana_foundation_sdk.builders.dashboard import (
    AnnotationQuery,
    Dashboard,
    DashboardLink,
    QueryVariable,
    Row,
    TextBoxVariable,
    ThresholdsConfig,
)
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.builders.stat import Panel as StatPanel
from grafana_foundation_sdk.builders.table import Panel as TablePanel
from grafana_foundation_sdk.builders.timeseries import Panel
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import (
    BigValueColorMode,
    BigValueGraphMode,
    GraphThresholdsStyleMode,
    ScaleDistribution,
    TooltipDisplayMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DashboardLinkType,
    DataSourceRef,
    DynamicConfigValue,
    Threshold,
    ThresholdsMode,
    VariableOption,
    VariableRefresh,
    VariableSort,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat
from grafana_foundation_sdk.models.units import Short
from graph import Graph, Query, selected
from rows import (
    algorithm_1,
    api,
    classes,
    contest,
    errors,
    inputs,
    keys,
    labels,
    processes,
    publishing,
    research,
    snapshots,
    stream,
)

FOLDER = Path(__file__).parents[1] / "dashboards"
RULES = Path(__file__).parents[2] / "prometheus" / "rules.yml"

PROMETHEUS = DataSourceRef(type_val="prometheus", uid="iln-prometheus")
COLUMNS = 24
PER_LINE = 4
"""Panels beside each other, at most: titles and legends of narrower ones can't be read."""

HEIGHT = 8

Rows = Sequence[tuple[str, Sequence[Graph]]]

STREAM: Rows = (
    ("Does the learner keep up?", stream.GRAPHS),
    ("Running loss, shrinks and ||alpha||_1", algorithm_1.GRAPHS),
    ("Errors (a regressor)", errors.GRAPHS),
    ("Errors (a classifier)", classes.GRAPHS),
    ("Are inputs read as meant?", inputs.GRAPHS),
    ("Do labels arrive in time? (pending_events or labels)", labels.GRAPHS),
    ("Which contender predicts? (challengers)", contest.GRAPHS),
    ("Keys and series (by_key, aggregates, series)", keys.GRAPHS),
    ("What would a crash cost? (snapshots)", snapshots.GRAPHS),
    ("Are published versions fresh? (publish)", publishing.GRAPHS),
    ("Topics, schema registry and history", stream.SOURCES),
    ("Processes", processes.of_process("iln-learner")),
    ("Worker processes (workers)", processes.WORKERS),
)
API: Rows = (
    ("Does the HTTP API answer?", api.GRAPHS),
    ("Process", processes.of_process("iln-api", ', instance=~"$instance"')),
)
RESEARCH: Rows = (
    ("Experts and inputs", research.EXPERTS),
    ("Hashed categories", research.HASHED),
    ("Losses (challengers)", research.CONTEST),
)


def lines(graphs: Sequence[Graph]) -> Iterator[Sequence[Graph]]:
    """Divide a row's graphs into as few lines as it takes, the first ones the longer ones."""
    while graphs:
        n_lines = -(-len(graphs) // PER_LINE)
        n = -(-len(graphs) // n_lines)
        yield graphs[:n]
        graphs = graphs[n:]


def target(query: Query, ref_id: str = "A") -> Dataquery:
    """Return a query over the time range."""
    made = Dataquery().datasource(PROMETHEUS).ref_id(ref_id)
    return made.expr(query.expression).legend_format(query.legend)


def limits(*steps: tuple[float | None, str]) -> ThresholdsConfig:
    """Return the colours from each value on."""
    made = [Threshold(value=value, color=colour) for value, colour in steps]
    return ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(made)


def panel(graph: Graph, width: int, height: int = HEIGHT) -> Panel:
    """Return the panel of a graph."""
    made = (
        Panel()
        .title(graph.title)
        .description(graph.description)
        .datasource(PROMETHEUS)
        .unit(graph.unit)
        .legend(VizLegendOptions().show_legend(True))
        .tooltip(VizTooltipOptions().mode(TooltipDisplayMode.MULTI))
        .span(width)
        .height(height)
    )
    if graph.axis == "log":
        made.scale_distribution(ScaleDistributionConfig().type(ScaleDistribution.LOG).log(10))
    elif graph.axis == "from 0":
        made.axis_soft_min(0)
    if graph.limit is not None:
        made.thresholds(limits((None, "green"), (graph.limit, "red")))
        made.thresholds_style(GraphThresholdsStyleConfig().mode(GraphThresholdsStyleMode.DASHED))
    for ref_id, query in zip("ABC", graph.queries, strict=False):
        made.with_target(target(query, ref_id).range())
    return made


def figure(stat: overview.Stat) -> StatPanel:
    """Return the panel of a figure."""
    made = (
        StatPanel()
        .title(stat.title)
        .description(stat.description)
        .datasource(PROMETHEUS)
        .unit(stat.unit)
        .reduce_options(ReduceDataOptions().calcs(["lastNotNull"]))
        .color_mode(BigValueColorMode.BACKGROUND)
        .graph_mode(BigValueGraphMode.NONE)
        .thresholds(limits(*stat.colours))
        .span(stat.width)
        .mappings(stat.texts)
        .height(4)
        .with_target(target(Query(stat.query, stat.legend)).instant())
    )
    return made if stat.no_value is None else made.no_value(stat.no_value)


def action(rule: dict[str, Any]) -> str:
    """Return what an alert's summary says to do: all after its first colon."""
    _, _, text = rule["annotations"]["summary"].partition(": ")
    return re.sub(r"\{\{ \$labels\.(\w+) \}\}", r"<\1>", text)


def alert_list() -> TablePanel:
    """Return the table of alerts that fire, each with a link to its runbook and what to do."""
    rules = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
    anchors = {name: {"text": name.lower()} for rule in rules if (name := rule.get("alert"))}
    actions = {rule["alert"]: {"text": action(rule)} for rule in rules if "alert" in rule}
    hidden = dict.fromkeys(("Time", "Value", "__name__", "alertstate", "job"), True)
    return (
        TablePanel()
        .title("Alerts")
        .description("Alerts that fire, with what to do; the runbook says more.\n\nHealthy: none.")
        .datasource(PROMETHEUS)
        .no_value("No alert fires.")
        .span(COLUMNS // 2)
        .height(7)
        .override_by_name(
            "runbook",
            [
                DynamicConfigValue("mappings", [{"type": "value", "options": anchors}]),
                DynamicConfigValue("links", [{"title": "Runbook", "url": RUNBOOK}]),
            ],
        )
        .override_by_name(
            "action",
            [
                DynamicConfigValue("mappings", [{"type": "value", "options": actions}]),
                DynamicConfigValue("custom.width", 420),
                DynamicConfigValue("custom.cellOptions", {"type": "auto", "wrapText": True}),
            ],
        )
        .with_transformation({"id": "organize", "options": {"excludeByName": hidden}})
        .with_target(target(overview.ALERTS).instant().format(PromQueryFormat.TABLE))
    )


ON_RIGHT = [
    DynamicConfigValue("unit", Short),
    DynamicConfigValue("custom.axisPlacement", "right"),
]

RUNBOOK = "${runbooks:raw}#${__value.text}"


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


def annotation(name: str, colour: str, expression: str) -> AnnotationQuery:
    """Return marks at the times at which an expression has a value."""
    made = AnnotationQuery().name(name).enable(True).icon_color(colour)
    return made.datasource(PROMETHEUS).expr(expression)


PROMOTED = f"increase({selected('iln_promotions_total')}[1m]) > 0"
RESTARTED = 'changes(process_start_time_seconds{{job="{}"}}[1m]) > 0'
OF_LEARNERS = (
    variable("model", "iln_events_total"),
    variable("partition", 'iln_events_total{model=~"$model"}'),
)
OF_API = (variable("instance", "iln_api_requests_total"),)


def dashboard(title: str, uid: str, *variables: QueryVariable) -> Dashboard:
    """Return a dashboard without panels."""
    made = (
        Dashboard(f"iln_stream: {title}")
        .uid(uid)
        .description("Online learning with infinite-layer networks. Hover over an (i) for help.")
        .tags(["iln_stream"])
        .readonly()
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .time("now-1h", "now")
        .refresh("30s")
        .link(
            DashboardLink("iln_stream")
            .type(DashboardLinkType.DASHBOARDS)
            .tags(["iln_stream"])
            .include_vars(True)
            .keep_time(True)
        )
    )
    for each in variables:
        made.with_variable(each)
    if of_learners := variables == OF_LEARNERS:
        made.annotation(annotation("Promotions", "blue", PROMOTED))
    restarted = RESTARTED.format("iln-learner" if of_learners else "iln-api")
    return made.annotation(annotation("Restarts", "orange", restarted))


def overview_dashboard() -> Dashboard:
    """Return the overview; its addresses of page and runbooks can be changed in its head."""
    made = (
        dashboard("Overview", "iln-stream", *OF_LEARNERS)
        .with_variable(TextBoxVariable("page").label("Page").default_value("http://127.0.0.1:8090"))
        .with_variable(
            TextBoxVariable("runbooks")
            .label("Runbooks")
            .default_value("http://127.0.0.1:8000/metrics.html")
        )
        .link(
            DashboardLink("Page").type(DashboardLinkType.LINK).url("${page:raw}").target_blank(True)
        )
    )
    for stat in overview.STATS:
        made.with_panel(figure(stat))
    for graph, height in zip(overview.GRAPHS, (8, 8, 7), strict=True):
        made.with_panel(panel(graph, COLUMNS // 2, height).override_by_regexp("/ lag$/", ON_RIGHT))
    return made.with_panel(alert_list())


def of_rows(
    title: str,
    uid: str,
    rows: Rows,
    *variables: QueryVariable,
    stats: Sequence[overview.Stat] = (),
) -> Dashboard:
    """Return a dashboard of figures and below them rows, of which the first is open."""
    made = dashboard(title, uid, *variables)
    for stat in stats:
        made.with_panel(figure(stat))
    for i, (name, graphs) in enumerate(rows):
        row = Row(name).collapsed(i > 0)
        panels = [panel(graph, COLUMNS // len(line)) for line in lines(graphs) for graph in line]
        if i == 0:
            made.with_row(row)
        for each in panels:
            (row if i else made).with_panel(each)
        if i > 0:
            made.with_row(row)
    return made


def dashboards() -> dict[str, str]:
    """Return the JSON of each dashboard, as Grafana reads it, by the name of its file."""
    made = {
        "overview": overview_dashboard(),
        "stream": of_rows("Stream and state", "iln-stream-state", STREAM, *OF_LEARNERS),
        "api": of_rows("API", "iln-stream-api", API, *OF_API, stats=api.STATS),
        "research": of_rows("Research", "iln-stream-research", RESEARCH, *OF_LEARNERS),
    }
    return {f"{name}.json": as_json(each) for name, each in made.items()}


def as_json(made: Dashboard) -> str:
    """Return a dashboard's JSON, with numbers for its panels."""
    built = made.build()
    number = 0
    for each in built.panels or []:
        inner: list[Any] = getattr(each, "panels", None) or []
        for one in (each, *inner):
            number += 1
            one.id_val = number
    return json.dumps(built, cls=JSONEncoder, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    for name, text in dashboards().items():
        (FOLDER / name).write_text(text)
