"""The benchmark of learning curves on long streams."""

import numpy as np
import pytest

from benchmarks.long_streams.curve import ENDS, run
from benchmarks.long_streams.document import BEGIN, DOCUMENT, with_tables
from benchmarks.long_streams.learners import LEARNERS, OURS, PEERS
from benchmarks.long_streams.plot import COLOURS, draw
from benchmarks.long_streams.results import load, put, seeds
from benchmarks.long_streams.streams import DESIGN, HELD_BACK, NOISE, STREAMS
from benchmarks.long_streams.table import means, table
from benchmarks.quality.unavailable import UnavailableError


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_a_function_of_its_seed(name):
    """The same seed gives the same events, whatever their number, and another seed others."""
    first, more, other = (
        list(STREAMS[name].events(n, seed)) for n, seed in ((50, 1), (12_000, 1), (50, 2))
    )
    assert first == more[:50]
    assert first != other
    x, _ = first[0]
    assert len(x) == STREAMS[name].d
    targets = np.array([y for _, y in more[:10_000]])
    assert np.isfinite(targets).all()
    assert targets.std() == pytest.approx(np.hypot(1.0, NOISE), rel=0.1)


def test_errors_are_ratios_by_segment():
    """A learner that follows the target has errors below the running mean's, segment by segment."""
    cell = run("river-linear", "skewed", 1, 1_500)
    assert len(cell["errors"]) == sum(end < 1_500 for end in ENDS) + 1
    assert 0.1 < cell["errors"][1] < 1.0
    assert cell["us"] > 0.0


def test_the_table_has_medians_and_means():
    """Medians over seeds, and a line of geometric means where all streams of a group are stored."""
    stored = {
        f"1000 {stream} accurate {seed}": {"errors": [0.5, 0.1 * seed], "us": 100.0}
        for stream in HELD_BACK
        for seed in (1, 2, 3)
    }
    lines = table("held back", HELD_BACK, 1_000, stored)
    assert lines[2] == "| bumps | accurate | .500 | .200 | 100 |"
    assert lines[-1] == "| gm | accurate | .500 | .200 |  |"
    assert len(table("design", DESIGN, 1_000, stored)) == 2


def test_a_picture_of_what_is_stored(tmp_path):
    """The stored curves are drawn, whichever learners there are."""
    stored = {f"1000 {stream} accurate 1": {"errors": [0.5, 0.3]} for stream in STREAMS}
    draw(stored, 1_000, ENDS, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_a_tree_has_leaves_and_a_slope():
    """A leaf's height decides most of the target, and is found again at the same inputs."""
    tree = STREAMS["tree"]
    function, draw_rows = tree.make(np.random.default_rng(3))
    X = draw_rows(2_000)
    y = function(X, np.zeros(2_000, np.int64))
    assert function(X[::-1], np.zeros(2_000, np.int64)) == pytest.approx(y[::-1])
    far = X.copy()
    far[:, 1] += 1e-9  # crosses hardly a threshold
    assert np.mean(np.abs(function(far, np.zeros(2_000, np.int64)) - y) < 1e-6) > 0.99
    linear = np.linalg.lstsq(np.column_stack([X, np.ones(2_000)]), y, rcond=None)[0]
    rest = y - np.column_stack([X, np.ones(2_000)]) @ linear
    assert rest.var() > 0.5 * y.var()


def test_categories_are_one_hot_and_cross():
    """One column of each category is 1, and the pair of the first two matters beyond its parts."""
    events = list(STREAMS["categories"].events(500, 1))
    X = np.array([list(x.values()) for x, _ in events])
    for first, last in ((0, 30), (30, 55), (55, 63)):
        assert (X[:, first:last].sum(axis=1) == 1.0).all()
    function, _ = STREAMS["categories"].make(np.random.default_rng(3))

    def at(a, b):
        x = np.zeros((1, 66))
        x[0, [a, 30 + b, 55]] = 1.0
        return function(x, np.zeros(1, np.int64))[0]

    assert abs(at(0, 0) - at(0, 1) - at(1, 0) + at(1, 1)) > 0.01


def test_a_learner_that_ran_shorter_has_dashes():
    """Peers that are slow have the segments that they reached, beside longer runs of others."""
    stored = {
        **{f"1000 {stream} mlp-replay 1": {"errors": [0.5, 0.3], "us": 9.0} for stream in DESIGN},
        **{
            f"2000 {stream} boosting 1": {"errors": [0.5, 0.4, 0.25], "us": 9.0}
            for stream in DESIGN
        },
    }
    lines = table("design", DESIGN, 2_000, stored)
    assert "| gm | mlp-replay | .500 | .300 | – |  |" in lines
    assert "| gm | boosting | .500 | .400 | .250 |  |" in lines


def test_means_are_of_whole_groups():
    """A mean over some of a group's streams would compare different streams."""
    stored = {
        f"2000 {stream} {learner} 1": {"errors": [0.9, 0.9, error], "us": 9.0}
        for learner, error in (("fast", 0.5), ("boosting", 0.25))
        for stream in (DESIGN if learner == "fast" else list(HELD_BACK)[1:])
    }
    stored["2000 bumps boosting 1"] = {"errors": [0.9, 0.9, 0.015625], "us": 9.0}
    del stored["2000 tree fast 1"]
    assert means(2_000, stored)[2:] == ["| boosting | – | .125 |"]


def test_the_document_shows_what_is_stored():
    """Whoever stores cells renews the table: python -m benchmarks.long_streams --report."""
    text = DOCUMENT.read_text("utf-8")
    assert BEGIN in text
    assert with_tables(text, load()) == text


def test_cells_of_two_processes_are_all_kept(tmp_path):
    """Each is stored beside what the file has by then."""
    file = tmp_path / "cells.json"
    put("100 bumps fast 1", {"errors": [1.0]}, file)
    put("1000 bumps fast 1", {"errors": [1.0, 0.5]}, file)
    put("1000 bumps fast 2", {"errors": [1.0, 0.4]}, file)
    assert len(load(file)) == 3
    assert seeds(load(file), "bumps", "fast", 1_000) == [
        {"errors": [1.0, 0.5]},
        {"errors": [1.0, 0.4]},
    ]
    assert seeds(load(file), "bumps", "boosting", 1_000) == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", PEERS)
def test_peers_learn(learner):
    """On a nearly linear stream, each peer is better than the running mean before event 1,000."""
    try:
        cell = run(learner, "seasons", 1, 600)
    except UnavailableError as reason:
        pytest.skip(str(reason))
    assert cell["errors"][1] < 0.97


def test_every_learner_has_a_colour():
    """The picture leaves no learner out."""
    assert set(COLOURS) == set(LEARNERS)


def test_stored_results_are_of_these_streams_and_learners():
    """A stream or learner that goes takes its cells with it, and peers have one seed."""
    for key in load():
        events, stream, learner, seed = key.split(" ")
        assert int(events) in ENDS
        assert stream in STREAMS
        assert learner in OURS or (learner in PEERS and seed == "1")
