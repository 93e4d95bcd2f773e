"""Finding the part of a model that reports."""

from typing import Any

from iln_stream.reporting.protocol import Reporting


def find_reporter(model: Any) -> Reporting | None:
    """Return the outermost part of a model that reports, None if none does.

    Looks into the last step of a pipeline and into the learner that a wrapper wraps.
    """
    while model is not None:
        # Look at the type: in River a pipeline is also an instance of its last step's class.
        if all(hasattr(type(model), name) for name in ("flags", "report", "metrics")):
            return model  # type: ignore[no-any-return]
        if isinstance(steps := getattr(model, "steps", None), dict):  # a River pipeline
            model = next(reversed(steps.values()), None)
        else:
            # Not `model`: in an ensemble this is a template that never learns.
            model = getattr(model, "regressor", None)
    return None
