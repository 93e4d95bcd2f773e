"""`RiverScheme`: River's data sets and synthetic streams as addresses."""

import pytest

from iln_stream.streams import StreamOptions, stream_at


def first(address, **options):
    return [
        record.payload for record in stream_at(address, StreamOptions(**options)).source().poll(0.0)
    ]


def test_data_set():
    """`river:NAME` is the data set, up to the limit."""
    assert len(first("river:TrumpApproval", limit=7)) == 7


@pytest.mark.parametrize("name", ["Friedman", "FriedmanDrift", "Agrawal", "ConceptDriftStream"])
def test_seed(name):
    """A synthetic stream depends on the seed alone."""
    one, same, other = (first(f"synthetic:{name}", limit=20, seed=seed) for seed in (1, 1, 2))
    assert one == same != other
