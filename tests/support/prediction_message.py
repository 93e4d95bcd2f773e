"""Predictions as the service writes them."""

import json
from typing import Any


def message(offset: int = 0, **fields: Any) -> str:
    """Return a prediction of version 2 as JSON."""
    return json.dumps(
        {
            "version": 2,
            "stream": "s",
            "partition": 0,
            "offset": offset,
            "id": None,
            "time": None,
            "key": None,
            "model": {"name": "m", "version": "1"},
            "y_pred": 1.0,
            "y": None,
            **fields,
        }
    )
