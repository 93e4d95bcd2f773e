"""Every setting of the Spark job: its name, type, default and description."""

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from iln_stream.settings import ENV_PREFIX, CommandSettings, JsonObject


class SparkSettings(CommandSettings):
    """Settings of the Spark job. Flags override variables, which override the TOML file."""

    model_config = SettingsConfigDict(env_prefix=f"{ENV_PREFIX}SPARK_", extra="forbid", frozen=True)

    table = "spark"
    secret = ("kafka_source_options",)

    checkpoint: str = Field(
        default="spark-checkpoint",
        description="Folder of the checkpoint, a path or URL that all workers can reach: the "
        "state of all keys and the positions. A restart resumes from it.",
    )
    prior: Path | None = Field(
        default=None,
        description="Snapshot, or folder of snapshots, from which each key's learner starts. "
        "Unset: a new learner as `learner` names it.",
    )
    prior_file: Path | None = Field(
        default=None,
        description="File that keeps the prior of the first run. Unset: `CHECKPOINT.prior.npz` "
        "beside the checkpoint, which must then be a local folder.",
    )
    by_key: str | None = Field(
        default=None,
        description="Path of the JSON field that chooses the learner, such as `x.customer`. Unset: "
        "the record's key.",
    )
    state_partitions: int = Field(
        default=8,
        ge=1,
        description="Most workers that can learn at the same time. A checkpoint keeps the "
        "number that it began with.",
    )
    most_records: int | None = Field(
        default=100_000, ge=1, description="Most records in a micro-batch."
    )
    trigger_seconds: float = Field(
        default=0.0, ge=0.0, description="Least seconds from one micro-batch to the next."
    )
    available_now: bool = Field(
        default=False, description="Stop when the records that exist at startup are learned."
    )
    live_learners: int = Field(
        default=10_000,
        ge=1,
        description="Most learners that a worker keeps in memory.",
    )
    jars: Path | None = Field(
        default=None,
        description="Folder with the jars of Spark's Kafka connector. Unset: `spark-submit --jars` "
        "names them.",
    )
    kafka_source_options: JsonObject = Field(
        default_factory=dict,
        examples=[{"kafka.security.protocol": "SSL"}],
        description="Options of Spark's Kafka source, as a TOML table or JSON.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Minimum level of the driver's own log."
    )
