"""What tests of experiments share."""

import json
from dataclasses import replace

import pytest
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from iln_stream.research.experiments.catalogue import run_experiment


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """One thread of linear algebra: of many small matrices, threads only wait for each other."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def result(request):
    """A quick run of the experiment of the file's name, on synthetic data and by default once."""
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ILN_DATA", raising=False)
        name, seeds = request.path.stem.removeprefix("test_"), getattr(request.module, "SEEDS", 1)
        found = run_experiment(name, full=False, seeds=seeds, progress=lines.append)
    assert lines
    return found


@pytest.fixture
def legend(result):
    """The legend of the picture, which is drawn from what is stored and says that it is quick."""
    stored = json.loads(json.dumps(result.document()))
    axes = Figure().subplots()
    replace(result, figures=stored["figures"]).plot(axes)
    assert "quick" in axes.get_title()
    return axes.get_legend().get_texts()
