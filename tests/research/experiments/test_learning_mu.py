"""The experiment `learning_mu`, in its quick mode."""

from iln_stream.research.experiments import learning_mu
from iln_stream.research.experiments.data import TARGETS
from iln_stream.research.experiments.learning_mu import CONTROL, FIXED, MOVED


def error(result, name, way, units):
    return learning_mu._found(result.figures, name, way, units)["mean"]


def test_moves_learn_the_direction(result):
    """Where one direction matters, 32 moved units reach a fifth of the error of fixed ones,
    whichever way these get their weights."""
    moved, fixed, control = (
        error(result, "one direction", way, 32) for way in (MOVED, FIXED, CONTROL)
    )
    assert moved < 0.2 * min(fixed, control)


def test_notes_and_plot(result, legend):
    """The notes tell how many units are needed, but not where fixed units learned nothing."""
    assert len(result.notes) == len(TARGETS)
    assert "as good as" not in result.notes[0]
    assert "learned too little to compare with" in result.notes[0]
    assert "as good as 32 fixed units from" in result.notes[1]
    assert len(legend) == 3 * len(TARGETS)
