"""Codes: numbers that stand for categories."""

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from statistics import covariance, fmean, pvariance

from iln_stream.records.inspected import WORD
from iln_stream.records.words import WORDS

_LEADING_ZERO = re.compile(r"\s*[+-]*0\d")
_RARE = 0.005
"""Share of numbers with leading zeros up to which they are slips among numbers, and no codes."""
_PART_NUMBER = re.compile(r"\d+[eE]\d+")
"""Programs write a dot or a sign into such numbers."""

_LARGEST = 1e100
"""Of labels, whose squares have to be finite."""


def named_as_code(name: str, names: Collection[str]) -> bool:
    """Whether whole numbers of this name are codes; `names` are those of all fields."""
    *others, last = [word.lower() for word in WORD.findall(name)] or [""]
    if last not in WORDS["numbers"]:
        return last in WORDS["codes"]
    before = name[: -len(last)].lower()
    beside = {each.lower() for each in names}
    return bool(others) and not any(before + each in beside for each in WORDS["not_numbers"])


def have_leading_zeros(numbers: Sequence[str], n: int) -> bool:
    """Whether enough of n values are numbers with leading zeros, of one length or without marks."""
    n_zeros = sum(map(bool, map(_LEADING_ZERO.match, numbers)))
    sizes = {len(re.split(r"[.,]", text.strip())[0]) for text in numbers}
    marked = any(mark in text for text in numbers for mark in ".,")
    return n_zeros > _RARE * n and (len(sizes) == 1 or not marked)


def are_part_numbers(texts: Sequence[str]) -> bool:
    """Whether some texts are part numbers, `12E5`, and none has a dot."""
    return any(map(_PART_NUMBER.fullmatch, texts)) and not any("." in text for text in texts)


def are_codes(numbers: Sequence[float | None], labels: Sequence[float | None]) -> bool:
    """Whether labels differ between whole numbers, and those of neighbours as much as of others.

    What differs only by chance, or as time passes, is not the same in both halves of the records.
    """
    groups: dict[float, tuple[list[float], list[float]]] = {}
    for at, (number, label) in enumerate(zip(numbers, labels, strict=False)):
        if number is not None and label is not None and abs(label) < _LARGEST:
            groups.setdefault(number, ([], []))[2 * at >= len(numbers)].append(label)
    n_turns = sum(a != b for a, b in pairwise(numbers))
    are_whole = len(numbers) == len(labels) and all(map(float.is_integer, groups))
    halves = [groups[number] for number in sorted(groups) if all(groups[number])]
    # One day's have much in common.
    if not (are_whole and len(groups) <= n_turns / 4 and 2 * len(halves) > len(groups) > 1):
        return False
    means = [(fmean(a), fmean(b)) for a, b in halves]
    chance = fmean(pvariance([*a, *b]) / (len(a) + len(b)) for a, b in halves)
    differ = pvariance([fmean([*a, *b]) for a, b in halves])
    shared = covariance(*zip(*means, strict=True))
    jump = fmean((a[0] - b[0]) * (a[1] - b[1]) for a, b in pairwise(means))
    return differ > 4 * chance and shared > differ / 2 and jump > 1.2 * shared
