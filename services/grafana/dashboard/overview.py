"""The overview: eleven panels on one screen of 1440 x 900, with the alerts' limits as colours."""

from typing import Any, NamedTuple

from grafana_foundation_sdk.models.units import CountsPerSecond, PercentUnit, Seconds, Short
from graph import LEARNER, Graph, Query, rate, selected

TRIVIAL = "running_mean|last_value|median|day_before|week_before|class_frequencies"


class Stat(NamedTuple):
    """One figure: title, width, description, unit, query, and the colours from each value on."""

    title: str
    width: int
    description: str
    unit: str
    query: str
    colours: tuple[tuple[float | None, str], ...]
    no_value: str | None = None
    texts: tuple[dict[str, Any], ...] = ()
    legend: str = "{{model}}"


def error(over: str, of: str) -> str:
    """Return the error by which a model is judged: absolute of numbers, log loss of classes."""
    chosen = selected("learner:iln_error:main", f'over="{over}", of=~"{of}"')
    return f"min without (over, of) ({chosen})"


RED_ABOVE_60 = ((None, "green"), (60.0, "red"))

STATS = (
    Stat(
        "Ready",
        2,
        "Whether events can be learned and predicted.\n\nHealthy: yes. If no, /ready says why.",
        Short,
        f"min by (model) ({selected('iln_ready')})",
        ((None, "red"), (1.0, "green")),
        None,
        ({"type": "value", "options": {"0": {"text": "no"}, "1": {"text": "yes"}}},),
    ),
    Stat(
        "Better than the best baseline",
        5,
        "How much smaller the error over the last window is than that of the best rule that looks "
        "at no input (the mean label, the last one, the classes' frequencies).\n\nHealthy: above "
        "0. Below: IlnNoBetterThanTrivial.",
        PercentUnit,
        f"min by (model) (1 - {error('window', 'model')} / {error('window', TRIVIAL)})",
        ((None, "red"), (0.0, "green")),
    ),
    Stat(
        "Error now over long-run error",
        5,
        "The error over the last window over that since the model was created.\n\nHealthy: about 1 "
        "or below. Above 2: IlnErrorDoubled.",
        Short,
        f"max by (model) ({error('window', 'model')} / {error('all', 'model')})",
        ((None, "green"), (2.0, "red")),
    ),
    Stat(
        "Drift",
        3,
        "The errors of about the last 50 events over those of the last 1000.\n\nHealthy: about 1. "
        "Above 1.5 the stream has changed: IlnDrift.",
        Short,
        f"max by (model) ({selected('iln_recent_error_ratio')})",
        ((None, "green"), (1.5, "orange")),
        "not measured",
    ),
    Stat(
        "Behind",
        3,
        "Time that the learner needs, at its present rate, to reach the end of its source."
        "\n\nHealthy: seconds. Above a minute and rising: IlnFallingBehind.",
        Seconds,
        f"max by (model) ({selected('learner:iln_lag:seconds')} >= 0 or "
        f"{selected('iln_consumer_lag_records')})",
        RED_ABOVE_60,
        "no known end",
    ),
    Stat(
        "Dead letters in an hour",
        3,
        "Records that could not be decoded or learned.\n\nHealthy: 0. Above: IlnDeadLetters.",
        Short,
        f"round(sum by (model) (increase({selected('iln_dead_letters_total')}[1h])))",
        ((None, "green"), (1.0, "orange")),
    ),
    Stat(
        "Not saved for",
        3,
        "Time since the newest stored snapshot, from which a restart resumes; 0 while no record "
        "came since.\n\nHealthy: below five minutes. Above: IlnSnapshotOld.",
        Seconds,
        f"max by (model) ((time() - {selected('iln_snapshot_last_success_timestamp_seconds')}) "
        f"* ({selected('iln_snapshot_lag_records')} > bool 0))",
        ((None, "green"), (300.0, "orange")),
        "set snapshots",
    ),
)

GRAPHS = (
    Graph(
        "Error against baselines",
        "Mean absolute error of numbers, log loss of classes, over the last window: of the model, "
        "of baselines that look at no input, and of contenders.\n\nHealthy: the model is the "
        "lowest line.",
        Short,
        (
            Query(
                selected("learner:iln_error:main", 'over="window"'),
                f"{LEARNER} {{{{of}}}}",
            ),
        ),
        axis="log",
    ),
    Graph(
        "Events and lag",
        "Events and labelled events per second, and records that wait to be learned.\n\nHealthy: "
        "the rate at which events are sent, and a lag near 0.",
        CountsPerSecond,
        (
            Query(rate("iln_events_total"), f"{LEARNER} events"),
            Query(rate("iln_labelled_events_total"), f"{LEARNER} labelled"),
            Query(selected("iln_consumer_lag_records"), f"{LEARNER} lag"),
        ),
    ),
    Graph(
        "Coverage or AUC",
        "Of a regressor with prediction_intervals, the share of labels that each interval "
        "contained, and its level; of a classifier, the areas under the ROC and the "
        "precision-recall curve.\n\nHealthy: the level, within 5 points (IlnCoverageOff); a ROC "
        "AUC well above 0.5.",
        PercentUnit,
        (
            Query(
                selected("iln_interval_coverage_ratio"),
                f"{LEARNER} {{{{level}}}} {{{{of}}}}",
            ),
            Query(
                selected("iln_probability_score", 'measure=~"roc_auc|pr_auc"'),
                f"{LEARNER} {{{{measure}}}}",
            ),
        ),
        axis="free",
    ),
)

FIRING = 'ALERTS{alertstate="firing", alertname=~"Iln.+"}'
NAMED = f'label_replace({FIRING}, "runbook", "$1", "alertname", "(.+)")'
ALERTS = Query(f'label_replace({NAMED}, "action", "$1", "alertname", "(.+)")')
