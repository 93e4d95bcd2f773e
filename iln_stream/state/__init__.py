"""A learner's state, as plain values and arrays that any file can hold; no pickle."""

from iln_stream.state.names import decode_name, encode_name
from iln_stream.state.pack import pack, unpack
from iln_stream.state.schema import StateSchema
from iln_stream.state.state_dict import StateDict

__all__ = ["StateDict", "StateSchema", "decode_name", "encode_name", "pack", "unpack"]
