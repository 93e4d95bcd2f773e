"""The decoder of records that are labels of events in another log."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from iln_stream.events import Example, MalformedError
from iln_stream.mapping.decoder import MappedDecoder, Parse
from iln_stream.mapping.field_mapping import FieldMapping
from iln_stream.mapping.unseen_fields import UnseenFields


class LabelDecoder:
    """Makes labels of records: id, label, time and weight; other fields are ignored.

    Parameters
    ----------
    mapping
        Which fields these are; `target` and `id_field` are necessary.
    parse
        Makes a record's fields of its payload.
    labels
        Whether labels are numbers or classes.
    optional
        Fields of the mapping that need not occur; the others are warned of if no record has them.

    Examples
    --------
    >>> from iln_stream.mapping import FieldMapping, LabelDecoder, parse_json
    >>> decode = LabelDecoder(FieldMapping(target="minutes", id_field="order"), parse_json)
    >>> decode(b'{"order": 7, "minutes": 31, "courier": "Kim"}', 60.0)
    Example(x=None, y=31.0, id='7', time=60.0, weight=None)

    """

    def __init__(
        self,
        mapping: FieldMapping,
        parse: Parse,
        labels: Literal["number", "class"] = "number",
        *,
        optional: Sequence[str] = (),
    ) -> None:
        assert mapping.target is not None
        assert mapping.id_field is not None
        mapping = replace(mapping, features=(), ignore=(), time_features=())
        self._id, self._target = mapping.id_field, mapping.target
        roles = ("target", "id_field", "time_field", "weight_field")
        absent: dict[str, Any] = {
            name: None for name in roles if getattr(mapping, name) in optional
        }
        # Types are those of all settings, and of events, too.
        expected = UnseenFields(replace(mapping, **absent, types={}), of_labels=True)
        self._decode = MappedDecoder(mapping, parse, labels, unseen=expected)

    def __call__(self, payload: bytes | Mapping[str, Any] | None, written: float | None) -> Example:
        """Decode a record that was written at a time, in POSIX seconds; None: unknown.

        Raises
        ------
        MalformedError
            When the record has no id or no label.

        """
        label = self._decode(payload, written)
        if label.x is None:
            return label
        name, what = (self._id, "id") if label.id is None else (self._target, "label")
        raise MalformedError(
            f"{name}: missing or null; a record of labels has the {what} in this field (see "
            "labels_settings)"
        )

    def warn_of_unseen(self) -> None:
        """Warn of settings whose field no record had; for a stream with fewer than 1,000."""
        self._decode.warn_of_unseen()
