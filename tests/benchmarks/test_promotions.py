"""The study of false promotions."""

from itertools import islice

import numpy as np
import pytest

from benchmarks.promotions import designs, watching
from benchmarks.promotions.cells import cells
from benchmarks.promotions.differences import CHUNK, EQUAL, improved
from benchmarks.promotions.document import DOCUMENT, TABLES, with_tables
from iln_stream.learners.contest.evidence import Blocks

N_STREAMS = 200


@pytest.mark.parametrize("kind", EQUAL)
def test_equal_contenders_have_bounded_differences_of_mean_zero(kind):
    """The study's streams are what their names say: neither contender is better."""
    chunks = list(islice(EQUAL[kind](np.random.default_rng(1), N_STREAMS), 10))
    differences = np.concatenate(chunks)
    assert differences.shape == (10 * CHUNK, N_STREAMS)
    assert np.abs(differences).max() <= 1.0
    means = differences.mean(axis=0)
    assert abs(means.mean()) < 4.0 * means.std() / np.sqrt(N_STREAMS)
    assert means.std() > 0.0


def test_a_better_challenger_has_smaller_losses():
    """A gain of a fifth is a fifth of the mean loss, about a quarter."""
    chunks = improved(np.random.default_rng(1), N_STREAMS, 0.2, correlation=0.9, common=0.8)
    differences = np.concatenate(list(islice(chunks, 20)))
    assert differences.mean() == pytest.approx(0.2 * 0.25, rel=0.05)


def test_the_sixth_design_is_the_one_that_is_used():
    """The designs' variances, by each length, are those of the blocks of `Evidence`."""
    differences = next(EQUAL["AR(1), .9"](np.random.default_rng(1), 3))
    sums = designs.Sums(3)
    blocks = [Blocks(16 << k) for k in range(3)]
    for chunk in differences[:384].reshape(24, 16, 3).sum(axis=1):
        sums.add(chunk)
        block, k = chunk[0], 0
        while block is not None and k < len(blocks):
            block = blocks[k].add(block)
            k += 1
    for k in range(3):
        expected = sums.variance(k, 1.0)[0]
        assert blocks[k].variance(sums.total[0] / 384)[0] == pytest.approx(expected)


def test_streams_are_watched_until_the_promotion():
    """Of clear improvements all are found at the first decision, and of none nothing is."""
    better = iter([np.full((CHUNK, 2), 0.5)] * 2)
    assert watching.events_to_promotion(better, 2, 2 * CHUNK).tolist() == [512.0, 512.0]
    equal = iter([np.zeros((CHUNK, 2))] * 2)
    assert watching.events_to_promotion(equal, 2, 2 * CHUNK).tolist() == [np.inf, np.inf]


def test_document_has_a_place_for_every_table():
    """Each table has markers in the document, and cells that are not stored are left out."""
    text = DOCUMENT.read_text("utf-8")
    for name in TABLES:
        assert text.count(f"<!-- promotions:{name}:begin -->") == 1
    assert "| AR(1), .9 | 7 | - |" in with_tables(text, {"equal 20000 AR(1), .9": {"promoted": 7}})


def test_names_of_cells_differ():
    """No cell replaces another one."""
    names = [name for name, _ in cells()]
    assert len(names) == len(set(names))
