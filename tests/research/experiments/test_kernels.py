"""The experiment `kernels`, quick."""

import json

import pytest
from matplotlib.figure import Figure

from iln_stream.research.experiments import kernels


@pytest.fixture(scope="module")
def result():
    patch = pytest.MonkeyPatch()
    patch.delenv("ILN_DATA", raising=False)
    lines = []
    found = kernels.run(False, 2, lines.append)
    patch.undo()
    assert len(lines) >= 6
    return found


def test_document_and_plot(result):
    """The figure draws from stored figures alone, with a legend, and says that it is quick."""
    stored = json.loads(json.dumps(result.document()))
    assert stored["name"] == "kernels"
    axes = Figure().subplots()
    type(result)(**{**vars(result), "figures": stored["figures"]}).plot(axes)
    assert "quick" in axes.get_title()
    assert axes.get_legend() is not None


def test_more_features_err_less(result):
    """Every map's largest error falls with M, and the fitted exponents of unbiased maps are near
    -1/2 even in a quick run."""
    for name, found in result.figures["maps"].items():
        errors = [point["mean"] for point in found["sup_error"]]
        assert errors == sorted(errors, reverse=True), name
        if name != kernels.NYSTROEM:
            assert -0.75 < found["exponent"]["exponent"] < -0.25, name
