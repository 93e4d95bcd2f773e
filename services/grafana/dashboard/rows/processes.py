"""Processes: their memory and time, and those of workers."""

from grafana_foundation_sdk.models.units import BytesIEC, PercentUnit, Short
from graph import Graph, Query

WORKER = "worker {{worker}}"
PROCESS = "{{instance}} {{worker}}"


def of_process(job: str, more: str = "") -> tuple[Graph, ...]:
    """Return time and memory of the processes of a job."""
    whose, chosen = job.removeprefix("iln-"), f'{{job="{job}"{more}}}'
    return (
        Graph(
            f"CPU of the {whose}",
            "Share of a core that each process uses.\n\nHealthy: below 1 for a learner without "
            "workers. At 1 with a lag: it needs a faster profile or more workers.",
            PercentUnit,
            (Query(f"rate(process_cpu_seconds_total{chosen}[$__rate_interval])", PROCESS),),
        ),
        Graph(
            f"Memory of the {whose}",
            "Resident memory of each process.\n\nHealthy: level once the learner's budgets are "
            "full. A straight line: report it.",
            BytesIEC,
            (Query(f"process_resident_memory_bytes{chosen}", PROCESS),),
        ),
    )


WORKERS = (
    Graph(
        "Workers",
        "1 for each worker process that runs and answers, 0 while it does not.\n\nHealthy: 1. A "
        "moment of 0: it was restarted. 0 for long: see the runbook of IlnWorkerDown.",
        Short,
        (Query("iln_worker_up", WORKER),),
    ),
    Graph(
        "Restarts of workers",
        "How often each worker process was restarted after a failure.\n\nHealthy: flat. Rising: "
        "the log has the reason of each; after 5 restarts of one within 10 minutes the run ends.",
        Short,
        (Query("iln_worker_restarts_total", WORKER),),
    ),
)
