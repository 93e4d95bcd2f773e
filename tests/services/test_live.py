"""The committed monitoring, on real learners and a real Prometheus."""

import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from support.prometheus_server import PrometheusServer, PrometheusServerError, Sample

SERVICES = Path(__file__).parents[2] / "services"
DASHBOARD = json.loads((SERVICES / "grafana" / "dashboards" / "iln_stream.json").read_text())
RULES = yaml.safe_load((SERVICES / "prometheus" / "rules.yml").read_text())["groups"][0]["rules"]

REGRESSORS = {"healthy", "shrinking"}
MODELS = {*REGRESSORS, "classifier"}
DEADLINE_SECONDS = 60.0
FOUR_SCRAPES = "2s"
"""What Grafana makes of $__rate_interval at the fixture's scrape interval."""

OF_SOME = {
    **{key: {"healthy"} for key in ("iln_drift", "iln_units_redrawn_at", "iln_published_version")},
    **{key: {"healthy"} for key in ("iln_published_timestamp_seconds", "iln_publish_bytes")},
    **{key: {"healthy"} for key in ("iln_publish_pause_seconds", "iln_publish_duration_seconds")},
    "iln_publish_failures_total": {"healthy"},
    **{
        key: {"healthy", "classifier"}
        for key in ("iln_expert_weight", "iln_input_relevance", "iln_parts_reset_total")
    },
    **{
        key: {"healthy", "classifier"}
        for key in ("iln_inputs_hashed_total", "iln_hashed_names", "iln_hashed_cells_occupied")
    },
    **{key: {"healthy"} for key in ("iln_champion", "iln_promotions_total")},
    **{key: {"healthy"} for key in ("iln_contender_running_error", "iln_contender_windowed_error")},
    **{key: {"healthy"} for key in ("iln_contender_windowed_loss", "iln_contender_failures_total")},
    **{
        key: {"healthy"} for key in ("iln_contender_evidence_lower", "iln_contender_evidence_upper")
    },
    **{key: {"healthy"} for key in ("iln_labels_connected", "iln_labels_lag", "iln_ready")},
    **{key: {"healthy"} for key in ("iln_keys", "iln_keys_in_memory", "iln_key_missing_total")},
    **{key: {"healthy"} for key in ("iln_keys_evicted_total", "iln_keys_loaded_total")},
    **{key: {"healthy"} for key in ("iln_key_error", "iln_key_events")},
    **{key: {"classifier"} for key in ("iln_running_accuracy", "iln_windowed_accuracy")},
    **{key: {"classifier"} for key in ("iln_windowed_roc_auc", "iln_windowed_pr_auc")},
    **{key: {"classifier"} for key in ("iln_windowed_brier", "iln_windowed_calibration_error")},
    "iln_numbers_as_categories_total": {"shrinking"},
    "iln_label_delay_seconds_bucket": {"shrinking"},
    **{key: {"classifier"} for key in ("iln_baseline_loss", "iln_baseline_running_loss")},
    **{key: {"classifier"} for key in ("iln_baseline_accuracy", "iln_baseline_running_accuracy")},
    **{key: {"healthy"} for key in ("iln_interval_coverage", "iln_interval_coverage_error")},
    **{key: {"healthy"} for key in ("iln_values_missing_total", "iln_values_coerced_total")},
    **{key: {"healthy"} for key in ("iln_registry_retries_total", "iln_history_events_total")},
    **dict.fromkeys(
        (
            *("iln_alpha_l1", "iln_draws", "iln_draws_capped_total", "iln_estimate_variance"),
            *("iln_shrink_frequency", "iln_shrinks_total", "iln_support_points"),
            *("iln_running_mae", "iln_windowed_mae"),
            *("iln_baseline_mae", "iln_baseline_running_mae"),
            *("iln_pending_events", "iln_pending_bytes", "iln_pending_expired_total"),
            *("iln_early_labels", "iln_labels_without_event_total", "iln_corrected_labels_total"),
            *("iln_snapshot_duration_seconds", "iln_snapshot_lag", "iln_snapshot_offset"),
            *("iln_snapshot_last_success_timestamp_seconds", "iln_snapshot_size_bytes"),
            "iln_snapshots_refused_total",
        ),
        REGRESSORS,
    ),
}
"""Which of the three export what not all of them do."""

TYPES = {
    "iln_baseline_accuracy": "gauge",
    "iln_baseline_loss": "gauge",
    "iln_baseline_mae": "gauge",
    "iln_baseline_running_accuracy": "gauge",
    "iln_baseline_running_loss": "gauge",
    "iln_baseline_running_mae": "gauge",
    "iln_champion": "gauge",
    "iln_contender_evidence_lower": "gauge",
    "iln_contender_evidence_upper": "gauge",
    "iln_contender_failures_total": "counter",
    "iln_contender_running_error": "gauge",
    "iln_contender_windowed_error": "gauge",
    "iln_contender_windowed_loss": "gauge",
    "iln_promotions_total": "counter",
    "iln_drift": "gauge",
    "iln_key_error": "gauge",
    "iln_key_events": "gauge",
    "iln_key_missing_total": "counter",
    "iln_keys": "gauge",
    "iln_keys_evicted_total": "counter",
    "iln_keys_in_memory": "gauge",
    "iln_keys_loaded_total": "counter",
    "iln_expert_weight": "gauge",
    "iln_hashed_cells_occupied": "gauge",
    "iln_hashed_names": "gauge",
    "iln_history_events_total": "counter",
    "iln_input_relevance": "gauge",
    "iln_inputs_hashed_total": "counter",
    "iln_inputs_overflowed_total": "counter",
    "iln_numbers_as_categories_total": "counter",
    "iln_interval_coverage": "gauge",
    "iln_interval_coverage_error": "gauge",
    "iln_parts_reset_total": "counter",
    "iln_corrected_labels_total": "counter",
    "iln_early_labels": "gauge",
    "iln_label_delay_seconds": "histogram",
    "iln_labels_without_event_total": "counter",
    "iln_pending_bytes": "gauge",
    "iln_pending_events": "gauge",
    "iln_pending_expired_total": "counter",
    "iln_registry_retries_total": "counter",
    "iln_running_accuracy": "gauge",
    "iln_units_redrawn_at": "gauge",
    "iln_values_coerced_total": "counter",
    "iln_values_missing_total": "counter",
    "iln_windowed_accuracy": "gauge",
    "iln_windowed_brier": "gauge",
    "iln_windowed_calibration_error": "gauge",
    "iln_windowed_pr_auc": "gauge",
    "iln_windowed_roc_auc": "gauge",
    "iln_alpha_l1": "gauge",
    "iln_publish_bytes": "gauge",
    "iln_publish_duration_seconds": "gauge",
    "iln_publish_failures_total": "counter",
    "iln_publish_pause_seconds": "gauge",
    "iln_published_timestamp_seconds": "gauge",
    "iln_published_version": "gauge",
    "iln_repeated_events_total": "counter",
    "iln_commands_total": "counter",
    "iln_ready": "gauge",
    "iln_new_partitions": "gauge",
    "iln_source_connected": "gauge",
    "iln_consumer_lag": "gauge",
    "iln_dead_letters_total": "counter",
    "iln_draws": "gauge",
    "iln_draws_capped_total": "counter",
    "iln_estimate_variance": "gauge",
    "iln_events_total": "counter",
    "iln_labelled_events_total": "counter",
    "iln_labels_connected": "gauge",
    "iln_labels_lag": "gauge",
    "iln_last_progress_timestamp_seconds": "gauge",
    "iln_running_loss": "gauge",
    "iln_running_mae": "gauge",
    "iln_shrink_frequency": "gauge",
    "iln_shrinks_total": "counter",
    "iln_snapshot_duration_seconds": "gauge",
    "iln_snapshot_lag": "gauge",
    "iln_snapshot_last_success_timestamp_seconds": "gauge",
    "iln_snapshot_offset": "gauge",
    "iln_snapshot_size_bytes": "gauge",
    "iln_snapshots_refused_total": "counter",
    "iln_step_duration_seconds": "histogram",
    "iln_support_points": "gauge",
    "iln_windowed_loss": "gauge",
    "iln_windowed_mae": "gauge",
}


def panel_queries() -> list[Any]:
    return [
        pytest.param(target["expr"], id=f"{panel['title']}:{target['refId']}")
        for panel in DASHBOARD["panels"]
        for target in panel.get("targets", [])
        # Others are in test_live_api.py and test_live_workers.py.
        if not re.search("iln_(api|worker)_", target["expr"])
    ]


@pytest.mark.parametrize("expression", panel_queries())
def test_panel_shows_its_learners(expression: str, prometheus: PrometheusServer) -> None:
    """A panel with a misspelt query, or an unknown metric, stays empty."""
    models = MODELS.intersection(*(OF_SOME[name] for name in OF_SOME if f"{name}{{" in expression))
    eventually(lambda: {model_of(each) for each in finite(asked(prometheus, expression))} == models)


def test_variables_offer_every_model_and_its_partitions(prometheus: PrometheusServer) -> None:
    """The drop-downs offer every model and partition."""
    eventually(
        lambda: (
            offered(prometheus)
            == {
                "model": "classifier|healthy|shrinking",
                "partition": "0|1|2",
            }
        )
    )


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if "record" in rule], ids=itemgetter("record")
)
def test_recording_rule_has_a_value_for_its_learners(
    rule: dict[str, Any], prometheus: PrometheusServer
) -> None:
    """An alert on a recorded series that is never there could never fire."""
    models = MODELS.intersection(*(OF_SOME[name] for name in OF_SOME if name in rule["expr"]))
    eventually(
        lambda: {model_of(each) for each in finite(prometheus.query(rule["record"]))} == models
    )
    assert finite(prometheus.query(rule["expr"]))


@pytest.mark.parametrize(
    ("alert", "label", "found"),
    [
        ("IlnLearnerDown", "instance", {"127.0.0.1:1"}),
        ("IlnSourceDisconnected", "model", {"shrinking"}),
        ("IlnSnapshotOld", "model", {"shrinking"}),
        ("IlnFallingBehind", "model", set()),
        ("IlnShrinking", "model", {"shrinking"}),
        ("IlnDeadLetters", "model", REGRESSORS),
        ("IlnInputsIgnored", "model", set()),
        ("IlnTextsTakenAsNumbers", "model", {"healthy"}),
        ("IlnNumbersTakenAsCategories", "model", {"shrinking"}),
        ("IlnKeysMissing", "model", set()),
        ("IlnPartsReset", "model", set()),
        ("IlnChallengerBetter", "model", set()),
        ("IlnChallengerFails", "model", set()),
        ("IlnPublishingFails", "model", set()),
        ("IlnPublishedVersionOld", "model", set()),
        ("IlnEventsExpire", "model", {"shrinking"}),
        ("IlnLabelsWithoutEvent", "model", set()),
        ("IlnLabelsStopped", "model", set()),
        ("IlnDrawsCeiling", "model", set()),
        ("IlnNoBetterThanTrivial", "model", {"shrinking"}),
        ("IlnErrorDoubled", "model", set()),
        ("IlnDrift", "model", set()),
        ("IlnCoverageOff", "model", set()),
    ],
)
def test_alert_finds_what_is_wrong(
    alert: str, label: str, found: set[str], prometheus: PrometheusServer
) -> None:
    """On real metrics each alert's condition picks the learners it is about, and no other."""
    (expression,) = [rule["expr"] for rule in RULES if rule.get("alert") == alert]
    eventually(lambda: len(prometheus.query("learner:iln_lag:seconds")) == len(MODELS))
    eventually(lambda: {sample.labels[label] for sample in prometheus.query(expression)} == found)


def test_prometheus_evaluates_every_rule(prometheus: PrometheusServer) -> None:
    """A rule may parse and still fail on real series, as a many-to-many match does."""
    eventually(lambda: {rule["health"] for rule in loaded_rules(prometheus)} == {"ok"})
    assert len(loaded_rules(prometheus)) == len(RULES)


def test_only_one_of_the_two_learners_shrinks(prometheus: PrometheusServer) -> None:
    """Otherwise the tests above would show nothing about shrinking."""
    eventually(
        lambda: (
            {model_of(each) for each in prometheus.query("iln_shrinks_total > 10")} == {"shrinking"}
        )
    )
    assert not prometheus.query('iln_shrinks_total{model="healthy"} > 0')


def test_every_metric_is_on_the_dashboard() -> None:
    """Each metric has a panel."""
    expressions = " ".join(query.values[0] for query in panel_queries())
    assert not [name for name in TYPES if name not in expressions]


def test_help_and_type_are_exposed_exactly_once(learners: Any) -> None:
    """Prometheus refuses an exposition that declares a metric twice."""
    declared = re.findall(r"^# (HELP|TYPE) (\w+) ", learners.exposition(), re.MULTILINE)
    assert Counter(declared) == {(word, name): 1 for word in ("HELP", "TYPE") for name in TYPES}


def test_exposition_parses_with_the_type_of_every_metric(learners: Any) -> None:
    """Types decide what rate() and histogram_quantile() may be asked."""
    families = all_families(learners)
    full_name = {"counter": "{}_total"}
    assert {full_name.get(f.type, "{}").format(f.name): f.type for f in families} == TYPES
    assert [f.name for f in families if not (f.documentation and f.samples)] == []


def test_the_page_of_metrics_is_right(learners: Any) -> None:
    """docs/metrics.md states the type and the labels with which each metric is exported."""
    page = (SERVICES.parent / "docs" / "metrics.md").read_text("utf-8")
    rows = re.findall(r"^\| `(iln_\w+)` \| (\w+) \| (.*?) \|", page, re.MULTILINE)
    documented = {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    found = {}
    for family in all_families(learners):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        found[name] = family.type, labels
    assert found == {name: documented.get(name) for name in found}


def test_a_wrong_expression_is_an_error_and_no_empty_result(prometheus: PrometheusServer) -> None:
    """Were it an empty result, a test that expects none could never fail."""
    with pytest.raises(PrometheusServerError, match="parse error"):
        prometheus.query("rate(iln_events_total)")


def asked(prometheus: PrometheusServer, expression: str) -> list[Sample]:
    """What Grafana would be answered, with all models and partitions chosen."""
    for name, values in offered(prometheus).items():
        expression = expression.replace(f"${name}", values)
    return prometheus.query(expression.replace("$__rate_interval", FOUR_SCRAPES))


def offered(prometheus: PrometheusServer) -> dict[str, str]:
    """Each variable's values, as Grafana puts them into a query when all are chosen."""
    chosen: dict[str, str] = {}
    for variable in DASHBOARD["templating"]["list"]:
        series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]).groups()  # type: ignore[union-attr]
        for name, values in chosen.items():
            series = series.replace(f"${name}", values)
        found = prometheus.get(f"label/{label}/values", **{"match[]": series})
        chosen[variable["name"]] = "|".join(found)
    return chosen


def finite(samples: list[Sample]) -> list[Sample]:
    return [sample for sample in samples if math.isfinite(sample.value)]


def model_of(sample: Sample) -> str:
    return sample.labels["model"]


def loaded_rules(prometheus: PrometheusServer) -> list[Any]:
    return [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]


def all_families(learners: Any) -> list[Any]:
    """The families of metrics, once each has a sample."""

    def families() -> list[Any]:
        return list(text_string_to_metric_families(learners.exposition()))

    eventually(lambda: all(family.samples for family in families()))
    return families()


def eventually(holds: Callable[[], bool]) -> None:
    """Scrapes take their time, and a rate needs two of them."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"still not so after {DEADLINE_SECONDS:.0f} s"
        time.sleep(0.1)
