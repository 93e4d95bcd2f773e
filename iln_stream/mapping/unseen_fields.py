"""Settings that name fields which no record has."""

import warnings
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from iln_stream.errors import IlnWarning
from iln_stream.mapping.field_mapping import FieldMapping, matches

N_RECORDS = 1_000
"""Records in which each named field should have occurred."""

_MOST_NAMES = 1_000
_MOST_LISTED = 10
_CONSEQUENCES = {
    "target": ", so no record has a label and nothing is learned",
    "id_field": ", so events have no id",
    "time_field": ", so events have no time but that of their record",
    "weight_field": ", so all events count the same",
}
_FOR_LABELS = {
    "target": ", so there are no labels and nothing is learned",
    "id_field": ", so labels have no id and nothing is learned",
    "time_field": ", so the time of a label is that of its record, and labels of replayed history "
    "may be learned after all its events",
    "weight_field": ", so labels have no weight",
}
_SHORT = 2


class UnseenFields:
    """Warns of settings whose field did not occur in the first records, as misspelt ones do.

    Parameters
    ----------
    mapping
        The settings.
    labelled
        Whether records should have a label. If not, `target`, its type and `weight_field` are not
        checked.
    of_labels
        Whether the records are labels of events in another log.

    Examples
    --------
    >>> import warnings
    >>> from iln_stream.mapping import FieldMapping
    >>> from iln_stream.mapping.unseen_fields import UnseenFields
    >>> unseen = UnseenFields(FieldMapping(target="Price"))
    >>> unseen.see(["rooms", "price"])
    >>> unseen.passed(has_time=True)
    False
    >>> with warnings.catch_warnings(record=True) as given:
    ...     unseen.finish()
    >>> print(given[0].message)
    target = 'Price': no record of 1 has such a field, so no record has a label and nothing is \
learned; did you mean 'price'?

    """

    def __init__(
        self, mapping: FieldMapping, *, labelled: bool = True, of_labels: bool = False
    ) -> None:
        self._of_labels = of_labels
        self._where = "labels: " if of_labels else ""
        self._consequences = _FOR_LABELS if of_labels else _CONSEQUENCES
        target = mapping.target
        types: Iterable[str] = mapping.types
        roles = {"id_field": mapping.id_field, "time_field": mapping.time_field}
        if labelled:
            roles = {"target": target, **roles, "weight_field": mapping.weight_field}
        elif target is not None:
            types = [name for name in types if not matches(target, (name,))]
        named = [(setting, name) for setting, name in roles.items() if name is not None]
        named += [("features", name) for name in mapping.features]
        named += [("ignore", name) for name in mapping.ignore]
        named += [("types", name) for name in types]
        named += [("lags", name) for name in mapping.lags]
        named += [("rolling_means", name) for name in mapping.rolling_means]
        self._pending = list(dict.fromkeys(named))
        self._time_features = mapping.time_features  # until a record has a time
        self._names: dict[str, None] = {}
        self._n = 0

    def see(self, names: Sequence[str]) -> None:
        """Take names of a record's fields; names that came before may be left out."""
        roles = {name for setting, name in self._pending if setting in _CONSEQUENCES}
        present = roles.intersection(names)
        self._pending = [
            (setting, name)
            for setting, name in self._pending
            if not (name in present if setting in _CONSEQUENCES else _any_matches(names, name))
        ]
        room = _MOST_NAMES - len(self._names)
        self._names.update(dict.fromkeys(names[: max(0, room)]))

    def passed(self, has_time: bool) -> bool:
        """Count a record, warn after the last of `N_RECORDS`, and return whether that was all."""
        self._n += 1
        if has_time:
            self._time_features = ()
        if self._n >= N_RECORDS:
            self.finish()
        return not (self._pending or self._time_features)

    def finish(self) -> None:
        """Warn now, as there are no further records to check."""
        if self._n == 0:
            return
        n = f"of the first {self._n:,}" if self._n >= N_RECORDS else f"of {self._n:,}"
        for setting, name in self._pending:
            _warn(
                f"{self._where}{setting} = {name!r}: no record {n} has such a field"
                f"{self._consequences.get(setting, '')}; {self._remedy(setting, name)}"
            )
        if self._time_features:
            _warn(
                f"time_features = {','.join(self._time_features)!r}: no record {n} has a time, so "
                "there are no such inputs; name the field of the time in time_field"
            )
        self._pending, self._time_features = [], ()

    def _remedy(self, setting: str, name: str) -> str:
        """Return the field that may be meant, or those that records have."""
        return self._meant(setting, name) + (
            '; if labels have no time, set time_field = "" in labels_settings'
            if self._of_labels and setting == "time_field"
            else ""
        )

    def _meant(self, setting: str, name: str) -> str:
        meant = {each.lower(): each for each in reversed(self._names)}
        for each in reversed(self._names):
            meant.setdefault(each.lower().rpartition(".")[2], each)
        cutoff = 1.0 if len(name) <= _SHORT else 0.6  # "by" is not meant by "y"
        for close in get_close_matches(name.lower(), meant, n=1, cutoff=cutoff):
            return f"did you mean {meant[close]!r}?"
        listed = ", ".join(list(self._names)[:_MOST_LISTED]) or "no field"
        more = ", ..." if len(self._names) > _MOST_LISTED else ""
        return f"correct {setting}: the records have {listed}{more}"


def _any_matches(names: Iterable[str], pattern: str) -> bool:
    return any(matches(name, (pattern,)) for name in names)


def _warn(message: str) -> None:
    warnings.warn(message, IlnWarning, stacklevel=2)
