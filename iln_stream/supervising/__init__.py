"""Supervised processes: restarted when they fail, and stopped with their supervisor.

- `supervisor.py`: starts the processes, restarts those that fail, stops them;
- `child.py`: one process, seen by the supervisor;
- `reporter.py`: the supervisor, seen by the process;
- `restarts.py`: how often a process is restarted, and after how long;
- `scraping.py`: sends an HTTP request to all processes at the same time;
- `counters.py`: counters that never go back when a process is restarted;
- `merged_metrics.py`: the metrics of all processes as one page.

Nothing here knows what the processes do.
"""

from iln_stream.supervising.child import Child
from iln_stream.supervising.merged_metrics import MergedMetrics
from iln_stream.supervising.reporter import Reporter
from iln_stream.supervising.restarts import RestartPolicy
from iln_stream.supervising.scraping import Scraper
from iln_stream.supervising.supervisor import Supervisor

__all__ = ["Child", "MergedMetrics", "Reporter", "RestartPolicy", "Scraper", "Supervisor"]
