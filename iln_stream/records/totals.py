"""Rows among records that are no events: totals, and those that came before."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from keyword import iskeyword
from math import fsum, isclose
from typing import Any

from iln_stream.records.inspected import Field, is_named
from iln_stream.records.parsing import flatten
from iln_stream.records.time_spans import read_as
from iln_stream.records.values import Notation, is_dressed, is_missing
from iln_stream.records.words import WORDS

_FIRST = 1_000
"""Records that follow one another; of the others there are only some."""

_SURE = 3
"""Sums of two addends or more that are no chance; or fewer, if they exceed all other labels."""


def is_total(text: str, wide: bool = False) -> bool:
    """Return whether a text is a word for a total; if `wide`, whether it has one among others."""
    own = re.sub(r"[\W_]", "", text).lower() in WORDS["totals"]
    return own or (wide and is_named(text, WORDS["totals"]))


def without_totals(
    records: Sequence[Mapping[str, Any]],
    fields: Sequence[Field],
    nulls: Sequence[str],
    notation: Notation,
) -> str | None:
    """Return the `where` that leaves out rows of totals; None: it is not certain that there are.

    `nulls` are the texts that are null in `where`.

    They have a word for it and no smaller labels than those above; or such a word among others, or
    no value in a field, and their labels are the sums of those above, or since the total before.

    >>> from iln_stream.records.inspection import inspect_fields
    >>> from iln_stream.records.totals import without_totals
    >>> from iln_stream.records.values import NULLS, USUAL
    >>> rows = [{"shop": each, "sold": 5.0} for each in "abc"] + [{"shop": None, "sold": 15.0}]
    >>> without_totals(rows, inspect_fields(rows), NULLS, USUAL)
    'shop != null'

    """
    label = next((each for each in fields if each.role == "label"), None)
    if label is None:
        return None
    rows = [flatten(record) for record in records]
    kind = label.type if is_dressed(label.type) else "number"
    labels = [read_as(row.get(label.name), kind, notation) for row in rows]
    names = [each.name for each in fields if each is not label]
    for wide in (True, False):  # subtotals with their names, and the total
        for name in names:
            cells = [row.get(name) for row in rows]
            texts = [*dict.fromkeys(c for c in cells if isinstance(c, str) and is_total(c, wide))]
            marks = [cell in texts for cell in cells]
            if _are_totals(labels, marks, exact=wide):
                listed = json.dumps(texts, ensure_ascii=False)
                return f"{_path(name)} " + (
                    f"not in {listed}" if texts[1:] else f"!= {listed[1:-1]}"
                )
    for name in (each.name for each in fields if each.n_missing and each is not label):
        if _are_totals(labels, [is_missing(row.get(name), nulls) for row in rows]):
            return f"{_path(name)} != null"
    return None


def n_repeated(records: Sequence[Mapping[str, Any]]) -> int:
    """Return how many came before, after the same record, if a field tells most apart."""
    rows = [*map(repr, records)]
    pairs = Counter(pairwise(rows))
    n = sum(n if a == b else n - 1 for (a, b), n in pairs.items())
    distinct = [len({str(each.get(name)) for each in records}) for name in records[0]]
    return n if n >= len(rows) / 100 and max(distinct, default=0) >= 0.9 * len({*rows}) else 0


def _are_totals(
    labels: Sequence[float | None], marks: Sequence[bool], *, exact: bool = True
) -> bool:
    """Return whether all labels that are marked are totals of others, and that is no chance.

    If not `exact`, it is enough that they are as large as each of those.
    """
    known = [(y, mark) for y, mark in zip(labels, marks, strict=True) if y is not None]
    known = known[:_FIRST] if exact else known
    return _follow(known, exact) or _follow(known[::-1], exact)  # or they stand above the others


def _follow(known: Sequence[tuple[float, bool]], exact: bool) -> bool:
    digits = max((len(repr(y).partition(".")[2].rstrip("0")) for y, _ in known), default=0)
    rounding = 0.5 * 10.0**-digits if digits else 0.0
    group: list[float] = []
    every: list[float] = []
    found = []
    for y, is_marked in known:
        if not is_marked:
            group.append(y)
            every.append(y)
            continue
        is_sum = any(
            isclose(y, fsum(each), rel_tol=1e-9, abs_tol=rounding * len(each))
            for each in (group, every)
        )
        if not (is_sum or (not exact and abs(y) >= max(map(abs, group), default=0.0))):
            return False
        found += [abs(y)] * (len(every) > 1 and any(group or every))
        group = []
    return len(found) >= _SURE or (bool(found) and min(found) > max(map(abs, every)))


def _path(name: str) -> str:
    """Return a field's name as expressions have it."""
    parts = name.split(".")
    if all(part.isidentifier() and not iskeyword(part) for part in parts) and name != "record":
        return name
    return "record" + "".join(f"[{json.dumps(part, ensure_ascii=False)}]" for part in parts)
