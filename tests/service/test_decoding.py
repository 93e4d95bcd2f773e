"""`build_decoder`: from settings to a decoder."""

import pytest

from iln_stream.mapping import MappedDecoder
from iln_stream.prequential import Classification, Regression
from iln_stream.service import Settings, SettingsError, build_decoder, source_stream
from iln_stream.service.decoding import described


def built(task=None, **given):
    settings = Settings(**given)
    return build_decoder(settings, source_stream(settings), task or Regression())


def test_events_need_no_mapping():
    """Without a setting of fields, records are events in their envelope, as before."""
    assert built(source="kafka:events") is None
    assert described(Settings(source="kafka:events")) is None


def test_one_setting_is_enough():
    """One of the settings makes records be read as they are; flags are comma-separated text."""
    decode = built(source="kafka:events", target="price", ignore="note,meta", null_values=",?")
    assert isinstance(decode, MappedDecoder)
    found = decode(b'{"price": 2, "a": 1, "b": "?", "note": "x", "meta": {"v": 1}}', None)
    assert (found.x, found.y) == ({"a": 1.0}, 2.0)


def test_classes_for_a_classifier():
    """A classifier's labels are classes."""
    decode = built(Classification(), source="kafka:events", target="spam")
    assert decode(b'{"spam": true, "a": 1}', None).y is True


def test_csv_needs_a_target(tmp_path):
    """A table without `target` is refused with its columns; a misspelt one with the right one."""
    (tmp_path / "table.csv").write_text("a,price\n1,2\n")
    with pytest.raises(SettingsError, match=r"^target: say which column .* a, price$"):
        built(source="table.csv")
    with pytest.raises(SettingsError, match=r"no column 'prize'; .*did you mean price"):
        built(source="table.csv", target="prize")
    assert built(source="table.csv", target="price")({"a": "1", "price": "2"}, None).y == 2.0


def test_data_sets_have_their_own():
    """A River data set knows its label, so another one is refused."""
    with pytest.raises(SettingsError, match=r"^target: river:TrumpApproval has its own"):
        built(source="river:TrumpApproval", target="x")


@pytest.mark.parametrize(
    "given",
    [{"target": "a", "id_field": "a"}, {"types": {"a": "float"}}, {"time_features": "hours"}],
)
def test_contradictions(given):
    """Settings that contradict each other are refused before the run."""
    with pytest.raises(SettingsError, match=r"not among|can't be two"):
        built(source="kafka:events", **given)


def test_configuration_has_the_mapping():
    """A snapshot's configuration has the mapping, in values that JSON keeps."""
    found = described(Settings(source="kafka:events", target="y", ignore="a,b"))
    assert found is not None
    assert (found["target"], found["ignore"]) == ("y", ["a", "b"])
