"""Finding the part of a model that reports."""

from typing import Any

from iln_stream.reporting.protocol import Reporting


def find_reporter(model: Any) -> Reporting | None:
    """Return the outermost part of a model that reports, None if none does.

    A pipeline is looked into at its last step, a wrapper at the learner it wraps.
    """
    while model is not None:
        # By type: River makes a pipeline an instance of its last step's class.
        if all(hasattr(type(model), name) for name in ("flags", "report", "metrics")):
            return model  # type: ignore[no-any-return]
        if isinstance(steps := getattr(model, "steps", None), dict):  # a River pipeline
            model = next(reversed(steps.values()), None)
        else:
            # Not `model`: an ensemble's is a template, which never learns.
            model = getattr(model, "regressor", None)
    return None
