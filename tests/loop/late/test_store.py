"""`PendingStore`: events by id, the oldest first, in packed blocks."""

import random

import numpy as np
import pytest

from iln_stream.loop import pending as store
from iln_stream.loop.pending import Pending, PendingStore
from iln_stream.state import ArrayBlock, from_bytes, to_bytes


def pending(n):
    return Pending(
        {"a": float(n), "b": n / 3} if n % 3 else {"only": 1.0},
        float(n) if n % 2 else {"x": 0.25, True: 0.75} if n % 10 else {},
        None if n % 5 == 0 else 1e9 + n,
        n % 4,
        n,
        None if n % 7 == 0 else np.arange(float(n % 6)),
        None if n % 2 else 0.5,
        ((-1.0, 1.0),) if n % 3 == 1 else (),
        (1.0, 2.0) if n % 4 else (),
    )


def same(one, other):
    tokens = [None if each.token is None else each.token.tolist() for each in (one, other)]
    return tokens[0] == tokens[1] and one._replace(token=None) == other._replace(token=None)


@pytest.mark.parametrize("seed", range(2))
def test_as_a_dict(seed, monkeypatch):
    """Through adding, settling, popping and restarts it holds what a plain dict holds, in order of
    arrival, though its events are packed and packed again."""
    monkeypatch.setattr(store, "BLOCK", 64)
    rng = random.Random(seed)
    tested, known = PendingStore(), {}
    since = {}
    for n in range(2000):
        name = f"é{n}"
        serial = tested.add(name, pending(n))
        known[name] = (serial, pending(n))
        for older, (number, _) in list(known.items())[-40:]:
            if number == serial - 10:
                tested.settle(number, 5.0 * number)
                since[older] = 5.0 * number
        while known and rng.random() < (0.55 if n % 600 < 300 else 0.2):
            oldest, when = tested.oldest()
            assert (oldest, when) == (next(iter(known)), since.get(oldest))
            gone = rng.choice([oldest, *list(known)[-30:], rng.choice(list(known))])
            assert same(tested.get(gone), known[gone][1])
            tested.remove(gone)
            del known[gone]
        if n % 397 == 0:
            again = PendingStore()
            again.restore(from_bytes(to_bytes(tested.state())))
            assert again.n_bytes == tested.n_bytes
            tested = again
    assert len(tested) == len(known) > 50
    assert all(name in tested and same(tested.get(name), known[name][1]) for name in known)
    for (name, event), (waiting, (_, expected)) in zip(tested.items(), known.items(), strict=True):
        assert name == waiting
        assert same(event, expected)
    assert tested.get("nobody") is None
    for name in known:
        tested.remove(name)
    assert (len(tested), tested.oldest(), tested.n_bytes) == (0, None, 0)


def test_a_state_shares_its_blocks():
    """A state later has the same blocks, which a snapshot therefore does not write again."""
    tested = PendingStore()
    for n in range(5000):
        tested.add(str(n), pending(n))
    first = tested.state()
    tested.remove("17")
    for n in range(5000, 6000):
        tested.add(str(n), pending(n))
    second = tested.state()
    assert len(first["blocks"]) == 2
    assert all(isinstance(block, ArrayBlock) for block in first["blocks"])
    assert all(one is other for one, other in zip(first["blocks"], second["blocks"], strict=True))
    assert first["waiting"][0].tolist() != second["waiting"][0].tolist()


def test_sparse_blocks_shrink():
    """Few events left of many take little memory."""
    tested = PendingStore()
    for n in range(20 * store.BLOCK):
        tested.add(str(n), pending(n))
    full = tested.n_bytes
    for n in range(20 * store.BLOCK):
        if n % 50:
            tested.remove(str(n))
    assert tested.n_bytes < full / 10
    assert same(tested.get("100"), pending(100))


def test_few_bytes_an_event():
    """A waiting event of 10 inputs counts below 450 bytes."""
    tested = PendingStore()
    x = {f"input {i}": float(i) for i in range(10)}
    for n in range(10_000):
        tested.add(str(n), Pending(x, 0.5, 1e9, 0, n, None, None, (), (0.1, 0.2)))
    assert tested.n_bytes < 450 * 10_000
