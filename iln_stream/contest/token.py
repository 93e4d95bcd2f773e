"""Tokens of a contest: what each contender predicted, and its own token."""

import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Token = NDArray[np.float64]

_CODE = float(zlib.crc32(b"iln_stream.contest"))
_HEAD = 3
"""Numbers before each contender's: its serial number, and the lengths of the two that follow."""

_NO_TOKEN = -1


class Part(NamedTuple):
    """What a token has of one contender.

    Parameters
    ----------
    serial
        Number of the contender in the contest.
    prediction
        Its prediction as numbers.
    token
        Its own token; None: it makes none.

    """

    serial: int
    prediction: list[float]
    token: Token | None


def written(parts: Iterable[Part]) -> Token:
    """Return a token with these parts."""
    numbers = [_CODE]
    for serial, prediction, token in parts:
        numbers += (serial, len(prediction), _NO_TOKEN if token is None else len(token))
        numbers += prediction
        if token is not None:
            numbers += np.asarray(token, np.float64).tolist()
    return np.array(numbers)


def is_of_contest(token: Any) -> bool:
    """Return whether a token is that of a contest, not one of a learner's own."""
    return np.ndim(token) == 1 and len(token) > 0 and token[0] == _CODE


def read(token: Token) -> dict[int, Part]:
    """Return a token's parts by the contenders' serial numbers.

    Raises
    ------
    ValueError
        When the token is damaged.

    """
    parts: dict[int, Part] = {}
    at = 1
    while at < len(token):
        head = token[at : at + _HEAD].tolist()
        if len(head) < _HEAD or not all(map(float.is_integer, head)):
            raise _damaged()
        serial, n_prediction, n_token = map(int, head)
        middle = at + _HEAD + n_prediction
        at = middle + max(n_token, 0)
        if n_prediction < 0 or n_token < _NO_TOKEN or at > len(token):
            raise _damaged()
        own = None if n_token == _NO_TOKEN else np.array(token[middle:at])
        parts[serial] = Part(serial, token[middle - n_prediction : middle].tolist(), own)
    return parts


def _damaged() -> ValueError:
    return ValueError("token is damaged; learn with learn_one")
