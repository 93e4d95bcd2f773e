"""Records in the user's own format: which fields are the label, the inputs, the id and the time."""

from iln_stream.mapping.decoder import MappedDecoder
from iln_stream.mapping.field_mapping import FieldMapping
from iln_stream.mapping.label_decoder import LabelDecoder
from iln_stream.mapping.parsing import parse_json, parse_row, parse_table_row
from iln_stream.mapping.record_time import RecordTime
from iln_stream.mapping.time_features import TIME_FEATURES, TimeFeatures
from iln_stream.mapping.values import FIELD_TYPES, NULLS, Notation

__all__ = [
    "FIELD_TYPES",
    "NULLS",
    "TIME_FEATURES",
    "FieldMapping",
    "LabelDecoder",
    "MappedDecoder",
    "Notation",
    "RecordTime",
    "TimeFeatures",
    "parse_json",
    "parse_row",
    "parse_table_row",
]
