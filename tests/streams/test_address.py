"""`stream_at`: from addresses to streams."""

import pytest

from iln_stream.streams import AddressError, StreamOptions, schemes, stream_at


@pytest.mark.parametrize(
    ("address", "scheme"),
    [
        ("kafka:iln-events", "KafkaScheme"),
        ("river:TrumpApproval", "RiverScheme"),
        ("synthetic:Friedman", "RiverScheme"),
        ("-", "StandardScheme"),
        ("events.jsonl", "FileScheme"),
        ("file:events.jsonl", "FileScheme"),
        ("folder/of:colons/events.jsonl", "FileScheme"),
        ("package.module:source", "ImportedScheme"),
    ],
)
def test_schemes(address, scheme):
    """Each form of address leads to its scheme."""
    assert type(stream_at(address, StreamOptions())).__name__ == scheme


@pytest.mark.parametrize("scheme", ["kafka", "river", "synthetic", "file"])
def test_missing_name(scheme):
    """A scheme without a name is refused, with the correct form."""
    assert scheme in schemes()
    with pytest.raises(AddressError, match=f"'{scheme}:' names nothing: give {scheme}:NAME"):
        stream_at(f"{scheme}:", StreamOptions())
