"""RecordInputs: a River transformer that makes inputs of records as they are."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, Self, get_args

from river import base

from iln_stream.records.decoding import MalformedError
from iln_stream.records.fields import CROSS, FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_table_row
from iln_stream.records.time_inputs import CALENDAR, SINCE_LAST
from iln_stream.records.times import DateOrder
from iln_stream.records.values import NULLS, FieldType, Notation
from iln_stream.state import TRANSFORMERS, StateDict, StateSchema

_OF_PANDAS = ("NAType", "NaTType")
"""Types of missing values that are not equal to anything, or can't be compared at all."""


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
        `text`, `time` (seconds since 1970), `amount`, `amount in $`, `time %d.%m.%y`, or `auto`,
        which other fields have.
    ignore
        Names or patterns of fields that are no inputs.
    null_values
        Texts that mean a missing value, as None, nan and pandas' NA and NaT do.
    decimal
        What stands before the decimals of numbers that come as text.
    date_order
        Order of day, month and year in dates that are not ISO 8601: "ymd", "dmy" or "mdy".
    time_field
        The field of the event's time, a datetime or a text; or two, `date + time`.
    time_features
        Inputs made of that time: `hour`, `weekday`, `day_of_year`, each a sine and a cosine, and
        `year`.
    time_zone
        The time zone of hours, weekdays and days.
    crosses
        Inputs made of several fields together, `zone*hour`.

    Raises
    ------
    ValueError
        When an argument is none of its choices, or there are time features and no `time_field`; in
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
        date_order: DateOrder = "ymd",
        time_zone: str = "UTC",
        crosses: Sequence[str] | None = None,
    ) -> None:
        _require_names(
            ignore=ignore, null_values=null_values, time_features=time_features, crosses=crosses
        )
        if not (types is None or isinstance(types, Mapping)):
            raise ValueError(f'types = {types!r} must be a mapping, such as {{"zip": "category"}}')
        for name, value, choices in (
            ("decimal", decimal, (".", ",")),
            ("date_order", date_order, get_args(DateOrder)),
        ):
            if value not in choices:
                raise ValueError(f"{name} = {value!r} must be one of {', '.join(choices)}")
        if SINCE_LAST in (time_features or ()):
            raise ValueError(
                f"time_features: {SINCE_LAST!r} depends on the event before; compute it yourself"
            )
        crossed = {part for cross in crosses or () for part in str(cross).split(CROSS)}
        of_time = {"time_features": time_features, "crosses": crossed & CALENDAR.keys()}
        for name, needed in of_time.items():
            if needed and time_field is None:
                raise ValueError(f"{name}: set time_field, too: the field of the event's time")
        self.types = types
        self.ignore = ignore
        self.null_values = null_values
        self.decimal = decimal
        self.time_field = time_field
        self.time_features = time_features
        self.date_order = date_order
        self.time_zone = time_zone
        self.crosses = crosses
        mapping = FieldMapping(
            ignore=tuple(ignore or ()),
            time_field=time_field,
            types=dict(types or {}),
            null_values=tuple(null_values),
            time_features=tuple(time_features or ()),
            notation=Notation(decimal, date_order),
            time_zone=time_zone,
            crosses=tuple(crosses or ()),
        )
        self._decode = MappedDecoder(mapping, parse_table_row, labelled=False)

    def transform_one(self, x: Mapping[str, Any]) -> dict[str, float]:
        """Return the inputs of a record, by name."""
        if not isinstance(x, Mapping):
            raise ValueError(f"x is {x!r:.60}: give a record, a mapping of its fields by name")
        known = {name: value for name, value in x.items() if type(value).__name__ not in _OF_PANDAS}
        try:
            return dict(self._decode(known, None).x or {})
        except MalformedError as error:
            raise ValueError(str(error)) from None

    def state(self) -> StateDict:
        """Return arguments and counts, for `iln_stream.save`."""
        given = {**self._get_params(), "types": self.types and dict(self.types)}
        return _SCHEMA.write(given=json.dumps(given, default=list), counts=self._decode.state())

    @classmethod
    def from_state(cls, state: StateDict) -> Self:
        """Return the transformer that has this state."""
        given, counts = _SCHEMA.read(state, "given", "counts")
        inputs = cls(**json.loads(given))
        inputs._decode.restore(counts)
        return inputs


TRANSFORMERS.add(RecordInputs)
_SCHEMA = StateSchema("iln_stream.RecordInputs", 1)


def _require_names(**lists: Any) -> None:
    """Reject what is neither None nor a list of texts; a text alone would be taken apart."""
    for name, found in lists.items():
        if found is None and name != "null_values":
            continue
        if isinstance(found, str | Mapping) or not isinstance(found, Collection):
            raise ValueError(f"{name} = {found!r} must be a list of texts")
