"""The Grafana dashboard as code: `python services/grafana/dashboard.py` rewrites its JSON."""

import json
from collections.abc import Iterator, Sequence
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
PER_LINE = 4
"""Panels beside each other, at most: titles and legends of narrower ones can't be read."""

HEIGHT = 8
LEARNER = "{{model}}/{{partition}}"


class Query(NamedTuple):
    """One PromQL expression, and the legend of its series."""

    expression: str
    legend: str = LEARNER


class Graph(NamedTuple):
    """One panel: title, description, unit and queries."""

    title: str
    description: str
    unit: str
    queries: tuple[Query, ...]


def selected(metric: str) -> str:
    """Return a selector of the metric's series for the chosen models and partitions."""
    return f'{metric}{{model=~"$model", partition=~"$partition"}}'


def rate(counter: str) -> str:
    """Return the counter's increase per second."""
    return f"rate({selected(counter)}[$__rate_interval])"


def quantile(histogram: str, q: float) -> Query:
    """Return a quantile of what the histogram counts."""
    buckets = f"sum by (le, model, partition) ({rate(f'{histogram}_bucket')})"
    return Query(f"histogram_quantile({q}, {buckets})", f"{LEARNER} {q:.0%}")


PREDICTIONS = (
    Graph(
        "Loss",
        "Mean of (E_t - y_t)^2 / 2; each event is predicted before its label is seen. *Running*: "
        "over all events of the model. *Windowed*: over the latest events, as many as the setting "
        "window.\n\nHealthy: both fall, then level off. Windowed well above running: the data have "
        "changed, or the model diverges; see the shrink frequency.",
        Short,
        (
            Query(selected("iln_running_loss"), f"{LEARNER} running"),
            Query(selected("iln_windowed_loss"), f"{LEARNER} windowed"),
        ),
    ),
    Graph(
        "Mean absolute error",
        "Mean of |prediction - y|, in units of the label.\n\nHealthy: below the baselines' (next "
        "row). Falling while the loss rises: most predictions are closer, a "
        "few are far off.",
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
        "Share of events whose class was predicted as the most probable one.\n\nHealthy: above the "
        "baseline's (next row). Empty for a regressor.",
        PercentUnit,
        (
            Query(selected("iln_running_accuracy"), f"{LEARNER} running"),
            Query(selected("iln_windowed_accuracy"), f"{LEARNER} windowed"),
        ),
    ),
    Graph(
        "Ranking",
        "How well probabilities rank events, over the last window: area under the ROC curve, and "
        "average precision of the rarer class. Empty for a regressor.\n\nHealthy: ROC AUC above "
        "0.5, average precision above the class's share.",
        PercentUnit,
        (
            Query(selected("iln_windowed_roc_auc"), f"{LEARNER} ROC AUC"),
            Query(selected("iln_windowed_pr_auc"), f"{LEARNER} average precision"),
        ),
    ),
    Graph(
        "Truth of probabilities",
        "Brier score and calibration error over the last window. Empty for a regressor.\n\n"
        "Healthy: a Brier score below that of the classes' shares, and a calibration error of a "
        "few percent.",
        Short,
        (
            Query(selected("iln_windowed_brier"), f"{LEARNER} Brier"),
            Query(selected("iln_windowed_calibration_error"), f"{LEARNER} calibration"),
        ),
    ),
)

BASELINE = f"{LEARNER} {{{{baseline}}}}"

BASELINES = (
    Graph(
        "Windowed error and baselines",
        "Mean of |prediction - y| over the last window, of the learner and of two baselines that "
        "look at no input: the mean of the labels so far, and the last label. Empty for a "
        "classifier.\n\nHealthy: below both. Above one of them: see the runbook of "
        "IlnNoBetterThanTrivial.",
        Short,
        (
            Query(selected("iln_windowed_mae"), f"{LEARNER} learner"),
            Query(selected("iln_baseline_mae"), BASELINE),
        ),
    ),
    Graph(
        "Running error and baselines",
        "The same since the model was created. Empty for a classifier.\n\nHealthy: below both, "
        "except at the beginning.",
        Short,
        (
            Query(selected("iln_running_mae"), f"{LEARNER} learner"),
            Query(selected("iln_baseline_running_mae"), BASELINE),
        ),
    ),
    Graph(
        "Coverage of intervals",
        "Share of labels that the interval of each level contained, over the last window. Empty "
        "for a classifier and without intervals.\n\nHealthy: the level, within 5 points. See the "
        "runbook of IlnCoverageOff.",
        PercentUnit,
        (
            Query(selected("iln_interval_coverage"), f"{LEARNER} {{{{level}}}}"),
            Query(selected("iln_interval_coverage_error"), f"{LEARNER} {{{{level}}}} off by"),
        ),
    ),
)

CLASS_BASELINES = (
    Graph(
        "Windowed log loss and baseline",
        "Log loss over the last window, of the learner and of predicting each class with its "
        "frequency so far. Empty for a regressor.\n\nHealthy: below the baseline. Above: see the "
        "runbook of IlnNoBetterThanTrivial.",
        Short,
        (
            Query(
                f"{selected('iln_windowed_loss')} and ignoring (baseline) "
                f"{selected('iln_baseline_loss')}",
                f"{LEARNER} learner",
            ),
            Query(selected("iln_baseline_loss"), BASELINE),
        ),
    ),
    Graph(
        "Running log loss and baseline",
        "The same since the model was created. Empty for a regressor.\n\nHealthy: below the "
        "baseline.",
        Short,
        (
            Query(
                f"{selected('iln_running_loss')} and ignoring (baseline) "
                f"{selected('iln_baseline_running_loss')}",
                f"{LEARNER} learner",
            ),
            Query(selected("iln_baseline_running_loss"), BASELINE),
        ),
    ),
    Graph(
        "Windowed accuracy and baseline",
        "Accuracy over the last window, of the learner and of always predicting the most frequent "
        "class so far. Empty for a regressor.\n\nHealthy: above the baseline. Where one class is "
        "rare both are the same, and probabilities may still be good: look at the log loss and at "
        "the ranking.",
        PercentUnit,
        (
            Query(selected("iln_windowed_accuracy"), f"{LEARNER} learner"),
            Query(selected("iln_baseline_accuracy"), BASELINE),
        ),
    ),
    Graph(
        "Running accuracy and baseline",
        "The same since the model was created. Empty for a regressor.\n\nHealthy: above the "
        "baseline, or, where one class is rare, the same.",
        PercentUnit,
        (
            Query(selected("iln_running_accuracy"), f"{LEARNER} learner"),
            Query(selected("iln_baseline_running_accuracy"), BASELINE),
        ),
    ),
)

MIXTURE = (
    Graph(
        "Weights of the experts",
        "Weight of each expert in the prediction; the weights sum to one.\n\nHealthy: settles on a "
        "few experts. New leaders: the stream has changed. Experts that forget (krls-t, "
        "forgetting-rls, linear-fast, persistence) gain when it drifts, running-mean when there is "
        "nothing to learn.",
        PercentUnit,
        (Query(selected("iln_expert_weight"), f"{LEARNER} {{{{expert}}}}"),),
    ),
    Graph(
        "Relevance of the inputs",
        "Share of each input in how much the learned function varies; the twenty most relevant "
        "inputs.\n\nHealthy: settles after some hundreds of events. One falls to 0: check the "
        "sender.",
        PercentUnit,
        (Query(selected("iln_input_relevance"), f"{LEARNER} {{{{input}}}}"),),
    ),
    Graph(
        "Drift",
        "Mean |error| of about the last 50 events over that of about the last 1000.\n\nHealthy: "
        "about 1. A peak: the stream has changed; it falls again as the learner adapts.",
        Short,
        (Query(selected("iln_drift")),),
    ),
    Graph(
        "Hidden units redrawn",
        "Number of learned events when an expert last redrew its hidden units to fit the inputs' "
        "relevance.\n\nHealthy: steps at 64, 128, .. 2048 events. Later steps: the relevant inputs "
        "have changed.",
        Short,
        (Query(selected("iln_units_redrawn_at"), f"{LEARNER} {{{{expert}}}}"),),
    ),
    Graph(
        "Reinitialised parts",
        "Parts of the learner that were not finite or predicted out of all bounds, and were "
        "reinitialised, per second.\n\nHealthy: 0. Above: the other experts predict until the part "
        "has learned again; report it, with the inputs of that time.",
        CountsPerSecond,
        (Query(rate("iln_parts_reset_total"), f"{LEARNER} {{{{part}}}}"),),
    ),
    Graph(
        "Ignored inputs",
        "Inputs per second ignored because all max_columns columns were taken.\n\n"
        "Healthy: 0. Above: ids or free text among the inputs use up the columns; remove them, or "
        "raise max_columns.",
        CountsPerSecond,
        (Query(rate("iln_inputs_overflowed_total")),),
    ),
    Graph(
        "Hashed categories",
        "Inputs per second hashed because their field has more categories than columns; each "
        "still has its own effect on predictions.\n\nHealthy: steady, 0 without ids. A step: a "
        "field got many new values.",
        CountsPerSecond,
        (Query(rate("iln_inputs_hashed_total")),),
    ),
    Graph(
        "Distinct hashed names",
        "Estimated number of distinct names that were hashed, within about 3 %.\n\nHealthy: levels "
        "off. A straight line: each event has a new value, which nothing can be learned from.",
        Short,
        (Query(selected("iln_hashed_names")),),
    ),
    Graph(
        "Occupied cells",
        "Share of the cells for hashed names that are occupied.\n\nHealthy: below .5. Above: many "
        "names share a cell, and their effects blur; ignore fields that identify an event.",
        PercentUnit,
        (Query(selected("iln_hashed_cells_occupied")),),
    ),
    Graph(
        "Missing values",
        "Inputs per second that were null or a text in null_values. Empty for records of the form "
        "of events.\n\nHealthy: as steady as the source. A step: a sender omits a field.",
        CountsPerSecond,
        (Query(rate("iln_values_missing_total")),),
    ),
    Graph(
        "Texts taken as numbers",
        "Texts of inputs per second that were read as numbers or booleans. Empty for records of "
        "the form of events.\n\nHealthy: 0. Above: name the types of these fields (types); the log "
        "has a warning for each.",
        CountsPerSecond,
        (Query(rate("iln_values_coerced_total"), f"{LEARNER} {{{{type}}}}"),),
    ),
    Graph(
        "Numbers taken as categories",
        "Inputs per second that are numbers as text. In events a text is a category, one for each "
        "number. Empty with field settings.\n\nHealthy: 0, or codes such as postcodes. "
        "Above: the sender should omit the quotes; the log has a warning for each name.",
        CountsPerSecond,
        (Query(rate("iln_numbers_as_categories_total")),),
    ),
    Graph(
        "Retries at the schema registry",
        "Requests per second that the schema registry did not answer and that were sent again. "
        "Empty without a registry.\n\nHealthy: 0. Above: no record is learned meanwhile, and the "
        "run ends after broker_wait seconds; start the registry.",
        CountsPerSecond,
        (Query(rate("iln_registry_retries_total")),),
    ),
    Graph(
        "History",
        "Events per second of history files, which a run with warm_start learns before its log. "
        "Empty in a run that resumes.\n\nHealthy: steady, then 0: the run reads the log.",
        CountsPerSecond,
        (Query(rate("iln_history_events_total")),),
    ),
)

LABELS = (
    Graph(
        "Events waiting for a label",
        "Predicted events whose label will come in a later record. Empty without the setting "
        "pending_events.\n\nHealthy: the rate of events times the delay of labels. At "
        "pending_events: the oldest expire, see the next panel.",
        Short,
        (Query(selected("iln_pending_events")),),
    ),
    Graph(
        "Memory of waiting events",
        "Approximate bytes of the events waiting for a label.\n\nHealthy: level. At "
        "pending_bytes: the oldest expire.",
        BytesIEC,
        (Query(selected("iln_pending_bytes")),),
    ),
    Graph(
        "Delay of labels",
        "Time from an event to its label, by the times of both, for labels in separate "
        "records: median and 95th percentile.\n\nHealthy: as long as labels usually take. Rising: "
        "the sender of labels falls behind; at pending_seconds events expire without them.",
        Seconds,
        (quantile("iln_label_delay_seconds", 0.5), quantile("iln_label_delay_seconds", 0.95)),
    ),
    Graph(
        "Expired events",
        "Events per second whose label did not come in time, by reason: *age*, they waited "
        "pending_seconds; *count* and *bytes*, more waited than pending_events or pending_bytes "
        "allow; *replaced*, an event with the same id came.\n\nHealthy: 0, or *age* if some "
        "events never get a label. *count* or *bytes* above 0: raise the bound, or find out why "
        "labels are late.",
        CountsPerSecond,
        (Query(rate("iln_pending_expired_total"), f"{LEARNER} {{{{reason}}}}"),),
    ),
    Graph(
        "Labels that found no event",
        "Labels per second that became dead letters: *no event*, none with their id waited; "
        "*corrected*, another label of the same event was learned before.\n\nHealthy: 0. Above: "
        "the sender of labels uses other ids, or events expire before their labels come.",
        CountsPerSecond,
        (
            Query(rate("iln_labels_without_event_total"), f"{LEARNER} no event"),
            Query(rate("iln_corrected_labels_total"), f"{LEARNER} corrected"),
        ),
    ),
    Graph(
        "Labels waiting for an event",
        "Labels that came before their event.\n\nHealthy: near 0. At early_labels: the oldest "
        "become dead letters.",
        Short,
        (Query(selected("iln_early_labels")),),
    ),
    Graph(
        "Lag of the labels",
        "Offsets between the learner and the end of the log of labels at the last poll. Empty "
        "without the setting labels.\n\nHealthy: near 0, with brief peaks. Rising: more is written "
        "than learned; events wait for older labels, so the lag of the events rises, too.",
        Short,
        (Query(selected("iln_labels_lag")),),
    ),
    Graph(
        "Labels connected",
        "1 while the log of labels is connected, 0 while its broker is unreachable: events are "
        "predicted, and none is learned. Empty without the setting labels.\n\nHealthy: 1.",
        Short,
        (Query(selected("iln_labels_connected")),),
    ),
)

ALGORITHM_1 = (
    Graph(
        "Shrink frequency",
        "Share of the latest events on which |E_t| reached 16 B, so that alpha was divided by 4 "
        "and the event was not learned.\n\nHealthy: 0, or nearly so. Above 1 %: the run diverges "
        "(lower step, raise draws), or norm_bound, which is B, is too small for this target.",
        PercentUnit,
        (Query(selected("iln_shrink_frequency")),),
    ),
    Graph(
        "Shrinks",
        "Shrinks per second.\n\nHealthy: 0. A single spike: the algorithm has corrected itself. A "
        "plateau: the run never settles.",
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
        "Events that the model stores as support of its function.\n\nHealthy: rises to the budget "
        "and stays there. Without a budget, it rises without bound, and so does memory.",
        Short,
        (Query(selected("iln_support_points")),),
    ),
    Graph(
        "Variance of the estimate",
        "Variance of the last E_t, estimated from its draws. More draws would reduce the loss by "
        "up to half of it.\n\nHealthy: near the learner's option variance or below, and well below "
        "the windowed loss.",
        Short,
        (Query(selected("iln_estimate_variance")),),
    ),
    Graph(
        "Draws",
        "Draws m of the last E_t; an event's cost grows with them.\n\nHealthy: between min_draws "
        "and max_draws. Flat at max_draws: the ceiling binds, see the next panel.",
        Short,
        (Query(selected("iln_draws")),),
    ),
    Graph(
        "Events at the draws ceiling",
        "Share of labelled events on which max_draws kept the estimate noisier than the option "
        "variance allows.\n\nHealthy: 0. With the defaults of shrinking-gradient it rises to 100 % "
        "after some hundred events: raise max_draws, or lower norm_bound or step. Empty without "
        "labelled events.",
        PercentUnit,
        (Query(f"{rate('iln_draws_capped_total')} / {rate('iln_labelled_events_total')}"),),
    ),
)

STREAM = (
    Graph(
        "Events",
        "Events per second: *all* were predicted, the *labelled* ones also learned.\n\n"
        "Healthy: the rate at which events are sent. Lower while the lag rises: the "
        "learner is too slow. 0 with a lag: it hangs.",
        CountsPerSecond,
        (
            Query(rate("iln_events_total"), f"{LEARNER} all"),
            Query(rate("iln_labelled_events_total"), f"{LEARNER} labelled"),
        ),
    ),
    Graph(
        "Ready",
        "1 while events can be learned and predicted, 0 while the learner compiles, learns history "
        "files, warms up challengers, or waits for a broker.\n\nHealthy: 1. At 0: /ready says why.",
        Short,
        (Query(selected("iln_ready")),),
    ),
    Graph(
        "Lag",
        "Offsets from the last learned record to the end of the source.\n\n"
        "Healthy: near 0, with brief peaks. Rising: events arrive faster than they are learned. "
        "Empty: the source has no known end.",
        Short,
        (Query(selected("iln_consumer_lag")),),
    ),
    Graph(
        "Time per event",
        "Time to predict and learn one event: median, 95th and 99th percentile.\n\nHealthy: flat. "
        "Rising: more draws or support points. Its inverse is about the highest rate of events "
        "that this learner can take.",
        Seconds,
        tuple(quantile("iln_step_duration_seconds", q) for q in (0.5, 0.95, 0.99)),
    ),
    Graph(
        "Dead letters",
        "Malformed records, and events on which the learner failed. The output dead_letters has "
        "each with its reason.\n\nHealthy: flat. A step: a sender has changed its format. A steady "
        "rise: read the letters' reasons.",
        Short,
        (Query(selected("iln_dead_letters_total")),),
    ),
    Graph(
        "Repeated events",
        "Records skipped because they repeat a recent event or label. 0 without the setting "
        "recent_ids.\n\nHealthy: flat. A step: a sender retried.",
        Short,
        (Query(selected("iln_repeated_events_total")),),
    ),
    Graph(
        "Commands",
        "Commands of the log that were carried out, such as promotions. One that can't be carried "
        "out is a dead letter.\n\nHealthy: a step for each promotion by `iln-stream promote` or "
        "`POST /promote`.",
        Short,
        (Query(selected("iln_commands_total")),),
    ),
    Graph(
        "Source connected",
        "1 while the source is connected, 0 while the broker is unreachable and the learner "
        "waits.\n\nHealthy: 1.",
        Short,
        (Query(selected("iln_source_connected")),),
    ),
    Graph(
        "Time without progress",
        "Time since the learner last took a record or was idle.\n\nHealthy: below a "
        "second. Rising steadily: it hangs, though it still answers scrapes.",
        Seconds,
        (Query(f"time() - {selected('iln_last_progress_timestamp_seconds')}"),),
    ),
)

WORKER = "worker {{worker}}"

WORKERS = (
    Graph(
        "Workers",
        "1 for each worker process that runs and answers, 0 while it does not. Empty without the "
        "setting workers.\n\nHealthy: 1. A moment of 0: it was restarted. 0 for long: see the "
        "runbook of IlnWorkerDown.",
        Short,
        (Query("iln_worker_up", WORKER),),
    ),
    Graph(
        "Restarts of workers",
        "How often each worker process was restarted after a failure. Empty without the "
        "setting workers.\n\nHealthy: flat. Rising: the log has the reason of each; after 5 "
        "restarts of one within 10 minutes the run ends.",
        Short,
        (Query("iln_worker_restarts_total", WORKER),),
    ),
)

CONTENDER = f"{LEARNER} {{{{contender}}}}"

CONTEST = (
    Graph(
        "Champion",
        "1 for the contender that predicts, 0 for the others; only with challengers.\n\nHealthy: "
        "one line at 1. It changes with a promotion.",
        Short,
        (Query(selected("iln_champion"), CONTENDER),),
    ),
    Graph(
        "Errors of the contenders",
        "Mean error of each contender on its own predictions, each made before the label: absolute "
        "errors of numbers, and the share of wrong classes. *Windowed*: over the last labelled "
        "events. *Running*: since it joined.\n\nHealthy: no challenger stays below the "
        "champion.",
        Short,
        (
            Query(selected("iln_contender_windowed_error"), f"{CONTENDER} windowed"),
            Query(selected("iln_contender_running_error"), f"{CONTENDER} running"),
        ),
    ),
    Graph(
        "Losses of the contenders",
        "Mean loss of each contender over the window: half the squared error, or the log loss of "
        "classes.\n\nHealthy: like the errors. A higher loss with the same error: some predictions "
        "are far off.",
        Short,
        (Query(selected("iln_contender_windowed_loss"), CONTENDER),),
    ),
    Graph(
        "Evidence for the challengers",
        "Where the champion's mean loss minus the challenger's lies, since the last promotion. "
        "Above 0, the challenger is better; below 0, the champion.\n\nHealthy: no lower end above "
        "0. With promotion = evidence such a challenger becomes champion immediately.",
        Short,
        (
            Query(selected("iln_contender_evidence_lower"), f"{CONTENDER} lower"),
            Query(selected("iln_contender_evidence_upper"), f"{CONTENDER} upper"),
        ),
    ),
    Graph(
        "Failures of the contenders",
        "Events on which a contender could not predict or learn.\n\nHealthy: flat. `iln-stream "
        "inspect` shows the last reason of each.",
        Short,
        (Query(selected("iln_contender_failures_total"), CONTENDER),),
    ),
    Graph(
        "Promotions",
        "Promotions of a challenger, by command or by evidence.\n\nHealthy: rare. Many by "
        "evidence: two contenders are good at different times; try the mixture.",
        Short,
        (Query(selected("iln_promotions_total"), f"{LEARNER} {{{{reason}}}}"),),
    ),
)

QUANTILE = f"{LEARNER} {{{{quantile}}}}"

KEYS = (
    Graph(
        "Keys",
        "Keys that have their own model, and how many of these models are in memory. Empty "
        "without by_key.\n\nHealthy: levels off. A straight line: each event has a new key, about "
        "which nothing can be learned.",
        Short,
        (
            Query(selected("iln_keys"), f"{LEARNER} all"),
            Query(selected("iln_keys_in_memory"), f"{LEARNER} in memory"),
        ),
    ),
    Graph(
        "Keys that move",
        "Models per second that move from memory to the file of keys, or back.\n\nHealthy: few "
        "compared with events. Above a tenth of the events: raise keys_in_memory (1 kB a key).",
        CountsPerSecond,
        (
            Query(rate("iln_keys_evicted_total"), f"{LEARNER} out"),
            Query(rate("iln_keys_loaded_total"), f"{LEARNER} in"),
        ),
    ),
    Graph(
        "Events without a key",
        "Learned events per second without a key, which only the global model learned.\n\nHealthy: "
        "0. Above: by_key names a field that these records lack, or that is not an input.",
        CountsPerSecond,
        (Query(rate("iln_key_missing_total")),),
    ),
    Graph(
        "Errors of keys",
        "Quantiles over keys of a key's mean absolute error, of about its last 50 events.\n\n"
        "Healthy: falling, then steady. Only 0.99 rises: some keys have changed.",
        Short,
        (Query(selected("iln_key_error"), QUANTILE),),
    ),
    Graph(
        "Events of keys",
        "Quantiles over keys of the number of events that a key has learned.\n\nHealthy: rising. "
        "Half of the keys below 10: most predictions are the global model's.",
        Short,
        (Query(selected("iln_key_events"), QUANTILE),),
    ),
)

SNAPSHOTS = (
    Graph(
        "Age of the snapshot",
        "Time since the newest stored snapshot was taken. Empty without the setting snapshots.\n\n"
        "Healthy: below twice the setting snapshot_seconds while events arrive; without events a "
        "rise is harmless.",
        Seconds,
        (Query(f"time() - {selected('iln_snapshot_last_success_timestamp_seconds')}"),),
    ),
    Graph(
        "Records since the snapshot",
        "Offsets that a run would read again after a crash.\n\nHealthy: a sawtooth that falls to "
        "about 0 with each snapshot.",
        Short,
        (Query(selected("iln_snapshot_lag")),),
    ),
    Graph(
        "Offset of the snapshot",
        "The offset at which a run would resume.\n\nHealthy: rises in steps while events arrive. "
        "It falls only after a rebuild.",
        Short,
        (Query(selected("iln_snapshot_offset")),),
    ),
    Graph(
        "Refused snapshots",
        "Snapshots per second not written because the learner's state was not finite.\n\n"
        "Healthy: 0. Above: the run resumes from the last good snapshot; look at the reinitialised "
        "parts.",
        CountsPerSecond,
        (Query(rate("iln_snapshots_refused_total")),),
    ),
    Graph(
        "Size of the snapshot",
        "Size of the last snapshot.\n\nHealthy: level once the learner's budgets are full.",
        BytesIEC,
        (Query(selected("iln_snapshot_size_bytes")),),
    ),
    Graph(
        "Time to store a snapshot",
        "Time to flush predictions and dead letters and to write the last snapshot, while learning "
        "continues.\n\nHealthy: well below the setting snapshot_seconds. Above: the disk or a "
        "broker is slow, and snapshots are less frequent.",
        Seconds,
        (Query(selected("iln_snapshot_duration_seconds")),),
    ),
)

PUBLISHING = (
    Graph(
        "Age of the published version",
        "Time since the learner was copied for the last published version. Empty without the "
        "setting publish, and until a restarted run has caught up with its version.\n\nHealthy: "
        "below twice the setting publish_seconds while events arrive; without events a rise is "
        "harmless.",
        Seconds,
        (Query(f"time() - {selected('iln_published_timestamp_seconds')}"),),
    ),
    Graph(
        "Published versions",
        "Number of the last published version.\n\nHealthy: rises while events arrive, also across "
        "restarts.",
        Short,
        (Query(selected("iln_published_version")),),
    ),
    Graph(
        "Pause to publish",
        "Longest time for which learning stopped to copy the learner, of the last 100 versions."
        "\n\nHealthy: a few milliseconds. A learner published as a pickle may take longer, and is "
        "then published less often.",
        Seconds,
        (Query(selected("iln_publish_pause_seconds")),),
    ),
    Graph(
        "Time to write a version",
        "Time to write the last version, while learning continues.\n\nHealthy: well below the "
        "setting publish_seconds. Above: the disk is slow, and versions are less frequent.",
        Seconds,
        (Query(selected("iln_publish_duration_seconds")),),
    ),
    Graph(
        "Size of a version",
        "Size of the last published version.\n\nHealthy: level once the learner's budgets are "
        "full.",
        BytesIEC,
        (Query(selected("iln_publish_bytes")),),
    ),
    Graph(
        "Versions that failed",
        "Versions per second that could not be published.\n\nHealthy: 0. Above: the disk is full "
        "or not writable, or the learner's state was not finite; the log has the reason.",
        CountsPerSecond,
        (Query(rate("iln_publish_failures_total")),),
    ),
)


def api_rate(counter: str, labels: str = "", by: str = "instance") -> str:
    """Return the increase per second of a counter of the HTTP API."""
    chosen = f"{{{labels}}}" if labels else ""
    return f"sum by ({by}) (rate({counter}{chosen}[$__rate_interval]))"


def api_quantile(q: float) -> Query:
    """Return the quantile of the time that requests take, by route."""
    buckets = api_rate("iln_api_request_duration_seconds_bucket", by="le, route")
    return Query(f"histogram_quantile({q}, {buckets})", f"{{{{route}}}} {q:.0%}")


API = (
    Graph(
        "Requests",
        "Requests per second, by route and status. Empty without `iln-stream serve`.\n\nHealthy: "
        "200 and 201. 4xx: a client's mistake, or a limit; 503: no model, no log, or too many "
        "concurrent requests.",
        CountsPerSecond,
        (Query(api_rate("iln_api_requests_total", by="route, status"), "{{route}} {{status}}"),),
    ),
    Graph(
        "Time per request",
        "Time from a request's headers to its answer: median and 99th percentile.\n\nHealthy: a "
        "few milliseconds; /events waits for the disk.",
        Seconds,
        (api_quantile(0.5), api_quantile(0.99)),
    ),
    Graph(
        "Refused requests",
        "Requests refused per second, by reason.\n\nHealthy: 0. queue, backlog: "
        "events arrive faster than the log or the learner takes them. rate: raise rate, or let the "
        "client send batches. token: wrong tokens.",
        CountsPerSecond,
        (Query(api_rate("iln_api_refusals_total", by="reason"), "{{reason}}"),),
    ),
    Graph(
        "Age of the model",
        "Time since the version that predicts was published.\n\nHealthy: about a second while the "
        "learner learns; without new labels a rise is harmless.",
        Seconds,
        (Query("iln_api_model_age_seconds", "{{model}}"),),
    ),
    Graph(
        "Version",
        "Number of the version that predicts.\n\nHealthy: rises while the learner learns.",
        Short,
        (Query("iln_api_model_version", "{{model}}"),),
    ),
    Graph(
        "Time to load a version",
        "Time to read a version and to restore its learner, while predictions continue.\n\n"
        "Healthy: well below the setting publish_seconds.",
        Seconds,
        (Query("iln_api_model_load_seconds", "{{model}}"),),
    ),
    Graph(
        "Versions that can't be loaded",
        "Versions per second that the API could not load; it predicts with the previous one."
        "\n\nHealthy: 0. Above: /ready and the log have the reason.",
        CountsPerSecond,
        (Query(api_rate("iln_api_model_failures_total", by="model"), "{{model}}"),),
    ),
    Graph(
        "Predictions and events",
        "Predictions answered, events and labels appended, and repeats not appended, per second."
        "\n\nHealthy: what the clients send. Many repeats: a client repeats requests that were "
        "answered.",
        CountsPerSecond,
        (
            Query(api_rate("iln_api_predictions_total"), "predictions"),
            Query(api_rate("iln_api_appended_events_total"), "appended"),
            Query(api_rate("iln_api_repeated_events_total"), "repeated"),
        ),
    ),
    Graph(
        "Queue",
        "Events that wait to be appended, and events appended together.\n\nHealthy: a short queue. "
        "At queue_events: clients get a 429; the disk is slow, or another process holds the log.",
        Short,
        (
            Query("iln_api_queue_length", "waiting"),
            Query(
                f"{api_rate('iln_api_group_size_sum')} / {api_rate('iln_api_group_size_count')}",
                "per group",
            ),
        ),
    ),
    Graph(
        "Numbers taken as categories by the API",
        "Inputs per second, to predict or to append, that are numbers as text.\n\nHealthy: 0, or "
        "codes such as postcodes. Above: the client should omit the quotes; the API's log has "
        "a warning for each name.",
        CountsPerSecond,
        (Query(api_rate("iln_api_numbers_as_categories_total"), "numbers"),),
    ),
    Graph(
        "Backlog",
        "Records between the learner's published position and the end of the log, at the last "
        "append.\n\nHealthy: what arrives in a second. At max_backlog: clients get a 429; the "
        "learner is too slow, or stopped.",
        Short,
        (Query("iln_api_backlog", "records"),),
    ),
)

ROWS = (
    ("How good are the predictions?", PREDICTIONS + CLASSES),
    ("Quality against baselines", BASELINES + CLASS_BASELINES),
    ("What has the learner learned?", MIXTURE),
    ("How are the keys doing?", KEYS),
    ("Which contender predicts?", CONTEST),
    ("Is Algorithm 1 healthy?", ALGORITHM_1),
    ("Does the learner keep up?", STREAM),
    ("Do all worker processes run?", WORKERS),
    ("Do labels arrive in time?", LABELS),
    ("What would a crash cost?", SNAPSHOTS),
    ("Are published versions fresh?", PUBLISHING),
    ("Does the HTTP API answer?", API),
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
