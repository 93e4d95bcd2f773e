"""The experiment `kitchen_sinks`, quick, on synthetic data."""

from iln_stream.research.experiments import kitchen_sinks


def test_more_units_err_less(result, legend):
    """More units err less than few; AdaBoost beats guessing; on the substitute there is no verdict
    about the source."""
    assert legend
    assert len(result.notes) == 1
    assert "synthetic" in result.notes[0]
    methods = result.figures["methods"]
    for name, points in methods.items():
        errors = [point["error"]["mean"] for point in points]
        assert errors[-1] < errors[0], name
        assert points[-1]["error"]["mean"] < result.figures["guessing"], name
    for name, error in result.figures["least_squares"].items():
        assert error["mean"] < result.figures["guessing"], name


def test_verdicts():
    """The notes of a full run on adult compare speeds at AdaBoost's error, and with the source."""

    def point(K, error, seconds, alpha):
        return {
            "K": K,
            "error": {"mean": error, "standard_error": 0.001},
            "seconds": {"mean": seconds},
            "largest_alpha": {"mean": alpha},
        }

    figures = {
        "data": "adult",
        "guessing": 0.236,
        "least_squares": {"stumps": {"mean": 0.15472}},
        "methods": {
            kitchen_sinks.ADABOOST: [point(100, 0.15, 8.0, 1.0)],
            "stumps": [point(100, 0.2, 0.1, 0.1), point(1000, 0.154, 0.5, 0.01)],
            "Fourier": [point(100, 0.2, 0.1, 0.1), point(1000, 0.1505, 0.5, 0.02)],
            "sigmoid": [point(100, 0.2, 0.1, 0.1), point(1000, 0.16, 0.5, 0.01)],
        },
    }
    notes = kitchen_sinks._notes(figures, full=True)
    assert "from K = 1000 on, 16 times as fast" in notes[2]
    assert "falls as K^(-1.00)" in notes[2]
    assert "never within half a percent" in notes[4]
    assert "stumps 15.472% error. The margin of half a percent ends at 15.500%" in notes[5]
    assert "in agreement" in notes[6]
    figures["methods"]["Fourier"][1]["error"]["mean"] = 0.155
    assert "0.60% away" in kitchen_sinks._notes(figures, full=True)[6]
