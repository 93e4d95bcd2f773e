"""A frozen network as an ONNX model, run by onnxruntime."""

import json
import sys

import numpy as np
import onnxruntime
import pytest
from support.freezable import FAMILIES, learned, points

from iln_stream.learners.frozen.freezing import freeze

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_onnx_agrees(family, wrapped, tmp_path):
    """onnxruntime computes what predict_many does: absent, huge and clipped inputs included."""
    network = freeze(learned(family, wrapped), size=300)
    network.save_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    X = points(wrapped)
    (y,) = session.run(None, {"x": X})
    assert y.dtype == np.float64
    np.testing.assert_allclose(y, network.predict_many(X), rtol=1e-6, atol=1e-6)
    names = session.get_modelmeta().custom_metadata_map["names"]
    assert json.loads(names) == list(network.names)


def test_onnx_of_a_pool(tmp_path):
    """A pool is exported to ONNX like any other network."""
    network = freeze(learned(estimator="pool"))
    network.save_onnx(tmp_path / "pool.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "pool.onnx")
    X = points()
    np.testing.assert_allclose(session.run(["y"], {"x": X})[0], network.predict_many(X), atol=1e-9)


def test_onnx_is_an_extra(tmp_path, monkeypatch):
    """Without the package, everything but save_onnx works; its error says what to install."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "iln_stream.learners.frozen.onnx_model", raising=False)
    network = freeze(learned(), size=10)
    network.save(tmp_path / "network.npz")
    with pytest.raises(ImportError, match=r"pip install 'iln-stream\[onnx\]'"):
        network.save_onnx(tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()
