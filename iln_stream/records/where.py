"""Which records are events: those that satisfy an expression."""

import ast
import operator
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any

from simpleeval import EvalWithCompoundTypes

from iln_stream.errors import IlnWarning
from iln_stream.records.decoding import SkippedError
from iln_stream.records.fields import N_RECORDS
from iln_stream.records.values import is_missing, is_number

_CONSTANTS = {"true": True, "false": False, "null": None}
_WHOLE = "record"
_KNOWN = (
    *(ast.BoolOp, ast.And, ast.Or, ast.Not, ast.UnaryOp, ast.BinOp, ast.Compare, ast.Constant),
    *(ast.Name, ast.List, ast.Tuple, ast.Load),
)

Payload = bytes | Mapping[str, Any] | None


class _Missing(str):
    """A cell that means a missing value: it is null, and still equal to its text."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False


def _is_null(value: Any) -> bool:
    return value is None or isinstance(value, _Missing)


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, str) and is_number(value) else value


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Return values to compare: beside a number, a text that is one is the number, as in CSV."""
    return (_number(a), _number(b)) if isinstance(a, str) != isinstance(b, str) else (a, b)


def _equal(a: Any, b: Any) -> bool:
    if _is_null(a) and _is_null(b):
        return True
    a, b = _alike(a, b)
    return bool(a == b)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Return a comparison that is false of values that have no order, such as null."""

    def compared(a: Any, b: Any) -> bool:
        if _is_null(a) or _is_null(b):
            return False
        a, b = _alike(a, b)
        texts = isinstance(a, str) and isinstance(b, str)
        return (texts or _are_numbers(a, b)) and bool(compare(a, b))

    return compared


def _computed(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return an operation on numbers that is null of other values."""

    def computed(a: Any, b: Any) -> Any:
        null = _is_null(a) or _is_null(b)
        a, b = (None, None) if null else (_number(a), _number(b))
        try:
            return compute(a, b) if _are_numbers(a, b) else None
        except (ZeroDivisionError, OverflowError):
            return None

    return computed


def _are_numbers(a: Any, b: Any) -> bool:
    return isinstance(a, int | float) and isinstance(b, int | float)


def _contains(item: Any, within: Any) -> bool:
    if isinstance(within, str):
        return isinstance(item, str) and item in within
    return isinstance(within, list | tuple) and any(_equal(item, each) for each in within)


_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Eq: _equal,
    ast.NotEq: lambda a, b: not _equal(a, b),
    ast.Lt: _ordered(operator.lt),
    ast.LtE: _ordered(operator.le),
    ast.Gt: _ordered(operator.gt),
    ast.GtE: _ordered(operator.ge),
    ast.In: _contains,
    ast.NotIn: lambda a, b: not _contains(a, b),
    ast.Add: _computed(operator.add),
    ast.Sub: _computed(operator.sub),
    ast.Mult: _computed(operator.mul),
    ast.Div: _computed(operator.truediv),
    ast.Mod: _computed(operator.mod),
    ast.Not: operator.not_,
    ast.USub: lambda a: _computed(operator.sub)(0, a),
}


class Where:
    """An expression about a record's fields, which every event has to satisfy.

    Fields are named by their path, `payload.op`, or `record["order-id"]` where a name is no word.
    A field that a record lacks is null. Null is equal to null only; it is neither less nor greater
    than anything, and neither are values of different types. A text that is a number is compared
    with numbers as one.

    Parameters
    ----------
    expression
        Comparisons, `in`, `and`, `or`, `not` and arithmetic, as in Python; no functions.
    nulls
        Texts that are null, too: those of missing values in a format that has no null, as CSV.

    Raises
    ------
    ValueError
        When it is none; the message has the place.

    Examples
    --------
    >>> from iln_stream.records.where import Where
    >>> where = Where('payload.op in ["c", "u"] and not payload.amount > 100')
    >>> where({"payload": {"op": "c"}}), where({"payload": {"op": "c", "amount": 101}}), where({})
    (True, False, False)
    >>> Where('op = "c"')
    Traceback (most recent call last):
    ...
    ValueError: at character 4: invalid syntax (equal to is ==): op = "c"

    """

    def __init__(self, expression: str, nulls: Collection[str] = ()) -> None:
        self._nulls = frozenset(nulls)
        self._expression = expression = expression.strip()
        try:
            tree = ast.parse(expression, mode="eval").body
        except SyntaxError as error:
            raise self._wrong(error.offset or 1, f"{error.msg} (equal to is ==)") from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise self._wrong(1, str(error) or "too deeply nested") from None
        self.paths: dict[str, tuple[Any, ...]] = {}
        self._tree = self._checked(tree)
        self._evaluator = EvalWithCompoundTypes(_OPERATORS, functions={}, names=self)
        self._fields: Mapping[str, Any] = {}

    def __call__(self, fields: Mapping[str, Any]) -> bool:
        """Return whether a record satisfies the expression."""
        self._fields = fields
        return bool(self._evaluator.eval(self._expression, self._tree))

    def __getitem__(self, path: str) -> Any:
        """Return the value of a field, as the evaluator asks for it; None: there is no such."""
        found: Any = self._fields
        if path in found:  # as of a table's column, whose name has a dot
            cell = found[path]
            is_null = self._nulls and isinstance(cell, str) and is_missing(cell, self._nulls)
            return _Missing(cell) if is_null else cell
        for name in self.paths[path]:
            if isinstance(found, Mapping):
                found = found.get(name)
            elif isinstance(found, list) and isinstance(name, int) and name < len(found):
                found = found[name]
            else:
                return None
        return found

    def _checked(self, node: ast.AST) -> Any:
        """Return the expression with each path as one name, which is looked up in the record."""
        path = self._path(node)
        if path is not None:
            text = ".".join(map(str, path))
            if len(path) == 1 and text in _CONSTANTS:
                return ast.Constant(_CONSTANTS[text])
            self.paths[text] = path
            return ast.Name(text, ast.Load())
        known = isinstance(node, _KNOWN) or type(node) in _OPERATORS
        if not known or (isinstance(node, ast.Constant) and isinstance(node.value, bytes)):
            place = getattr(node, "col_offset", 0) + 1
            raise self._wrong(
                place,
                f"{type(node).__name__} is not possible here; there are fields, numbers, texts, "
                'lists, ==, !=, <, <=, >, >=, in, and, or, not, +, -, *, /, %, and record["NAME"] '
                "for a name that is no word",
            )
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, name, [self._checked(each) for each in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self._checked(value))
        return node

    def _path(self, node: ast.AST) -> tuple[Any, ...] | None:
        """Return the path that a node names; None: it is something else."""
        if isinstance(node, ast.Name):
            return (node.id,)
        if isinstance(node, ast.Attribute):
            above = self._path(node.value)
            return None if above is None else (*above, node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            above, name = self._path(node.value), node.slice.value
            if above is None or type(name) not in (str, int):
                return None
            return (name,) if above == (_WHOLE,) else (*above, name)
        return None

    def _wrong(self, place: int, problem: str) -> ValueError:
        return ValueError(f"at character {place}: {problem}: {self._expression}")


class Filtered:
    """Makes fields of the records that satisfy an expression."""

    def __init__(self, parse: Callable[[Payload], Mapping[str, Any]], where: Where) -> None:
        self._parse = parse
        self._where = where
        self.metrics = getattr(parse, "metrics", tuple)
        self._n_skipped = 0  # of the first; -1 once one has passed, or there was a warning
        self._absent = list(where.paths)

    def __call__(self, payload: Payload) -> Mapping[str, Any]:
        """Return the fields of a record.

        Raises
        ------
        SkippedError
            When it does not satisfy the expression, or has no value.

        """
        if payload is not None:
            fields = self._parse(payload)
            if self._where(fields):
                self._n_skipped = -1
                return fields
            if self._n_skipped >= 0:
                self._note()
        raise SkippedError("the record does not satisfy the setting where")

    def _note(self) -> None:
        """Count one of the first records, and warn if all are left out: a field may be misspelt."""
        self._absent = [text for text in self._absent if _is_null(self._where[text])]
        self._n_skipped += 1
        if self._n_skipped == N_RECORDS:
            self._n_skipped = -1
            absent = f": none has {', '.join(self._absent)}" if self._absent else ""
            warnings.warn(
                f"where: it skips all of the first {N_RECORDS:,} records{absent}; correct it, if "
                "they are events",
                IlnWarning,
                stacklevel=2,
            )
