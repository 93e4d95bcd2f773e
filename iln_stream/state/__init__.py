"""A learner's state as plain values and arrays, which any file can hold without a pickle."""

from iln_stream.state.archive import from_bytes, read_array, to_bytes, write_packed
from iln_stream.state.block import Block
from iln_stream.state.finite import all_finite, not_finite
from iln_stream.state.names import decode_name, encode_name
from iln_stream.state.pack import pack, unpack
from iln_stream.state.registry import Registry, bare_name, qualified_name
from iln_stream.state.schema import Migration, StateSchema
from iln_stream.state.state_dict import StateDict

__all__ = [
    "Block",
    "Migration",
    "Registry",
    "StateDict",
    "StateSchema",
    "all_finite",
    "bare_name",
    "decode_name",
    "encode_name",
    "from_bytes",
    "not_finite",
    "pack",
    "qualified_name",
    "read_array",
    "to_bytes",
    "unpack",
    "write_packed",
]
