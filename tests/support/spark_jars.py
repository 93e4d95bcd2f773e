"""The jars with which Spark reads Kafka; Maven fetches them once."""

import hashlib
from pathlib import Path

from support.cache import kept
from support.child_process import output_of

POM = Path(__file__).parents[2] / "services" / "spark" / "pom.xml"

_DEADLINE_SECONDS = 900.0


class JarsError(RuntimeError):
    """The jars could not be fetched."""


def spark_jars() -> Path:
    """Return the folder with the jars that services/spark/pom.xml names."""
    name = hashlib.sha256(POM.read_bytes()).hexdigest()[:12]
    return kept(f"spark-kafka-{name}", _fetch)


def _fetch(folder: Path) -> None:
    maven = ["mvn", "--quiet", "--batch-mode", "--file", str(POM)]
    copying = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
    output_of([*maven, *copying], raising=JarsError, deadline=_DEADLINE_SECONDS)
