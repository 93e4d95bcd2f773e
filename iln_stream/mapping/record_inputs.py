"""RecordInputs: a River transformer that makes inputs of records as they are."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from river import base

from iln_stream.events import MalformedError
from iln_stream.mapping.decoder import MappedDecoder
from iln_stream.mapping.field_mapping import FieldMapping
from iln_stream.mapping.parsing import parse_table_row
from iln_stream.mapping.time_features import SINCE_LAST
from iln_stream.mapping.values import NULLS, FieldType, Notation


class RecordInputs(base.Transformer):
    """Makes numeric inputs of records with texts, missing values, booleans and times.

    It does in a River pipeline what the service does with the fields of a record: a text `clear` in
    `sky` becomes the input `"sky=clear"` of value 1, a text that is a number becomes that number, a
    boolean becomes 0 or 1, missing values are left out, nested fields get dotted names. Put it in
    front of any learner: `RecordInputs() | InfiniteLayerRegressor()`.

    Parameters
    ----------
    types
        Types by name or pattern, such as `{"zip": "category"}`: `number`, `boolean`, `category`,
        `time` (seconds since 1970) or `auto`, which other fields have.
    ignore
        Names or patterns of fields that are no inputs.
    null_values
        Texts that mean a missing value, as None and nan do.
    decimal
        What stands before the decimals of numbers that come as text.
    time_field
        The field of the event's time, a datetime or a text.
    time_features
        Inputs made of that time, each a sine and a cosine: `hour`, `weekday`, `day_of_year`.

    Raises
    ------
    ValueError
        When a type or a time feature is unknown, or there are time features and no `time_field`; in
        `transform_one`, when a value doesn't have its type, is infinite, or is of no known type.

    Examples
    --------
    >>> from iln_stream import RecordInputs
    >>> inputs = RecordInputs(types={"zip": "category"}, time_field="at", time_features=["hour"])
    >>> inputs.transform_one(
    ...     {"at": "2026-01-05T06:00:00Z", "zip": 89073, "temp": 21.5, "sky": None, "open": True}
    ... )
    {'zip=89073': 1.0, 'temp': 21.5, 'open': 1.0, 'time.hour.sin': 1.0, 'time.hour.cos': 0.0}

    """

    def __init__(
        self,
        types: Mapping[str, FieldType] | None = None,
        ignore: Sequence[str] | None = None,
        null_values: Sequence[str] = NULLS,
        decimal: Literal[".", ","] = ".",
        time_field: str | None = None,
        time_features: Sequence[str] | None = None,
    ) -> None:
        if SINCE_LAST in (time_features or ()):
            raise ValueError(
                f"time_features: {SINCE_LAST!r} depends on the event before; compute it yourself"
            )
        if time_features and time_field is None:
            raise ValueError("time_features: set time_field, too: the field of the event's time")
        self.types = types
        self.ignore = ignore
        self.null_values = null_values
        self.decimal = decimal
        self.time_field = time_field
        self.time_features = time_features
        mapping = FieldMapping(
            ignore=tuple(ignore or ()),
            time_field=time_field,
            types=dict(types or {}),
            null_values=tuple(null_values),
            time_features=tuple(time_features or ()),
            notation=Notation(decimal),
        )
        self._decode = MappedDecoder(mapping, parse_table_row, labelled=False)

    def transform_one(self, x: Mapping[str, Any]) -> dict[str, float]:
        """Return the inputs of a record, by name."""
        try:
            return dict(self._decode(x, None).x or {})
        except MalformedError as error:
            raise ValueError(str(error)) from None
