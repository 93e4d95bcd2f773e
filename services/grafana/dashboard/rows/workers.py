"""Worker processes."""

from grafana_foundation_sdk.models.units import Short
from graph import Graph, Query

WORKER = "worker {{worker}}"

GRAPHS = (
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
