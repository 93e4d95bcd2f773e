"""Where the states of keys are: in memory, and copies as of a checkpoint."""

import math
import struct
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import StateError
from iln_stream.state import StateDict, StateSchema

LONGEST_KEY = 1024
"""Characters of the longest key: every key stays in memory, and is stored with its state."""


def key_of(x: Mapping[Any, Any], name: str) -> tuple[str | None, dict[Any, float]]:
    """Return the key of an event as text, and its other inputs; None: it has no key.

    Parameters
    ----------
    x
        The inputs. The key is the value of `name`, or the category in a name "name=category".
    name
        Name of the input that is the key.

    Raises
    ------
    ValueError
        When the key has more than `LONGEST_KEY` characters.

    Examples
    --------
    >>> from iln_stream.learners.keyed.store import key_of
    >>> key_of({"customer": "c7", "a": 1.0}, "customer")
    ('c7', {'a': 1.0})
    >>> key_of({"customer=c7": 1.0, "a": 1.0}, "customer")
    ('c7', {'a': 1.0})
    >>> key_of({"customer": 17.0}, "customer"), key_of({"a": 1.0}, "customer")
    (('17', {}), (None, {'a': 1.0}))

    """
    rest = dict(x)
    if name in rest:
        return _checked(as_key(rest.pop(name)), name), rest
    start = f"{name}="
    for each in x:
        if isinstance(each, str) and each.startswith(start):
            del rest[each]
            return _checked(each[len(start) :], name), rest
    return None, rest


def _checked(key: str | None, name: str) -> str | None:
    if key is not None and len(key) > LONGEST_KEY:
        raise ValueError(
            f"key {name}: {len(key):,} characters, {key[:20]!r}...; at most {LONGEST_KEY:,} are "
            "allowed: name another field, or send a shorter key, such as a hash"
        )
    return key


def as_key(value: Any) -> str | None:
    """Return a key as text: the same for 17, 17.0 and "17"; None for a missing value."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


@cache
def key_model() -> Any:
    """Return the module `kernels.key_model`."""
    from iln_stream.kernels import key_model as found

    return found


Row = NDArray[np.float64]

VERSION = 1
"""Of the bytes; raise it with every change of the row's layout."""

_HEAD = struct.Struct("<4sBBH")
_MAGIC = b"ilnk"

_OTHER = 255
"""In place of the number of slopes: the row is of something else than a model."""

LARGEST_ROW = 16_384
"""Numbers in a row that has bytes."""

DEFAULT_SLOPES = 12


def new_row(slopes: int = DEFAULT_SLOPES) -> Row:
    """Return the state of a key without events.

    At most `slopes` inputs have a slope of the key's own.
    """
    return np.zeros(key_model().row_size(slopes + 1))


def key_state_to_bytes(row: Row) -> bytes:
    """Return a key's state as bytes: 8 of a head, and the numbers up to the last that is not 0.

    At 12 slopes these are at most 968 bytes. Equal states give equal bytes.

    Examples
    --------
    >>> from iln_stream.learners.keyed import key_state_from_bytes, key_state_to_bytes, new_row
    >>> row = new_row()
    >>> row[0] = 1.0
    >>> data = key_state_to_bytes(row)
    >>> len(data), (key_state_from_bytes(data) == row).all()
    (16, np.True_)

    """
    (data,) = key_states_to_bytes([row])
    return data


def key_states_to_bytes(rows: Sequence[Row]) -> list[bytes]:
    """Return the bytes of each of several states: many at once take a third of the time.

    All have the same size.
    """
    if not rows:
        return []
    size = len(rows[0])
    joined = np.concatenate(rows).astype("<f8", copy=False)
    # Not by comparison with 0.0, which -0.0 equals.
    used = joined.view("<i8").reshape(-1, size)[:, ::-1] != 0
    ends = np.where(used.any(axis=1), size - used.argmax(axis=1), 0).tolist()
    heads = {n: _HEAD.pack(_MAGIC, VERSION, slopes_of(size), n) for n in set(ends)}
    data, whole = joined.tobytes(), 8 * size
    return [
        heads[n] + data[start : start + 8 * n]
        for n, start in zip(ends, range(0, len(data), whole), strict=True)
    ]


def key_state_from_bytes(data: bytes, size: int | None = None) -> Row:
    """Return the state that `key_state_to_bytes` gave the bytes of.

    A state has `size` numbers; None: it is a model's, whose bytes say it.

    Raises
    ------
    StateError
        When they are something else, or of another version or size.

    """
    if len(data) < _HEAD.size or data[:4] != _MAGIC:
        raise StateError("these bytes are not the state of a key")
    _, version, slopes, n = _HEAD.unpack_from(data)
    if version != VERSION:
        raise StateError(
            f"the state of a key has format {version}, and this release reads {VERSION}: use the "
            "release that wrote it"
        )
    if slopes == _OTHER if size is None else slopes != slopes_of(size):
        raise StateError("the state of a key is of another size")
    row = new_row(slopes) if size is None else np.zeros(size)
    if n > len(row) or len(data) != _HEAD.size + 8 * n:
        raise StateError("the state of a key is cut off, or longer than it says")
    row[:n] = np.frombuffer(data, "<f8", n, _HEAD.size)
    return row


@cache
def slopes_of(size: int) -> int:
    """Return the number of slopes of a model whose row has this size; `_OTHER`: it is of none."""
    rest = max(size - key_model().ROW_HEAD, 0)
    slopes = (math.isqrt(9 + 8 * rest) - 3) // 2 - 1
    return slopes if slopes >= 0 and key_model().row_size(slopes + 1) == size else _OTHER


_SCHEMA = StateSchema("iln_stream.KeysInMemory", 1)

CHUNK = 4096
"""Rows that are allocated at once: rows never move, and no growth copies all of them."""


class KeyStore(Protocol):
    """The states of keys, by key.

    Attributes
    ----------
    n_live, n_evicted, n_forgotten : int
        Keys in memory; keys that left it so far; keys that were forgotten for their age.
    forgets : callable or None
        Whether a state counts as none, as it will from then on: the store may remove it. None:
        each state counts.

    """

    @property
    def n_live(self) -> int:
        """Number of keys in memory."""

    n_evicted: int
    n_forgotten: int
    forgets: Callable[[Row], bool] | None

    def __len__(self) -> int:
        """Return the number of keys."""

    def get(self, key: str) -> Row | None:
        """Return the state of a key, to read only; None: it has none."""

    def to_learn(self, key: str) -> Row:
        """Return the state of a key, to be changed in place; a new key gets one."""

    def sample(self, n: int) -> NDArray[np.float64]:
        """Return copies of the states of at most n keys, as rows, for metrics."""

    def state(self) -> StateDict:
        """Return the states, or where they are stored."""

    def restore(self, state: StateDict) -> None:
        """Go on from a state."""


class HasKeys(Protocol):
    """Has a state for each key: a model by key, or the aggregates of one list of fields."""

    @property
    def size(self) -> int:
        """Return the number of numbers in a key's state."""

    @property
    def keys(self) -> KeyStore:
        """Return the states."""

    def keep_keys_in(self, keys: KeyStore) -> None:
        """Let another store have the states from now on."""


class Rows:
    """Rows in chunks, by number.

    A row has `size` numbers.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._chunks: list[NDArray[np.float64]] = []

    def __getitem__(self, slot: int) -> Row:
        row: Row = self._chunks[slot // CHUNK][slot % CHUNK]
        return row

    def make_room(self, slot: int) -> None:
        """Allocate up to a number."""
        while slot >= CHUNK * len(self._chunks):
            self._chunks.append(np.zeros((CHUNK, self.size)))

    def copied(self, slots: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return copies of rows, in this order."""
        found = np.empty((len(slots), self.size))
        chunks, places = np.divmod(slots, CHUNK)
        for chunk in np.unique(chunks):
            ours = np.flatnonzero(chunks == chunk)
            found[ours] = self._chunks[chunk][places[ours]]
        return found


class Names:
    """Keys by number, in chunks that collections of garbage do not visit, as they would a list.

    To visit a million takes 40 ms, for which the learning thread would wait.
    """

    def __init__(self) -> None:
        self._chunks: list[NDArray[np.object_]] = []
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, slot: int) -> str:
        name: str = self._chunks[slot // CHUNK][slot % CHUNK]
        return name

    def __setitem__(self, slot: int, name: str) -> None:
        self._chunks[slot // CHUNK][slot % CHUNK] = name

    def append(self, name: str) -> None:
        """Add a key under the next number."""
        if self._n == CHUNK * len(self._chunks):
            self._chunks.append(np.empty(CHUNK, np.object_))
        self._n += 1
        self[self._n - 1] = name


class KeysInMemory:
    """Keys' states in memory; its own state holds all of them.

    Parameters
    ----------
    size
        Numbers in a state.
    most
        Keys that are kept; the one that learned longest ago is forgotten for a new one. None: all.
        One that counts as none makes room before they are so many.
    below
        Has the states of keys that have not learned here; None: these have none.

    """

    def __init__(self, size: int, most: int | None = None, below: KeyStore | None = None) -> None:
        self._slots: OrderedDict[str, int] = OrderedDict()
        self._rows = Rows(size)
        self._most = most
        self._below = below
        self.forgets: Callable[[Row], bool] | None = None
        self.n_evicted = self.n_forgotten = 0

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def n_live(self) -> int:
        """Number of keys in memory: all."""
        return len(self._slots)

    def get(self, key: str) -> Row | None:
        """Return the state of a key; None: it has none."""
        slot = self._slots.get(key)
        if slot is None:
            return None if self._below is None else self._below.get(key)
        return self._rows[slot]

    def to_learn(self, key: str) -> Row:
        """Return the state of a key, to be changed in place; a new key gets one."""
        slot = self._slots.get(key)
        if slot is None:
            before = None if self._below is None else self._below.get(key)
            is_old = False
            if self.forgets is not None and self._slots:
                is_old = self.forgets(self._rows[next(iter(self._slots.values()))])
            if not is_old and (self._most is None or len(self._slots) < self._most):
                self._rows.make_room(slot := len(self._slots))
            else:
                _, slot = self._slots.popitem(last=False)
                self._rows[slot][:] = 0.0
                self.n_forgotten += is_old
                self.n_evicted += not is_old
            self._slots[key] = slot
            if before is not None:
                self._rows[slot][:] = before
        elif self._most is not None:
            self._slots.move_to_end(key)
        return self._rows[slot]

    def sample(self, n: int) -> NDArray[np.float64]:
        """Return copies of the states of at most n keys, spread over all."""
        return self._rows.copied(spread_over(len(self._slots), n))

    def state(self) -> StateDict:
        """Return all keys, those that learned longest ago first, and their states."""
        slots = np.fromiter(self._slots.values(), np.intp, len(self._slots))
        return _SCHEMA.write(keys=list(self._slots), rows=self._rows.copied(slots))

    def restore(self, state: StateDict) -> None:
        """Go on from a state."""
        keys, rows = _SCHEMA.read(state, "keys", "rows")
        self._slots, self._rows = OrderedDict(), Rows(self._rows.size)
        for key, row in zip(keys, rows, strict=True):
            self.to_learn(key)[:] = row


def spread_over(n: int, most: int) -> NDArray[np.intp]:
    """Return at most this many of the numbers below n, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp)) if n else np.arange(0)


_BLOCK = 1024
"""Copies that are allocated, and freed, at once. The next allocation after a million that were
freed one by one would have to look at each of them, for 85 ms."""


class Captured:
    """Copies of states that another thread makes, and the learning thread where it is earlier.

    To copy all at the checkpoint would take the learning thread a microsecond or two for each. No
    lock is held: a thread that takes a lock again and again keeps others from it, for 60 ms here.
    Instead, the learning thread stores its copy before it clears the flag of the place, and the
    other thread drops a copy during which the flag was cleared.

    Parameters
    ----------
    rows, names
        The states in memory, and the keys that they are of.
    changed
        By place in memory, whether the state there belongs to the checkpoint. It is this object's
        from now on, and says which are not copied yet.
    evicted
        States that belong to the checkpoint and are not in memory.
    """

    def __init__(
        self, rows: Rows, names: Names, changed: bytearray, evicted: dict[str, Row]
    ) -> None:
        self.states = evicted  # the copies so far, by key
        self.waiting = changed
        self._rows = rows
        self._names = names
        self._saved = _Copies(rows.size)
        self._slots = np.flatnonzero(np.frombuffer(changed, np.uint8))

    def save(self, slot: int) -> None:
        """Copy the state of a place before it changes, or another key gets the place.

        The learning thread calls it, for places that are waiting.
        """
        self.states.setdefault(self._names[slot], self._saved.of(self._rows[slot]))
        self.waiting[slot] = 0

    def complete(self) -> dict[str, Row]:
        """Copy all that are not copied yet, and return the states; the thread that writes calls."""
        waiting, states, names, rows = self.waiting, self.states, self._names, self._rows
        copied = _Copies(rows.size).of
        for slot in map(int, self._slots):  # a list of a million would take 20 ms
            if not waiting[slot]:
                continue
            name, row = names[slot], copied(rows[slot])
            if waiting[slot]:  # neither has changed meanwhile
                states.setdefault(name, row)
                waiting[slot] = 0
        self._slots = self._slots[:0]  # to look at a million again takes a quarter of a second
        return states


class _Copies:
    def __init__(self, size: int) -> None:
        self._block = np.empty((0, size))
        self._n = 0

    def of(self, row: Row) -> Row:
        if self._n == len(self._block):
            self._block, self._n = np.empty((_BLOCK, self._block.shape[1])), 0
        copied: Row = self._block[self._n]
        self._n += 1
        copied[:] = row
        return copied
