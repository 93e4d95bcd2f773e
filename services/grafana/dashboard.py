"""The Grafana dashboard as code: `python services/grafana/dashboard.py` rewrites its JSON."""

import json
from pathlib import Path
from typing import NamedTuple

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
from grafana_foundation_sdk.models.units import (
    BytesIEC,
    CountsPerSecond,
    PercentUnit,
    Seconds,
    Short,
)

JSON_FILE = Path(__file__).parent / "dashboards" / "iln_stream.json"

PROMETHEUS = DataSourceRef(type_val="prometheus", uid="iln-prometheus")
COLUMNS = 24
HEIGHT = 8
LEARNER = "{{model}}/{{partition}}"


class Query(NamedTuple):
    """One PromQL expression, and how its series are called."""

    expression: str
    legend: str = LEARNER


class Graph(NamedTuple):
    """One panel: what it shows, and how a newcomer reads it."""

    title: str
    description: str
    unit: str
    queries: tuple[Query, ...]


def selected(metric: str) -> str:
    """Return the metric's series of the chosen models and partitions."""
    return f'{metric}{{model=~"$model", partition=~"$partition"}}'


def rate(counter: str) -> str:
    """Return the counter's increase per second."""
    return f"rate({selected(counter)}[$__rate_interval])"


def duration_quantile(q: float) -> Query:
    """Return the quantile of the time that one event takes."""
    buckets = f"sum by (le, model, partition) ({rate('iln_step_duration_seconds_bucket')})"
    return Query(f"histogram_quantile({q}, {buckets})", f"{LEARNER} {q:.0%}")


PREDICTIONS = (
    Graph(
        "Loss",
        "Mean of (E_t - y_t)^2 / 2, each event predicted before its label was seen. *Running* "
        "is over everything since the model's birth, *windowed* over the latest events only (as "
        "many as the setting window says).\n\nHealthy: both fall, then level off. Windowed well "
        "above running: the data have changed, or the model diverges; see the shrink frequency.",
        Short,
        (
            Query(selected("iln_running_loss"), f"{LEARNER} running"),
            Query(selected("iln_windowed_loss"), f"{LEARNER} windowed"),
        ),
    ),
    Graph(
        "Mean absolute error",
        "Mean of |prediction - y| in the label's own units: how far off a prediction is, on "
        "average.\n\nHealthy: below the error of always predicting the mean label. Falling while "
        "the loss rises: most predictions are closer, a few are far off.",
        Short,
        (
            Query(selected("iln_running_mae"), f"{LEARNER} running"),
            Query(selected("iln_windowed_mae"), f"{LEARNER} windowed"),
        ),
    ),
)

CLASSES = (
    Graph(
        "Accuracy",
        "Of a classifier: share of events whose class was the most probable one.\n\nHealthy: above "
        "the share of the most frequent class. Empty for a regressor.",
        PercentUnit,
        (
            Query(selected("iln_running_accuracy"), f"{LEARNER} running"),
            Query(selected("iln_windowed_accuracy"), f"{LEARNER} windowed"),
        ),
    ),
)

MIXTURE = (
    Graph(
        "Weights of the experts",
        "What the prediction is made of, of a learner that mixes experts; they sum to "
        "one.\n\nHealthy: settles on a few. A change of leaders is a change of the stream: one "
        "that forgets (forgetting-rls, linear-fast, persistence) gains when it drifts, "
        "running-mean when nothing can be learned.",
        PercentUnit,
        (Query(selected("iln_expert_weight"), f"{LEARNER} {{{{expert}}}}"),),
    ),
    Graph(
        "Relevance of the inputs",
        "Share of each input in how the learned function varies, of the twenty most relevant.\n\n"
        "Healthy: settles after some hundreds of events. One that falls to nothing: look at "
        "whoever sends it.",
        PercentUnit,
        (Query(selected("iln_input_relevance"), f"{LEARNER} {{{{input}}}}"),),
    ),
    Graph(
        "Drift",
        "Mean |error| of about the last 50 events over that of about the last 1000.\n\nHealthy: "
        "about 1. A peak: what was learned no longer holds; it falls back as the new is learned.",
        Short,
        (Query(selected("iln_drift")),),
    ),
    Graph(
        "Hidden units redrawn",
        "Events learned when an expert's hidden units were last drawn from what was learned about "
        "the inputs.\n\nHealthy: steps at 64, 128, .. 2048 events. Later steps: the stream has "
        "changed what it depends on.",
        Short,
        (Query(selected("iln_units_redrawn_at"), f"{LEARNER} {{{{expert}}}}"),),
    ),
    Graph(
        "Ignored inputs",
        "Inputs per second that were ignored, as max_columns names had a column already.\n\n"
        "Healthy: 0. Above: ids or free text among the inputs use up the columns; leave them out, "
        "or raise max_columns.",
        CountsPerSecond,
        (Query(rate("iln_inputs_overflowed_total")),),
    ),
)

LABELS = (
    Graph(
        "Events that wait for a label",
        "Predicted events whose label comes in a record of its own, and has not come yet. Empty "
        "without the setting pending_events.\n\nHealthy: the rate of events times the delay of "
        "labels. At pending_events: the oldest expire, see beside.",
        Short,
        (Query(selected("iln_pending_events")),),
    ),
    Graph(
        "Expired events",
        "Events per second whose label had not come when pending_events others waited; they are "
        "never learned.\n\nHealthy: 0. Above: raise pending_events, or see why labels are late.",
        CountsPerSecond,
        (Query(rate("iln_pending_expired_total")),),
    ),
)

ALGORITHM_1 = (
    Graph(
        "Shrink frequency",
        "Share of the latest events on which |E_t| reached 16 B, so that alpha was divided by 4 "
        "and the event was not learned.\n\nHealthy: 0, or very nearly. Above 1 %: the run diverges "
        "(lower step, raise draws), or norm_bound, which is B, is too small for this target.",
        PercentUnit,
        (Query(selected("iln_shrink_frequency")),),
    ),
    Graph(
        "Shrinks",
        "Shrinks per second. A lone spike is an accident that the algorithm has mended; a plateau "
        "is a run that never settles.\n\nHealthy: 0.",
        CountsPerSecond,
        (Query(rate("iln_shrinks_total")),),
    ),
    Graph(
        "||alpha||_1",
        "The sum of |alpha_i|. An estimate's noise grows with it, and the draws needed to keep the "
        "noise down grow with its square.\n\nHealthy: rises at first, then slowly, or falls. A "
        "sawtooth is shrinking; exponential growth is divergence.",
        Short,
        (Query(selected("iln_alpha_l1")),),
    ),
    Graph(
        "Support points",
        "Events that the model remembers, and that carry its function.\n\nHealthy: rises to the "
        "budget and stays there. Without a budget it rises for ever, and memory with it.",
        Short,
        (Query(selected("iln_support_points")),),
    ),
    Graph(
        "Variance of the estimate",
        "Variance of the last E_t, estimated from its own draws. Half of it is the part of the "
        "loss that more draws would take away.\n\nHealthy: around the learner's option variance "
        "(0.01 unless given) or below, and well below the windowed loss.",
        Short,
        (Query(selected("iln_estimate_variance")),),
    ),
    Graph(
        "Draws",
        "Draws m of the last E_t; an event's cost grows with them.\n\nHealthy: between min_draws "
        "and max_draws. Flat at max_draws: the ceiling binds, see the panel beside.",
        Short,
        (Query(selected("iln_draws")),),
    ),
    Graph(
        "Events at the draws ceiling",
        "Share of labelled events on which max_draws kept the estimate noisier than the option "
        "variance tolerates.\n\nHealthy: 0, but for a model's first thousands of events. Longer: "
        "raise max_draws, or lower norm_bound or step. Empty while no labelled events come.",
        PercentUnit,
        (Query(f"{rate('iln_draws_capped_total')} / {rate('iln_labelled_events_total')}"),),
    ),
)

STREAM = (
    Graph(
        "Events",
        "Events per second: all that were predicted, and of these the *labelled* ones, which were "
        "learned too.\n\nHealthy: the rate at which events are sent. Lower, and the lag rises: the "
        "learner is too slow. 0 with a lag: it hangs.",
        CountsPerSecond,
        (
            Query(rate("iln_events_total"), f"{LEARNER} all"),
            Query(rate("iln_labelled_events_total"), f"{LEARNER} labelled"),
        ),
    ),
    Graph(
        "Lag",
        "Offsets between the learner and the end of its source, as the learner last saw it.\n\n"
        "Healthy: close to 0, with brief bumps. Rising: events come faster than they are learned. "
        "Empty: the source has no known end.",
        Short,
        (Query(selected("iln_consumer_lag")),),
    ),
    Graph(
        "Time per event",
        "Time to predict and learn one event: the median, and what 95 % and 99 % of events stay "
        "below.\n\nHealthy: flat. Rising: more draws or support points. One over it is about the "
        "most events a second that this learner can take.",
        Seconds,
        (duration_quantile(0.5), duration_quantile(0.95), duration_quantile(0.99)),
    ),
    Graph(
        "Dead letters",
        "Records so far that were no events, or that the learner failed on. They are kept, each "
        "with its reason, at the dead letters' address.\n\nHealthy: flat. A step: a sender has "
        "changed its format. A steady rise: read the letters' reasons.",
        Short,
        (Query(selected("iln_dead_letters_total")),),
    ),
    Graph(
        "Repeated events",
        "Events so far that were passed over, as one with the same id was among the latest. 0 "
        "without a window of ids.\n\nHealthy: flat. A step: a sender sent again what it was not "
        "sure had arrived.",
        Short,
        (Query(selected("iln_repeated_events_total")),),
    ),
    Graph(
        "Source connected",
        "1 while the source is there, 0 while the broker is away and the learner waits.\n\n"
        "Healthy: 1.",
        Short,
        (Query(selected("iln_source_connected")),),
    ),
    Graph(
        "Standing still",
        "Time since the learner last took a record or found none to take.\n\nHealthy: below a "
        "second. Rising steadily: it hangs, though it still answers scrapes.",
        Seconds,
        (Query(f"time() - {selected('iln_last_progress_timestamp_seconds')}"),),
    ),
)

SNAPSHOTS = (
    Graph(
        "Age of the snapshot",
        "Time since the newest snapshot that is stored was taken. Empty without the setting "
        "snapshots.\n\nHealthy: below twice the setting snapshot_seconds while events come; a rise "
        "without events costs nothing.",
        Seconds,
        (Query(f"time() - {selected('iln_snapshot_last_success_timestamp_seconds')}"),),
    ),
    Graph(
        "Not in the snapshot",
        "Offsets that a crash would have to read again.\n\nHealthy: a sawtooth that falls to about "
        "0 with each snapshot.",
        Short,
        (Query(selected("iln_snapshot_lag")),),
    ),
    Graph(
        "Place of the snapshot",
        "The offset from which a run would go on.\n\nHealthy: rises in steps, as long as events "
        "come. It never falls but after a rebuild on a new topic.",
        Short,
        (Query(selected("iln_snapshot_offset")),),
    ),
    Graph(
        "Size of the snapshot",
        "Bytes of the last snapshot.\n\nHealthy: level once the learner's budgets are full.",
        BytesIEC,
        (Query(selected("iln_snapshot_size_bytes")),),
    ),
    Graph(
        "Time to store it",
        "Time to store the last snapshot, beside the learning: waiting until brokers have the "
        "predictions and dead letters, then writing.\n\nHealthy: well below the setting "
        "snapshot_seconds. Above: a slow disk or broker; snapshots come as fast as they can.",
        Seconds,
        (Query(selected("iln_snapshot_duration_seconds")),),
    ),
)

ROWS = (
    ("How good are the predictions?", (PREDICTIONS + CLASSES,)),
    ("What are they made of?", (MIXTURE[:3], MIXTURE[3:])),
    ("Is Algorithm 1 well?", (ALGORITHM_1[:4], ALGORITHM_1[4:])),
    ("Does the learner keep up?", (STREAM[:4], STREAM[4:])),
    ("Do labels come?", (LABELS,)),
    ("What would a crash cost?", (SNAPSHOTS[:2], SNAPSHOTS[2:])),
)


def panel(graph: Graph, width: int) -> Panel:
    """Return a graph's panel."""
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
    """Return a template variable that offers the label's values among the series."""
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
        .description("Online learning with infinite-layer networks. Hover an (i) to learn more.")
        .tags(["iln_stream"])
        .readonly()
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .time("now-15m", "now")
        .refresh("5s")
        .with_variable(variable("model", "iln_events_total"))
        .with_variable(variable("partition", 'iln_events_total{model=~"$model"}'))
    )
    for title, lines in ROWS:
        made.with_row(Row(title))
        for graphs in lines:
            for graph in graphs:
                made.with_panel(panel(graph, COLUMNS // len(graphs)))
    return made


def as_json() -> str:
    """Return the dashboard as Grafana reads it."""
    built = dashboard().build()
    for number, each in enumerate(built.panels or [], start=1):
        each.id_val = number
    return json.dumps(built, cls=JSONEncoder, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    JSON_FILE.write_text(as_json())
