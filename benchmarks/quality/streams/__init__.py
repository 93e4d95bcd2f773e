"""The streams, by group. Ids are permanent."""

from benchmarks.quality.streams.classes import CLASSES
from benchmarks.quality.streams.files import FILES
from benchmarks.quality.streams.held_out import HELD_OUT
from benchmarks.quality.streams.held_out_2 import HELD_OUT_2
from benchmarks.quality.streams.stream import Event, Group, Stream, checksum
from benchmarks.quality.streams.ten import TEN

STREAMS = {stream.id: stream for stream in (*TEN, *FILES, *HELD_OUT, *HELD_OUT_2, *CLASSES)}

__all__ = [
    "CLASSES",
    "FILES",
    "HELD_OUT",
    "HELD_OUT_2",
    "STREAMS",
    "TEN",
    "Event",
    "Group",
    "Stream",
    "checksum",
]
