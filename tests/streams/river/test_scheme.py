"""`RiverScheme`: River's data sets and synthetic streams as addresses."""

import pytest

from iln_stream.errors import SourceError
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


@pytest.mark.parametrize(
    ("address", "options", "message"),
    [
        ("river:Trump", {}, "river:Trump: River has .*TrumpApproval"),
        ("synthetic:TrumpApproval", {}, "River has .*Friedman"),
        ("river:Higgs", {}, r"call river\.datasets\.Higgs\(\)\.download\(\) first"),
    ],
)
def test_refused(address, options, message):
    """Unknown names and data sets to download are refused with the remedy."""
    with pytest.raises(SourceError, match=message):
        stream_at(address, StreamOptions(**options)).check()
