"""The experiment `ridge_rates`, quick."""

import json

import pytest
from matplotlib.figure import Figure

from iln_stream.research.experiments import ridge_rates


@pytest.fixture(scope="module")
def result():
    patch = pytest.MonkeyPatch()
    patch.delenv("ILN_DATA", raising=False)
    lines = []
    found = ridge_rates.run(False, 2, lines.append)
    patch.undo()
    assert len(lines) >= 6
    return found


def test_document_and_plot(result):
    """The figure draws from stored figures alone, with a legend, and says that it is quick."""
    stored = json.loads(json.dumps(result.document()))
    assert stored["name"] == "ridge_rates"
    axes = Figure().subplots()
    type(result)(**{**vars(result), "figures": stored["figures"]}).plot(axes)
    assert "quick" in axes.get_title()
    assert axes.get_legend() is not None


def test_excess_risks(result):
    """Excess risks fall with n; the smallest number of features is the worst at the largest n, and
    accounts follow the numbers of units."""
    methods = result.figures["methods"]
    for name in ("sqrt(n), uniform", "sqrt(n) log n, uniform", ridge_rates.KERNEL):
        risks = [point["mean"] for point in methods[name]["excess_risk"]]
        assert risks[-1] < risks[0], name
    assert (
        methods["n^(1/4), uniform"]["ratio"]["mean"]
        > 2 * (methods["sqrt(n) log n, uniform"]["ratio"]["mean"])
    )
    assert methods["sqrt(n), leverage"]["psi"] == 4 * methods["sqrt(n), uniform"]["psi"]
    assert methods[ridge_rates.KERNEL]["psi"] == 0
