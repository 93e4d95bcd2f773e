"""The jars with which Spark reads Kafka; Maven fetches them once."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from pathlib import Path

from support.child_process import output_of
from support.debian_packages import cache

POM = Path(__file__).parents[2] / "services" / "spark" / "pom.xml"

_DEADLINE_SECONDS = 900.0


class JarsError(RuntimeError):
    """The jars could not be fetched."""


def spark_jars() -> Path:
    """Return the folder with the jars that services/spark/pom.xml names."""
    name = hashlib.sha256(POM.read_bytes()).hexdigest()[:12]
    jars = cache() / f"spark-kafka-{name}"
    jars.parent.mkdir(parents=True, exist_ok=True)
    with (jars.parent / f"{jars.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jars.is_dir():
            partial = jars.parent / f"{jars.name}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            maven = ["mvn", "--quiet", "--batch-mode", "--file", str(POM)]
            copying = ["dependency:copy-dependencies", f"-DoutputDirectory={partial}"]
            output_of([*maven, *copying], raising=JarsError, deadline=_DEADLINE_SECONDS)
            partial.rename(jars)
    return jars
