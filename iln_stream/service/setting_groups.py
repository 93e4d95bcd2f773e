"""Settings by subject, as `iln-stream run --help` and docs/settings.md show them."""

SETTING_GROUPS: dict[str, tuple[str, ...]] = {
    "Source": (
        *("source", "topic", "partitions", "learner_per", "start", "stop_at_end", "limit"),
        *("accept_loss", "workers"),
    ),
    "Kafka": ("bootstrap", "kafka_client", "kafka_options", "kafka_secrets", "broker_wait"),
    "Format of records": (
        *("format", "registry", "registry_options", "registry_secrets", "decoder"),
        *("separator", "decimal", "date_order"),
    ),
    "Fields": (
        *("target", "features", "ignore", "id_field", "time_field", "weight_field"),
        *("time_features", "types", "null_values"),
    ),
    "Forecasts": ("horizon", "forecast", "lags", "rolling_means"),
    "Late labels": (
        *("pending_events", "pending_bytes", "pending_seconds", "pending_expired"),
        *("pending_label", "early_labels", "labels", "labels_settings", "recent_ids"),
    ),
    "Learner": (
        *("learner", "learner_options", "class_weights", "seed", "warm_start"),
        *("warm_start_fields", "by_key", "keys_in_memory"),
    ),
    "Champion and challengers": ("challengers", "promotion", "promotion_error", "mixture"),
    "State": (
        *("snapshots", "snapshot_events", "snapshot_seconds", "snapshot_keep", "snapshot_pickle"),
        *("publish", "publish_seconds"),
    ),
    "Predictions and dead letters": (
        *("predictions", "prediction_intervals", "prediction_contributions", "transactional"),
        "dead_letters",
    ),
    "Metrics, page and log": (
        *("metrics_host", "metrics_port", "live", "page_port", "window", "model", "listeners"),
        *("when_refused", "log_level", "log_format"),
    ),
}
"""Names of settings by heading; each setting is in one group."""

GROUP_OF = {name: group for group, names in SETTING_GROUPS.items() for name in names}
