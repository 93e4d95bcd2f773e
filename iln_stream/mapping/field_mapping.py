"""Which fields of a record are the label, the inputs, the id, the time and the weight."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from iln_stream.mapping.time_features import TIME_FEATURES
from iln_stream.mapping.values import FIELD_TYPES, NULLS, USUAL, FieldType, Notation


@dataclass(frozen=True)
class FieldMapping:
    """Roles and types of a record's fields. Nested fields are named by dotted path, `user.age`.

    A pattern has `*`, `?` and `[abc]`, as file names do; it also matches the field of exactly this
    name, `temp [C]`. A name also stands for everything below it: `user` for `user.age`.

    Parameters
    ----------
    target
        The field of the label. None: records have no label.
    features
        Names or patterns of the inputs; those with another role are left out.
    ignore
        Names or patterns of fields that are no inputs.
    id_field
        The field of the event's id.
    time_field
        The field of the event's time. None: the time at which the record was written.
    types
        Types by name or pattern. The exact name counts, or else the first match; `auto` for other
        fields.
    null_values
        Texts that mean a missing value, as null does.
    time_features
        Inputs made of the event's time, among `TIME_FEATURES`.
    notation
        How texts write numbers and dates.
    weight_field
        The field of how much the event counts when it is learned. None: all count the same.
    lags
        Inputs made of the values that columns had some records before: these numbers of records, by
        column.
    rolling_means
        Inputs made of the means of columns over the last records: these numbers of records.
    target_is_input
        Whether the target's value is an input, too, as in forecasts: their label is a later value.

    Raises
    ------
    ValueError
        When a field has two roles, a type or a time feature is unknown, or a column with lags or
        means is not a numeric input.

    """

    target: str | None = None
    features: Sequence[str] = ("*",)
    ignore: Sequence[str] = ()
    id_field: str | None = None
    time_field: str | None = None
    types: Mapping[str, FieldType] = field(default_factory=dict)
    null_values: Sequence[str] = NULLS
    time_features: Sequence[str] = ()
    notation: Notation = USUAL
    weight_field: str | None = None
    lags: Mapping[str, Sequence[int]] = field(default_factory=dict)
    rolling_means: Mapping[str, Sequence[int]] = field(default_factory=dict)
    target_is_input: bool = False

    def __post_init__(self) -> None:
        roles = [name for name in self._roles if name]
        for name in roles:
            if roles.count(name) > 1:
                raise ValueError(
                    f"{name!r} can't be two of target, id_field, time_field and weight_field"
                )
        for name, kind in self.types.items():
            if kind not in FIELD_TYPES:
                raise ValueError(f"types: {name} = {kind!r} is not among {', '.join(FIELD_TYPES)}")
        for name in self.time_features:
            if name not in TIME_FEATURES:
                raise ValueError(f"time_features: {name!r} is not among {', '.join(TIME_FEATURES)}")
        for setting, columns in (("lags", self.lags), ("rolling_means", self.rolling_means)):
            for name in columns:
                self._check_series(setting, name)

    def _check_series(self, setting: str, name: str) -> None:
        if not self.is_feature(name):
            remedy = (
                "set horizon, so that the label is a later value of it"
                if name == self.target
                else "name it in features, and not in ignore"
            )
            raise ValueError(f"{setting}: {name!r} is not an input: {remedy}")
        if self.type_of(name) == "category":
            raise ValueError(f"{setting}: {name!r} has the type category (types); take it out")

    @property
    def _roles(self) -> tuple[str | None, ...]:
        return self.target, self.id_field, self.time_field, self.weight_field

    def is_feature(self, name: str) -> bool:
        """Return whether a field is an input."""
        if name in self._roles:
            return name == self.target and self.target_is_input
        return matches(name, self.features) and not matches(name, self.ignore)

    def type_of(self, name: str) -> FieldType:
        """Return the type of a field."""
        if name in self.types:
            return self.types[name]
        return next(
            (kind for pattern, kind in self.types.items() if matches(name, (pattern,))), "auto"
        )


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a field has one of these names or patterns."""
    return any(
        name == pattern
        or fnmatchcase(name, pattern)
        or name.startswith((f"{pattern}.", f"{pattern}="))
        for pattern in patterns
    )
