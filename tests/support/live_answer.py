"""What a learner answers at /live."""

from typing import Any


def live(n: int, **other: Any) -> dict[str, Any]:
    """Return a learner's answer after `n` steps."""
    return {
        "release": "1",
        "started_at": 5.0,
        "state": "learning",
        "models": [
            {
                **{name: name for name in ("model", "task", "source", "learner", "version")},
                "partition": "0",
                "contenders": [],
                "metrics": {"iln_events_total": n, "iln_consumer_lag_records": 0},
                "curves": {
                    "stride": 8,
                    "serials": list(range(8, n + 1, 8)),
                    "events": list(range(8, n + 1, 8)),
                    "series": {"iln_recent_error_ratio": [1.0] * (n // 8)},
                },
                "steps": [{"serial": k} for k in range(1, n + 1)],
                "dead_letters": [],
                "checkpoints": [],
                "commands": [],
                "promotions": [],
            }
        ],
        **other,
    }
