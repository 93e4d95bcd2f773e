"""The events that a learner keeps."""

from benchmarks.quality.learners.history import History


def test_history_keeps_every_row():
    """Growing loses and reorders nothing."""
    history = History()
    for t in range(200):
        history.append({"a": float(t), "b": -1.0}, 2.0 * t)
    assert history.rows.tolist() == [[float(t), -1.0, 2.0 * t] for t in range(200)]
