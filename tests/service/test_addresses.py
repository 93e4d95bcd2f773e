"""The streams that settings name: sources, sinks and dead letters."""

import pytest
from river import datasets

from iln_stream.errors import SinkError, SourceError
from iln_stream.records import decode
from iln_stream.service import (
    Settings,
    SettingsError,
    dead_letters_address,
    output_stream,
    source_stream,
)
from iln_stream.service.streams import check_addresses
from iln_stream.streams import AddressError
from iln_stream.streams.files import CsvSource, JsonLinesSink, JsonLinesSource
from iln_stream.streams.river import RiverDatasetSource


def settings(**values):
    return Settings.load(**values)


def test_json_lines_source(tmp_path):
    """An address that ends in .jsonl is a file of JSON lines; `limit` ends it."""
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\nc\n")
    source = source_stream(settings(source="events.jsonl", limit=2)).source()
    assert isinstance(source, JsonLinesSource)
    assert [record.payload for record in source.poll(0)] == [b"a", b"b"]


def test_csv_source(tmp_path):
    """An address that ends in .csv is a table; `limit` ends it."""
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n")
    source = source_stream(settings(source="table.csv", limit=1)).source()
    assert isinstance(source, CsvSource)
    assert [record.payload for record in source.poll(0)] == [{"a": "1", "b": "2"}]


def test_river_source():
    """river:NAME is that data set, and the stream has its name."""
    source = source_stream(settings(source="river:TrumpApproval", limit=10)).source()
    assert isinstance(source, RiverDatasetSource)
    assert (source.stream, source.lag) == ("TrumpApproval", 10)


ENDLESS = sorted(
    name
    for name, kind in vars(datasets.synth).items()
    if name[:1].isupper() and name != "Logical"  # its label is a dict: several labels at once
)


@pytest.mark.parametrize("name", ENDLESS)
def test_synthetic_source(name):
    """Every synthetic stream of River can be a source, and the seed determines its draws."""

    def first(seed):
        source = source_stream(settings(source=f"synthetic:{name}", seed=seed, limit=20)).source()
        return [record.payload for record in source.poll(0)]

    assert len(first(1)) == 20
    for payload in first(1):
        assert decode(payload).y is not None
    assert first(1) == first(1)
    assert first(1) != first(2)


@pytest.mark.parametrize(
    ("source", "error", "said"),
    [
        (
            "events.txt",
            SourceError,
            "source = 'events.txt': give kafka, kafka:TOPIC, a .jsonl or .csv file",
        ),
        ("river:Trump", SourceError, "river:Trump: River has .*TrumpApproval"),
        ("river:", AddressError, "names nothing: give river:NAME"),
        ("kafka:", AddressError, "names nothing: give kafka:NAME"),
        ("synthetic:TrumpApproval", SourceError, "River has .*Friedman"),
        ("river:Higgs", SourceError, r"call river\.datasets\.Higgs\(\)\.download\(\) first"),
        ("nowhere.jsonl", SourceError, r"can't read nowhere\.jsonl: No such file"),
    ],
)
def test_wrong_source(source, error, said):
    """An error about a source says what is available."""
    with pytest.raises(error, match=said):
        source_stream(settings(source=source)).source()


def test_file_sink(tmp_path):
    """Any other output address is a file."""
    sink = output_stream(settings(), "predictions.jsonl").sink()
    assert isinstance(sink, JsonLinesSink)
    sink.write(None, b"{}")
    sink.close()
    assert (tmp_path / "predictions.jsonl").read_bytes() == b"{}\n"


def test_standard_output_sink(capfdbinary):
    """A dash is standard output."""
    sink = output_stream(settings(), "-").sink()
    sink.write(None, b"{}")
    sink.close()
    assert capfdbinary.readouterr().out == b"{}\n"


def test_wrong_sink(tmp_path):
    """An error names the file that can't be opened."""
    with pytest.raises(SinkError, match=r"can't write \.: Is a directory"):
        output_stream(settings(), ".").sink()


@pytest.mark.parametrize(
    ("values", "address"),
    [
        ({"source": "kafka", "topic": "t"}, "kafka:t-dead-letters"),
        ({"source": "a.jsonl"}, "dead-letters.jsonl"),
        ({"source": "kafka", "dead_letters": "own.jsonl"}, "own.jsonl"),
    ],
)
def test_default_dead_letters(values, address):
    """Dead letters have an address by default."""
    assert dead_letters_address(settings(**values)) == address


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"source": "a.jsonl", "predictions": "./a.jsonl"}, "predictions"),
        ({"source": "a.jsonl", "dead_letters": "a.jsonl"}, "dead_letters"),
        ({"source": "dead-letters.jsonl"}, "dead_letters"),
        ({"source": "a.csv", "predictions": "b", "dead_letters": "b"}, "dead_letters"),
        ({"source": "kafka", "topic": "t", "predictions": "kafka:t"}, "predictions"),
        ({"source": "kafka", "topic": "t", "predictions": "kafka:t-dead-letters"}, "dead_letters"),
        ({"source": "kafka", "labels": "kafka:l", "predictions": "kafka:l"}, "predictions"),
        ({"source": "kafka", "labels": "kafka:l", "dead_letters": "kafka:l"}, "dead_letters"),
    ],
)
def test_nothing_is_read_and_written_at_once(values, name):
    """Source, labels, predictions and dead letters can't share an address."""
    with pytest.raises(SettingsError, match=f"^{name} = .* is also "):
        check_addresses(settings(**values))


def test_places_that_differ_are_fine():
    """Standard input and output, and different addresses, are accepted."""
    check_addresses(settings(source="-", predictions="-", dead_letters="d"))
    check_addresses(settings(source="kafka", predictions="kafka:p"))
