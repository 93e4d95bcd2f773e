"""Tables as events: rows of numbers from columns of pandas, polars or pyarrow."""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import IlnWarning
from iln_stream.learners.checks import LARGEST_WEIGHT, number, weight_of_event

Rows = Sequence[Any] | NDArray[np.float64]
"""Labels of a table, or predictions for it."""


_FEW_OTHERS = 0.2
"""A column of text is taken for one of numbers if at most this share of its values are none."""


class _Numbers(NamedTuple):
    """Values of one input, (n,); nan where it is missing."""

    name: Any
    values: NDArray[np.float64]


class _Categories(NamedTuple):
    """Inputs that are 1 for one value of a text each: names, and the input of each row or -1."""

    names: list[str]
    codes: NDArray[np.intp]


class TableEvents:
    """The events of a table, one a row.

    Numbers and booleans are inputs of their column's name. A text v in column k becomes the input
    `"k=v"` of value 1, as in the service, and so does any value of a column of categories. Null and
    nan are missing: the input is left out. The table is a pandas or polars DataFrame, a pyarrow
    Table, or another that narwhals reads at once.

    Raises
    ------
    ValueError
        When a value is infinite or of a type that is no number and no text, or two inputs would get
        the same name.
    TypeError
        When `table` is no such table.

    """

    def __init__(self, table: Any) -> None:
        import narwhals as nw  # imported here, so that learners of single events don't wait for it

        try:
            self.table: Any = nw.from_native(table, eager_only=True)
        except TypeError:
            raise TypeError(
                f"X is of type {type(table).__name__}: give a DataFrame of pandas or polars or a "
                "Table of pyarrow, whose columns have names; for one event call learn_one or "
                "predict_one"
            ) from None
        self._numbers: list[_Numbers] = []
        self._categories: list[_Categories] = []
        self._numeric_texts: list[tuple[Any, str | None]] = []
        names = list(self.table.columns)
        for name, series in zip(names, self.table.iter_columns(), strict=True):
            self._add(name, series, nw)
        names += [name for each in self._categories for name in each.names]
        if len(names) > len(set(names)):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"two inputs would get the name {twice!r}: rename a column")
        self.names: list[Any] = names

    def __len__(self) -> int:
        return len(self.table)

    def warn(self) -> None:
        """Warn of columns of text whose values are mostly numbers."""
        for name, other in self._numeric_texts:
            but = "" if other is None else f" (and others, such as {other!r:.40})"
            warnings.warn(
                f"column {name!r} has numbers as text{but}: each value is learned as a category of "
                "its own; convert the column to numbers if they are quantities, with nan for what "
                "is missing",
                IlnWarning,
                stacklevel=3,
            )

    def _add(self, name: Any, series: Any, nw: Any) -> None:
        kind = series.dtype
        if kind.is_numeric() or kind == nw.Boolean:
            self._numbers.append(
                _Numbers(name, _finite(name, _floats(name, series.to_numpy(), series.to_list)))
            )
        elif kind in (nw.Categorical, nw.Enum):  # whole numbers, too, as codes
            self._add_objects(name, map(_category, series.to_list()), warn=False)
        elif kind in (nw.String, nw.Object, nw.Unknown):
            self._add_objects(name, series.to_list())
        else:
            raise ValueError(
                f"column {name!r} is of type {kind}: an input is a number, a boolean or a text; "
                "convert the column, a time for example to seconds, or leave it out"
            )

    def _add_objects(self, name: Any, found: Iterable[Any], *, warn: bool = True) -> None:
        values = list(found)
        numbers, codes = np.full(len(values), np.nan), np.full(len(values), -1, np.intp)
        places: dict[str, int] = {}
        for i, value in enumerate(values):
            if isinstance(value, str):
                codes[i] = places.setdefault(value, len(places))
            elif not _is_missing(value):
                numbers[i] = _number(name, value)
        if places:
            self._categories.append(_Categories([f"{name}={text}" for text in places], codes))
            others = [text for text in places if not _is_numeric(text)]
            if warn and len(others) <= _FEW_OTHERS * len(places):
                self._numeric_texts.append((name, others[0] if others else None))
        if not np.isnan(numbers).all():
            self._numbers.append(_Numbers(name, _finite(name, numbers)))

    def rows(self, start: int, stop: int) -> Iterator[dict[Any, float]]:
        """Yield the inputs of rows `start` to `stop`, by name."""
        numbers = [(name, values[start:stop].tolist()) for name, values in self._numbers]
        texts = [(names, codes[start:stop].tolist()) for names, codes in self._categories]
        for i in range(stop - start):
            x = {name: values[i] for name, values in numbers if values[i] == values[i]}
            for names, codes in texts:
                if codes[i] >= 0:
                    x[names[codes[i]]] = 1.0
            yield x

    @cached_property
    def _first_rows(self) -> dict[Any, int]:
        """The first row in which each input is present, by name."""
        first: dict[Any, int] = {}
        for name, values in self._numbers:
            present = ~np.isnan(values)
            if present.any():
                first[name] = int(present.argmax())
        for names, codes in self._categories:
            found, rows = np.unique(codes, return_index=True)
            first |= {
                names[code]: row
                for code, row in zip(found.tolist(), rows.tolist(), strict=True)
                if code >= 0
            }
        return dict(sorted(first.items(), key=lambda item: item[1]))

    def next_new(self, known: Mapping[Any, int], start: int, stop: int) -> int:
        """Return the first row from `start` on with the first value of an input not known."""
        fresh = (row for name, row in self._first_rows.items() if name not in known)
        return next((row for row in fresh if start <= row < stop), stop)

    def matrix(
        self, place: Mapping[Any, int], start: int, stop: int, absent: float
    ) -> tuple[NDArray[np.float64], int]:
        """Return rows (m, d) of the inputs that have a place, and how many others were left out."""
        X, left_out = np.full((stop - start, len(place)), absent), 0
        for name, values in self._numbers:
            part = values[start:stop]
            present = ~np.isnan(part)
            if (j := place.get(name)) is None:
                left_out += int(present.sum())
            else:
                X[:, j] = np.where(present, part, absent)
        for names, codes in self._categories:
            chosen = codes[start:stop]
            rows = np.flatnonzero(chosen >= 0)
            columns = np.array([place.get(names[code], -1) for code in chosen[rows].tolist()], int)
            has_place = columns >= 0
            X[rows[has_place], columns[has_place]] = 1.0
            left_out += int((~has_place).sum())
        return X, left_out

    def targets(self, y: Any) -> NDArray[np.float64]:
        """Return the rows' targets, a series, an array or a list, as numbers.

        Raises
        ------
        ValueError
            When one is missing or not finite, or they are not those of the rows.

        """
        self._require_index(y)
        return targets(y, len(self))

    def labels(self, y: Any) -> list[Any]:
        """Return the rows' classes, a series, an array or a list.

        Raises
        ------
        ValueError
            When one is missing, or they are not those of the rows.

        """
        self._require_index(y)
        return labels(y, len(self))

    def weights(self, w: Any) -> NDArray[np.float64]:
        """Return the rows' weights, a series, an array or a list, or one number for all rows.

        Raises
        ------
        ValueError
            When one is no weight, or they are not those of the rows.

        """
        if isinstance(w, Real):
            return np.full(len(self), weight_of_event(float(w)))
        self._require_index(w, "w")
        return weights(w, len(self))

    def _require_index(self, y: Any, name: str = "y") -> None:
        """Refuse labels or weights whose index says that they are in another order."""
        import narwhals as nw

        series = nw.from_native(y, series_only=True, pass_through=True)
        if not isinstance(series, nw.Series):
            return
        own, other = nw.maybe_get_index(self.table), nw.maybe_get_index(series)
        if own is not None and other is not None and not own.equals(other):
            raise ValueError(
                f"{name} has another index than X: give it in the order of the rows, as "
                f"{name}.loc[X.index], or as an array"
            )

    def series(self, values: Any) -> Any:
        """Return predictions, an array or a list, as a series of the table's kind and index."""
        import narwhals as nw

        make = nw.Series.from_numpy if isinstance(values, np.ndarray) else nw.new_series
        return self._indexed(make("prediction", values, backend=self.table.implementation))

    def frame(self, columns: Mapping[Any, Any]) -> Any:
        """Return columns as a table of the same kind, with its index."""
        import narwhals as nw

        backend = self.table.implementation
        if not backend.is_pandas_like():
            columns = {str(name): values for name, values in columns.items()}
        return self._indexed(nw.from_dict(columns, backend=backend))

    def _indexed(self, result: Any) -> Any:
        import narwhals as nw

        native = nw.to_native(result)
        index = nw.maybe_get_index(self.table)
        if index is not None:
            native.index = index
        return native


def targets(y: Any, n: int) -> NDArray[np.float64]:
    """Return a series, an array or a list of n targets as numbers.

    Raises
    ------
    ValueError
        When one is missing or not finite, or there are not n.

    """
    values = _numbers_of("y", y)
    require_length(values, n)
    odd = np.flatnonzero(~np.isfinite(values))
    if len(odd):
        raise ValueError(
            f"y is {values[odd[0]]} in row {odd[0]}, and not a finite number in {len(odd)} rows: "
            "leave out rows without a target"
        )
    return values


def weights(w: Any, n: int) -> NDArray[np.float64]:
    """Return a series, an array or a list of n weights as numbers.

    Raises
    ------
    ValueError
        When one is missing or no weight, or there are not n.

    """
    # A copy: loops are compiled for arrays that are contiguous and writable.
    values = np.array(_numbers_of("w", w), order="C")
    require_length(values, n, "w")
    odd = np.flatnonzero(~((values >= 0.0) & (values <= LARGEST_WEIGHT)))
    if len(odd):
        raise ValueError(
            f"w is {values[odd[0]]} in row {odd[0]}, and no weight from 0 to {LARGEST_WEIGHT:,.0f} "
            f"in {len(odd)} rows: give each row a weight; divide larger ones by the same number"
        )
    return values


def labels(y: Any, n: int) -> list[Any]:
    """Return a series, an array or a list of n classes as a list.

    Raises
    ------
    ValueError
        When one is missing, or there are not n.

    """
    import narwhals as nw

    series = nw.from_native(y, series_only=True, pass_through=True)
    values = series.to_list() if isinstance(series, nw.Series) else list(y)
    require_length(values, n)
    missing = [i for i, value in enumerate(values) if _is_missing(value)]
    if missing:
        raise ValueError(
            f"y is missing in row {missing[0]}, and in {len(missing)} rows altogether: leave out "
            "rows without a class"
        )
    return values


def require_length(values: Any, n: int, name: str = "y") -> None:
    """Reject labels or weights that are not n."""
    if len(values) != n:
        raise ValueError(f"{name} has {len(values)} rows, and X has {n}")


def _numbers_of(name: str, y: Any) -> NDArray[np.float64]:
    """Return a series, an array or a list as numbers; nan where one is missing."""
    import narwhals as nw

    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _floats(name, series.to_numpy(), series.to_list)
    values = np.asarray(y)
    return _floats(name, values, values.tolist)


def _floats(
    name: Any, values: NDArray[Any], listed: Callable[[], list[Any]]
) -> NDArray[np.float64]:
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    # Booleans with nulls, decimals; texts are refused.
    return np.array([math.nan if _is_missing(each) else number(name, each) for each in listed()])


def _finite(name: Any, values: NDArray[np.float64]) -> NDArray[np.float64]:
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise ValueError(
            f"column {name!r} is {values[infinite[0]]} in row {infinite[0]}: inputs must be finite "
            "numbers; make unknown values null"
        )
    return values


def _number(name: Any, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"column {name!r} has {value!r:.60}: an input is a number, a boolean or a text"
        ) from error


def _category(value: Any) -> Any:
    """Return a category as text, as a record's is that has the type `category`."""
    if _is_missing(value) or isinstance(value, str):
        return value
    whole = isinstance(value, float) and value.is_integer()
    return str(value).lower() if isinstance(value, bool) else str(int(value) if whole else value)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def _is_numeric(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
