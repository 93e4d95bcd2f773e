"""Keys in memory."""

import gc

import numpy as np

from iln_stream.learners.keyed import KeysInMemory
from iln_stream.learners.keyed.store import CHUNK, Names


def test_rows_stay_where_they_are():
    """A row is changed in place, also after many other keys have come."""
    keys = KeysInMemory(2)
    first = keys.to_learn("first")
    for k in range(2 * CHUNK):
        keys.to_learn(str(k))[0] = k
    first[0] = -1.0
    assert keys.get("first")[0] == -1.0
    assert (len(keys), keys.get("77")[0], keys.get("none")) == (2 * CHUNK + 1, 77.0, None)


def test_a_restored_store_has_the_same_keys():
    """Keys keep their states; the state shares no memory with the store."""
    keys = KeysInMemory(2)
    for k in range(10):
        keys.to_learn(f"k{k}")[:] = k
    state = keys.state()
    keys.to_learn("k3")[:] = 99.0
    again = KeysInMemory(2)
    again.to_learn("forgotten")
    again.restore(state)
    assert len(again) == 10
    assert again.get("forgotten") is None
    assert (again.get("k3") == 3.0).all()


def test_collections_of_garbage_do_not_visit_names():
    """Of a million keys that would take 40 ms: the chunks in which names lie are not tracked."""
    names = Names()
    for k in range(2 * CHUNK + 5):
        names.append(f"k{k}")
    names[CHUNK] = "other"
    assert (len(names), names[0], names[CHUNK]) == (2 * CHUNK + 5, "k0", "other")
    assert names[2 * CHUNK + 4] == f"k{2 * CHUNK + 4}"
    assert not any(map(gc.is_tracked, names._chunks))


def test_a_sample_is_spread_over_all_keys():
    """Metrics see old keys and new ones, and never more than they ask for."""
    keys = KeysInMemory(0)
    assert len(keys.sample(10)) == 0
    for k in range(1000):
        keys.to_learn(str(k))[0] = k
    assert np.median(keys.sample(11)[:, 0]) in range(490, 510)
    assert len(keys.sample(11)) == 11
    assert len(keys.sample(5000)) == 1000
