"""A learner's state as plain values and arrays, which any file format can hold.

It is that of numpy's npz, which most languages can read: an uncompressed ZIP archive. Each array is
an entry in numpy's npy format, named by its path in the state; `json.npy` holds the rest, the UTF-8
text of `pack`, as an array of bytes. There is no pickle. The archive's CRC-32 guard each entry.
"""

import io
import json
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, TypeAlias
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from iln_stream._version import __version__
from iln_stream.errors import StateError

StateDict: TypeAlias = dict[str, Any]
"""Names with values: None, bool, int, float, str, a numpy array or scalar of numbers, a list of
values, or another StateDict. `pack` rejects anything else."""


def encode_name(name: Any) -> str:
    """Return a name as JSON, in which a tuple is an array.

    Raises
    ------
    StateError
        When the name is of another type, or a number that is not finite.

    Examples
    --------
    >>> from iln_stream.state import decode_name, encode_name
    >>> [encode_name(name) for name in ("a", 1, 1.0, True, None, ("sky", 2))]
    ['"a"', '1', '1.0', 'true', 'null', '["sky", 2]']
    >>> decode_name('["sky", 2]')
    ('sky', 2)

    """
    _require_known(name)
    return json.dumps(name)


def decode_name(text: str) -> Any:
    """Return the name from the text that `encode_name` returned."""
    try:
        return _with_tuples(json.loads(text))
    except (TypeError, ValueError) as error:
        raise StateError(f"{text!r} is not the name of an input: {error}") from error


def _require_known(name: Any) -> None:
    if isinstance(name, tuple):
        for part in name:
            _require_known(part)
    elif isinstance(name, float):
        if not math.isfinite(name):
            raise StateError(f"an input is named {name!r}: use a finite number or a string")
    elif not (name is None or isinstance(name, str | int)):
        raise StateError(
            f"an input is named {name!r}, a {type(name).__name__}: only names that are str, int, "
            "float, bool, None or tuples of these can be saved"
        )


def _with_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_with_tuples, value))
    if isinstance(value, dict):
        raise ValueError("a name has no fields")
    return value


def all_finite(array: NDArray[Any]) -> bool:
    """Return whether no number in an array is nan or infinite.

    >>> import numpy as np
    >>> all_finite(np.array([1.0, 1e308])), all_finite(np.array([1.0, np.nan]))
    (True, False)
    """
    return bool(np.isfinite(array).all())


def not_finite(state: StateDict) -> list[str]:
    """Return the paths of a state's numbers, or arrays of them, that are not all finite.

    >>> not_finite({"n": 3, "f": {"theta": np.array([0.0, np.inf])}, "scales": [1.0, np.nan]})
    ['f/theta', 'scales/1']
    """
    return list(_walk(state, ""))


def _walk(value: Any, path: str) -> Any:
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, entry in entries:
            yield from _walk(entry, f"{path}/{key}" if path else str(key))
    elif isinstance(value, float | np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind == "f" and not all_finite(array):
            yield path


class ArrayBlock(np.ndarray[Any, np.dtype[Any]]):
    """A read-only copy of an array, which a folder of snapshots stores only once.

    A learner that keeps many past events divides them into blocks, so that a snapshot has to store
    the latest ones only. In a state it may stand wherever an array may; a state that was read from
    bytes has plain arrays.

    Parameters
    ----------
    array
        The values to copy.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.state import ArrayBlock
    >>> values = np.arange(3)
    >>> block = ArrayBlock(values)
    >>> values[0] = 7
    >>> block.tolist(), block.flags.writeable
    ([0, 1, 2], False)

    """

    stored_as: tuple[str, int] | None = None
    """Name and size of the file that this process stored it in, so that it is written only once."""

    def __new__(cls, array: NDArray[Any]) -> "ArrayBlock":
        """Copy the array."""
        block = np.array(array, order="C").view(cls)
        block.flags.writeable = False
        return block

    def __deepcopy__(self, memo: dict[int, Any] | None) -> "ArrayBlock":
        """Return the block itself: nobody can change it."""
        return self


_PACKAGE = __name__.partition(".")[0]


class Registry(Mapping[str, type]):
    """Classes by qualified names that stay the same when a class moves to another module.

    A class of this package is `iln_stream.NAME`, whatever module it is in. Any other class is
    `its.module.NAME`, or has the name that was given with it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from iln_stream.state import Registry
    >>> registry = Registry()
    >>> registry.add(Fraction)
    >>> registry.name_of(Fraction), registry["fractions.Fraction"]
    ('fractions.Fraction', <class 'fractions.Fraction'>)

    """

    def __init__(self) -> None:
        self._classes: dict[str, type] = {}

    def add(self, cls: type, name: str | None = None) -> None:
        """Register a class; one of the same name and module replaces its earlier definition.

        Raises
        ------
        TypeError
            When a class of another module has the name.

        """
        name = qualified_name(cls) if name is None else name
        other = self._classes.setdefault(name, cls)
        if other.__module__ != cls.__module__:
            raise TypeError(
                f"{name} is already the name of a class of {other.__module__}: choose another one, "
                "restorable(name=...)"
            )
        self._classes[name] = cls

    def name_of(self, cls: type) -> str | None:
        """Return a class's name; None if it is not registered, even if its base is."""
        return next((name for name, known in self._classes.items() if known is cls), None)

    def __getitem__(self, name: str) -> type:
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


TRANSFORMERS = Registry()
"""Classes of transformers that have `state()` and the class method `from_state(state)`."""


def qualified_name(cls: type) -> str:
    """Return the name under which a class is stored unless another one is given."""
    if cls.__module__.partition(".")[0] == _PACKAGE:
        return f"{_PACKAGE}.{cls.__name__}"
    return f"{cls.__module__}.{cls.__qualname__}"


Migration: TypeAlias = Callable[[StateDict], StateDict]
"""From a state of one version to that of the next; it leaves the given state as it is."""


@dataclass(frozen=True)
class StateSchema:
    """Writes and reads the states of one class.

    Examples
    --------
    >>> from iln_stream.state import StateSchema
    >>> first = StateSchema("iln_stream.Moments", 1)
    >>> first.write(n=2, sum=1.0)
    {'class': 'iln_stream.Moments', 'version': 1, 'n': 2, 'sum': 1.0}
    >>> def with_mean(state):
    ...     fields = {name: value for name, value in state.items() if name != "sum"}
    ...     return {**fields, "mean": state["sum"] / state["n"]}
    >>> second = StateSchema("iln_stream.Moments", 2, {1: with_mean})
    >>> second.read(first.write(n=2, sum=1.0), "n", "mean")
    (2, 0.5)

    """

    name: str  # the class's qualified name
    # Version of the fields' meaning. Raise it with every change, so that an older state is migrated
    # or rejected rather than misread.
    version: int
    # By an older version, the function that makes a state of it one of the version after it. The
    # version itself is set by the schema.
    migrations: Mapping[int, Migration] = field(default_factory=dict)

    def write(self, **fields: Any) -> StateDict:
        """Return a state with these fields."""
        return {"class": self.name, "version": self.version, **fields}

    def read(self, state: StateDict, *names: str) -> tuple[Any, ...]:
        """Return the named fields; the state, once migrated, must have no others.

        Raises
        ------
        StateError
            When the state is of another class, of a version without a migration, or has other
            fields.

        """
        state = self.migrated(state)
        found = state.keys() - {"class", "version"}
        if found != set(names):
            odd = ", ".join(sorted(found ^ set(names)))
            raise StateError(f"the state of {self.name} has missing or extra fields: {odd}")
        return tuple(state[name] for name in names)

    def is_of(self, state: Any) -> bool:
        """Whether this is a state of the class."""
        return isinstance(state, dict) and state.get("class") == self.name

    def migrated(self, state: StateDict) -> StateDict:
        """Return the state in this version.

        Raises
        ------
        StateError
            When the state is of another class, or of a version without a migration.

        """
        found = state.get("class") if isinstance(state, dict) else state
        if found != self.name:
            raise StateError(f"this is the state of {found!r}, not of {self.name!r}")
        version = state.get("version")
        readable = self._readable()
        if version not in readable:
            raise StateError(
                f"the state of {self.name} has format {version!r}, and release {__version__} "
                f"reads {', '.join(map(str, readable))}: use the release that wrote it"
            )
        for older in range(version, self.version):
            state = {**self.migrations[older](state), "version": older + 1}
        return state

    def _readable(self) -> list[int]:
        """The versions that are read, oldest first."""
        oldest = self.version
        while oldest - 1 in self.migrations:
            oldest -= 1
        return list(range(oldest, self.version + 1))


_ARRAY, _BLOCK, _FLOAT = "$array", "$block", "$float"
"""A JSON object with only one of these fields is an array, a block that is stored elsewhere, or a
number that JSON lacks."""

TEXT = "json"
"""No array has this path: a file's entry of this name can hold the JSON."""


def pack(
    state: StateDict, store: Callable[[ArrayBlock], str] | None = None
) -> tuple[dict[str, NDArray[Any]], str]:
    """Return a state's arrays by their paths in it, and the rest as JSON that refers to them.

    The arrays hold numbers only, so `numpy.savez` and `numpy.load(allow_pickle=False)` can store
    them. They are the state's own, not copies.

    Parameters
    ----------
    state
        The state.
    store
        Stores a block elsewhere and returns the name by which the JSON refers to it. None: blocks
        are arrays like others.

    Raises
    ------
    StateError
        When the state holds an unsupported value; the message says where.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.state import pack, unpack
    >>> arrays, text = pack({"n": 3, "f": {"theta": np.zeros(2)}})
    >>> arrays
    {'f/theta': array([0., 0.])}
    >>> text
    '{"n": 3, "f": {"theta": {"$array": "f/theta"}}}'
    >>> unpack(arrays, text)
    {'n': 3, 'f': {'theta': array([0., 0.])}}

    """
    arrays: dict[str, NDArray[Any]] = {}
    return arrays, json.dumps(_packed(state, "", arrays, store), allow_nan=False)


def unpack(
    arrays: Mapping[str, NDArray[Any]], text: str, load: Callable[[str], NDArray[Any]] | None = None
) -> StateDict:
    """Return the state from the output of `pack`. Zero-dimensional arrays become numpy scalars.

    `load` returns a block by the name that `pack`'s `store` gave it.

    Raises
    ------
    StateError
        When the text is not JSON from `pack`, or refers to other arrays than those given, or to
        blocks and there is no `load`.

    """
    left = dict(arrays)
    try:
        state = _unpacked(json.loads(text, parse_constant=_refuse), left, load)
    except (TypeError, ValueError) as error:
        raise StateError(f"the state's JSON can't be read: {error}") from error
    if not isinstance(state, dict):
        raise StateError(f"the state's JSON is {text[:40]!r}, not an object")
    if left:
        raise StateError(f"the state's JSON does not mention its arrays {', '.join(sorted(left))}")
    return state


def _packed(
    value: Any,
    path: str,
    arrays: dict[str, NDArray[Any]],
    store: Callable[[ArrayBlock], str] | None,
) -> Any:
    if value is None or isinstance(value, bool | str) or type(value) is int:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {_FLOAT: str(value)}
    if isinstance(value, ArrayBlock) and store is not None:
        return {_BLOCK: store(value)}
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise StateError(f"{path} is an array of {array.dtype}: only numbers can be saved")
        arrays[path] = array
        return {_ARRAY: path}
    if isinstance(value, list):
        return [
            _packed(entry, _below(path, str(i)), arrays, store) for i, entry in enumerate(value)
        ]
    if isinstance(value, dict):
        packed = {}
        for key, entry in value.items():
            if not isinstance(key, str):
                raise StateError(f"{path or 'the state'} has the key {key!r}: keys must be strings")
            # A key that begins with a dollar sign gets one more.
            packed["$" + key if key.startswith("$") else key] = _packed(
                entry, _below(path, key), arrays, store
            )
        return packed
    raise StateError(
        f"{path} is {value!r}, a {type(value).__name__}: a state holds None, bool, int, float, "
        "str, arrays, lists and dicts"
    )


def _unpacked(
    value: Any, left: dict[str, NDArray[Any]], load: Callable[[str], NDArray[Any]] | None
) -> Any:
    if isinstance(value, list):
        return [_unpacked(entry, left, load) for entry in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {_ARRAY}:
        path = value[_ARRAY]
        if path not in left:
            raise StateError(f"the state's array {path!r} is missing")
        return left.pop(path)[()]
    if value.keys() == {_BLOCK}:
        if load is None:
            raise StateError("some of the state's arrays are stored in a folder of blocks")
        return load(value[_BLOCK])
    if value.keys() == {_FLOAT}:
        return float(value[_FLOAT])
    return {key.removeprefix("$"): _unpacked(entry, left, load) for key, entry in value.items()}


def _below(path: str, key: str) -> str:
    """The path of a key below `path`, valid as the name of a file's entry."""
    part = quote(key, safe="", errors="surrogatepass") or "%"
    if path:
        return f"{path}/{part}"
    return f"%{part}" if part == TEXT else part


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_UNREADABLE = (
    EOFError,
    KeyError,
    OSError,
    OverflowError,
    RuntimeError,  # NotImplementedError included: of an unknown compression
    SyntaxError,  # of the header of an array
    TypeError,
    ValueError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""Raised by zipfile and numpy for bytes that are not an archive of arrays."""


def to_bytes(state: StateDict) -> bytes:
    """Return a state as bytes; equal states, in the same order, give equal bytes.

    Raises
    ------
    StateError
        When the state holds an unsupported value; the message says where.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.state import from_bytes, to_bytes
    >>> data = to_bytes({"n": 3, "theta": np.zeros(2)})
    >>> from_bytes(data)
    {'n': 3, 'theta': array([0., 0.])}
    >>> to_bytes(from_bytes(data)) == data
    True

    """
    file = io.BytesIO()
    write_packed(*pack(state), file)
    return file.getvalue()


def from_bytes(data: bytes, load: Callable[[str], NDArray[Any]] | None = None) -> StateDict:
    """Return the state from the bytes that `to_bytes` or `write_packed` wrote.

    `load` returns a block that is stored elsewhere, by its name; see `pack`.

    Raises
    ------
    StateError
        When they are damaged, or are something else.

    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > len(data):
                raise ValueError("it is compressed, and we write no such file")  # or a bomb
            arrays = {_key(name): read_array(archive, name) for name in archive.namelist()}
        text = arrays.pop(TEXT).tobytes().decode()
    except _UNREADABLE as error:
        raise StateError(f"the state's bytes can't be read: {error}") from error
    return unpack(arrays, text, load)


def write_packed(arrays: Mapping[str, NDArray[Any]], text: str, file: IO[bytes]) -> None:
    """Write what `pack` returned to a file, which need not be seekable, array by array."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in {TEXT: np.frombuffer(text.encode(), np.uint8), **arrays}.items():
            # A ZipInfo has a fixed date, so that the bytes depend on the state only.
            entry = zipfile.ZipInfo(f"{name}.npy")
            with archive.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return the array in an entry of an archive."""
    with archive.open(name) as member:
        array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
        member.read()  # to the end, where the checksum is compared
        return array


def _key(name: str) -> str:
    if not name.endswith(".npy"):
        raise ValueError(f"it has an entry {name!r}")
    return name.removesuffix(".npy")
