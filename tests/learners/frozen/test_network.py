"""Saving and loading a frozen network, and asking it."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.freezable import FAMILIES, NAMES, learned, points

from iln_stream.errors import StateError
from iln_stream.learners.frozen.freezing import freeze
from iln_stream.learners.frozen.network import FrozenNetwork

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(FAMILIES), st.booleans())
def test_a_file_is_the_network(tmp_path_factory, family, wrapped):
    """A loaded network predicts the same, to the last bit."""
    network = freeze(learned(family, wrapped), size=50)
    path = tmp_path_factory.mktemp("frozen") / "network"  # as named, whatever the suffix
    network.save(path)
    loaded = FrozenNetwork.load(path)
    assert loaded.names == network.names
    assert loaded.standard_error == network.standard_error
    X = points(wrapped)
    assert loaded.predict_many(X).tolist() == network.predict_many(X).tolist()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x04K\x01.", b"not a file of ours"])
def test_another_file_is_refused(content, tmp_path):
    """A file that is not a network raises an error that names it; a pickle is not executed."""
    path = tmp_path / "network.npz"
    path.write_bytes(content)
    with pytest.raises(StateError, match=r"network\.npz is not a frozen network's file"):
        FrozenNetwork.load(path)
    np.save(path.with_suffix(".npy"), np.zeros(3))
    with pytest.raises(StateError, match=r"network\.npy is not a frozen network's file"):
        FrozenNetwork.load(path.with_suffix(".npy"))
    np.savez(path, theta=np.zeros(3))
    with pytest.raises(StateError, match=r"network\.npz is not a frozen network's file"):
        FrozenNetwork.load(path)


def test_one_and_many_agree():
    """A dict without an input is a row with nan there; other inputs are ignored."""
    network = freeze(learned(), size=50)
    rows = [[1.0, 0.0, 3.0], [math.nan, 1.0, -2.0]]
    columns = [NAMES.index(name) for name in network.names]
    many = network.predict_many(np.array(rows)[:, columns])
    x = {"temperature": True, "sky=clear": 0, 3: np.float32(3.0), "other": math.inf}
    one = network.predict_one(x)
    absent = network.predict_one({"sky=clear": 1.0, 3: -2.0})
    assert many.tolist() == pytest.approx([one, absent], rel=1e-12)
    assert network.predict_many(np.empty((0, 3))).shape == (0,)


def test_many_points_in_blocks():
    """More points than one block give the same values as one by one."""
    network = freeze(learned(), size=5000)
    X = np.random.default_rng(0).normal(size=(500, 3))
    each = [network.predict_many(x[np.newaxis])[0] for x in X]
    np.testing.assert_allclose(network.predict_many(X), each, rtol=1e-12)


def test_wrong_inputs_are_named():
    """Wrong shapes and non-finite values raise errors that say what is expected."""
    network = freeze(learned(), size=50)
    with pytest.raises(ValueError, match=r"X has shape \(3,\): it must be \(n, 3\)"):
        network.predict_many([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="X has infinite entries"):
        network.predict_many([[1.0, 2.0, math.inf]])
    for value in (math.nan, math.inf):
        with pytest.raises(ValueError, match=r"x\['temperature'\] is (nan|inf): inputs must be"):
            network.predict_one({"temperature": value})


def test_npz_is_for_all_to_read(tmp_path):
    """Any reader of npz finds the arrays by their names, and the rest as JSON."""
    network = freeze(learned(), size=50)
    network.save(tmp_path / "network.npz")
    with np.load(tmp_path / "network.npz", allow_pickle=False) as file:
        assert sorted(file) == ["b", "centre", "deviation", "json", "omega", "weights"]
        assert file["omega"].tolist() == network.omega.tolist()
        rest = json.loads(file["json"].tobytes())
    assert rest["activation"] == network.activation
    assert [json.loads(name) for name in rest["names"]] == list(network.names)


def test_it_is_a_finite_layer_between_two_scalings():
    """y = offset + gain p, p the layer's value at the scaled inputs, clipped to the bound."""
    network = freeze(learned(), size=50)
    X = points()
    z = network.scaled(X)
    assert np.abs(z).max() <= network.clip
    assert (z[np.isnan(X)] == 0.0).all()
    p = np.clip(network.evaluate(z), -network.bound, network.bound)
    assert network.predict_many(X).tolist() == (network.offset + network.gain * p).tolist()
    steep = replace(network, weights=100 * network.weights)
    extremes = network.offset + network.gain * np.array([-network.bound, network.bound])
    assert {*steep.predict_many(X)} & {*extremes}
    assert steep.predict_many(X).max() <= extremes[1]
