"""Clipping that does not hide nan."""


def clipped(value: float, bound: float) -> float:
    """Return the value within +-bound; nan stays nan.

    `max(-bound, min(value, bound))` would return -bound for nan, and a broken learner would look
    like one that predicts badly.

    Examples
    --------
    >>> from iln_stream.learners.preprocessing.clipping import clipped
    >>> clipped(3.0, 2.0), clipped(-0.5, 2.0), clipped(float("nan"), 2.0)
    (2.0, -0.5, nan)

    """
    if value > bound:
        return bound
    return -bound if value < -bound else value
