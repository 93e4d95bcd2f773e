"""`build_decoder`: from settings to a decoder."""

import sys

import pytest

from iln_stream.loop import Regression
from iln_stream.records import MalformedError
from iln_stream.records.mapped import MappedDecoder
from iln_stream.service import Settings, SettingsError, build_decoder, source_stream
from iln_stream.service.decoding import saved_fields


def built(**given):
    settings = Settings(**given)
    return build_decoder(settings, source_stream(settings), Regression())


def test_one_setting_is_enough():
    """One of the settings makes records be read as they are; flags are comma-separated text."""
    decode = built(source="kafka:events", target="price", ignore="note,meta", null_values=",?")
    assert isinstance(decode, MappedDecoder)
    found = decode(b'{"price": 2, "a": 1, "b": "?", "note": "x", "meta": {"v": 1}}', None)
    assert (found.x, found.y) == ({"a": 1.0}, 2.0)


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


@pytest.fixture
def proto(tmp_path, monkeypatch):
    """A module of the current folder with protocol buffers: a function and a constant."""
    (tmp_path / "proto14.py").write_text(
        "from google.protobuf import descriptor_pb2, descriptor_pool, message_factory\n"
        "from google.protobuf.json_format import MessageToDict\n"
        "file = descriptor_pb2.FileDescriptorProto(name='order.proto', syntax='proto3')\n"
        "message = file.message_type.add(name='Order')\n"
        "message.field.add(name='temp', number=1, type=1, label=1)\n"
        "message.field.add(name='price', number=2, type=1, label=1)\n"
        "pool = descriptor_pool.DescriptorPool()\n"
        "pool.Add(file)\n"
        "Order = message_factory.GetMessageClass(pool.FindMessageTypeByName('Order'))\n"
        "def order(payload):\n"
        "    return MessageToDict(Order.FromString(payload), preserving_proto_field_name=True)\n"
        "number = 3\n"
    )
    monkeypatch.delitem(sys.modules, "proto14", raising=False)


def test_protocol_buffers(proto):
    """A function by import path reads records, here protocol buffers."""
    decode = built(source="kafka:events", decoder="proto14:order", target="price")
    import proto14

    payload = proto14.Order(temp=21.5, price=12.5).SerializeToString()
    found = decode(payload, None)
    assert (found.x, found.y) == ({"temp": 21.5}, 12.5)
    with pytest.raises(MalformedError, match=r"decoder = proto14:.* failed: DecodeError"):
        decode(b"{}", None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"decoder": "nowhere:f"}, r"^decoder = 'nowhere:f': nowhere can't be imported"),
        ({"decoder": "order"}, r"^decoder = 'order': give package.module:attribute"),
        ({"decoder": "proto14:number"}, r"^decoder = 'proto14:number' is no function .* int"),
        ({"decoder": "proto14:order", "format": "avro"}, r"^decoder: .*instead of format"),
        ({"decoder": "proto14:order", "source": "t.csv"}, r"^decoder: t.csv has no bytes"),
    ],
)
def test_decoders_that_do_not_fit(proto, given, message):
    """An import path that leads nowhere, or to no function, is an error that names the setting."""
    with pytest.raises(SettingsError, match=message):
        built(**{"source": "kafka:events", "target": "price", **given})


def test_a_snapshot_chooses_no_code():
    """The decoder that a snapshot names is not imported: it has to be given as a setting."""
    saved = {"fields": {"target": "y", "features": ["*"], "decoder": "json:loads"}}
    bare = Settings(source="kafka:events")
    with pytest.raises(SettingsError, match=r"^decoder: .* 'json:loads'; give this setting"):
        saved_fields(saved, bare, source_stream(bare))
    given = Settings(source="kafka:events", decoder="json:loads")
    found = saved_fields(saved, given, source_stream(given))
    assert found == {"target": "y", "features": ("*",)}
