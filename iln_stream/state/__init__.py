"""A learner's state, as plain values and arrays that any file can hold; no pickle."""

from iln_stream.state.form import Form
from iln_stream.state.names import name_of, text_of
from iln_stream.state.pack import pack, unpack
from iln_stream.state.tree import Tree

__all__ = ["Form", "Tree", "name_of", "pack", "text_of", "unpack"]
