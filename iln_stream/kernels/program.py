"""Several compiled functions in one call from Python.

A call from Python takes up to two microseconds, and the Python between two calls more: by then, its
data have left the processor's caches. So an event of many functions binds their arguments once.
"""

import ctypes
import struct
from collections.abc import Callable, Iterable, Sequence
from itertools import count, groupby, islice, repeat
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np.numpy_support import as_dtype
from numpy.typing import NDArray

from iln_stream.kernels.jit import overload_of

Scalar = NDArray[Any]
"""An array without dimensions: a number that may differ at each call."""


def scalar(array: NDArray[Any], i: int = 0) -> Scalar:
    """Return entry i of an array (n,) as a number that is read and written in place."""
    return array[i : i + 1].reshape(())


class Call(NamedTuple):
    """A compiled function and its arguments.

    Parameters
    ----------
    function
        The function.
    arguments
        Arrays, numbers, and plain tuples of arrays, integers and floats. A `Scalar` is passed as
        the number that it is at the time of the call.
    results
        Where to write what the function returns, of that type: each item of a tuple in turn, or a
        number in all.

    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    results: tuple[Scalar, ...] = ()

    def __call__(self) -> None:
        """Call the function by itself."""
        found = self.function(*map(_present, self.arguments))
        for i, result in enumerate(self.results):
            result[()] = found[i] if isinstance(found, tuple) else found


Step = Call | Callable[[], None]
"""A call, or Python between calls."""


def bound(steps: Iterable[Step]) -> list[Callable[[], None]]:
    """Return the steps in order, with calls that follow each other in one program."""
    found: list[Callable[[], None]] = []
    for are_calls, group in groupby(steps, lambda step: isinstance(step, Call)):
        each: Any = list(group)
        found += [Program(each)] if are_calls else each
    return found


class Program:
    """Calls, one after the other, with their arguments bound.

    Arrays are bound by their address: a program must be made anew when one of them is replaced.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        self._bound: list[Any] = []  # the arrays, which must not be freed
        found = [overload_of(call.function, *map(_present, call.arguments)) for call in calls]
        kinds = []
        for (_, signature), call in zip(found, calls, strict=True):
            kinds.append((signature, len(call.results)))
            returned = signature.return_type
            each = returned if isinstance(returned, types.BaseTuple) else repeat(returned)
            for result, kind in zip(call.results, each, strict=False):
                if result.dtype != as_dtype(kind):
                    raise TypeError(f"a result of type {kind} has a place of {result.dtype}")
        first, *others = _entries(kinds)
        words = list[int]()
        for call, (address, _), following in zip(calls, found, [*others, 0], strict=True):
            words.append(address)
            for argument in call.arguments:
                given = np.array(argument) if isinstance(argument, _NUMBERS) else argument
                is_number = isinstance(given, np.ndarray) and not given.ndim
                words += [given.ctypes.data] if is_number else _words(given)
                self._bound.append(given)
            words += [result.ctypes.data for result in call.results]
            self._bound.append(call.results)
            words.append(following)
        self._words = np.array(words, np.int64)
        self._address = self._words.ctypes.data
        self._run = _Run(first)

    def __call__(self) -> None:
        """Make the calls."""
        if self._run(self._address):
            raise RuntimeError("a compiled function failed, perhaps for want of memory")


def _present(argument: Any) -> Any:
    """The argument, or the number that it is now."""
    return argument[()] if isinstance(argument, np.ndarray) and not argument.ndim else argument


def _words(argument: Any) -> list[int]:
    """An argument as numba lays it out in memory, without a count of references to arrays."""
    if isinstance(argument, tuple):
        return [word for each in argument for word in _words(each)]
    if isinstance(argument, np.ndarray) and argument.ndim:
        head = 0, 0, argument.size, argument.itemsize, argument.ctypes.data
        return [*head, *argument.shape, *argument.strides]
    if type(argument) not in (int, float):
        raise TypeError(f"{argument!r:.60} can't be bound")
    packed = struct.pack("d" if isinstance(argument, float) else "q", argument)
    return [int.from_bytes(packed, "little", signed=True)]


class _AsWritten(JITCodeLibrary):  # type: ignore[misc]
    """Machine code without optimisation: entries only move words, and each start waits for them."""

    def _optimize_functions(self, module: Any) -> None:
        pass

    def _optimize_final_module(self) -> None:
        pass


_NUMBERS = int, float, np.generic

_Run = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)

_ENTRIES: dict[tuple[Any, int], int] = {}
"""Addresses of the functions that make a call and go on to the next, by signature and results."""

_LIBRARIES: list[Any] = []
"""Where their machine code is."""

_WORD = ir.IntType(64)
_STATUS = ir.IntType(32)
_FIRST = ir.Constant(_STATUS, 0)
_ENTRY = ir.FunctionType(_STATUS, [_WORD.as_pointer()])


@global_compiler_lock  # type: ignore[untyped-decorator]
def _entries(kinds: Sequence[tuple[Any, int]]) -> list[int]:
    """Return the entries for calls of these signatures, with so many results."""
    new = list(dict.fromkeys(kind for kind in kinds if kind not in _ENTRIES))
    if new:
        library = _AsWritten(cpu_target.target_context.codegen(), "program")
        module = library.create_ir_module("program")
        names = [f"entry_{i}" for i in range(len(_ENTRIES), len(_ENTRIES) + len(new))]
        for name, kind in zip(names, new, strict=True):
            _write_entry(ir.Function(module, _ENTRY, name), *kind)
        library.add_ir_module(module)
        library.finalize()
        _LIBRARIES.append(library)
        for name, kind in zip(names, new, strict=True):
            _ENTRIES[kind] = library.get_pointer_to_function(name)
    return [_ENTRIES[kind] for kind in kinds]


def _write_entry(entry: Any, signature: Any, n_results: int) -> None:
    """Write the code of an entry, which gets the words of its call, and those of the next ones.

    The words are the function's address, its arguments, the addresses of its results, and the entry
    of the next call, or 0. It returns 0, or 1 if a function failed.
    """
    context = cpu_target.target_context
    of = context.call_conv.get_function_type(signature.return_type, signature.args)
    builder = ir.IRBuilder(entry.append_basic_block())
    places = (builder.gep(entry.args[0], [ir.Constant(_WORD, i)]) for i in count())

    def take(kind: Any) -> Any:
        """The next word, as a number or pointer of this LLVM type."""
        return builder.load(builder.bitcast(next(places), kind.as_pointer()))

    callee = take(of.as_pointer())
    result, error, *kinds = of.args
    is_tuple = isinstance(result.pointee, ir.LiteralStructType | ir.ArrayType)
    given = [builder.alloca(result.pointee), builder.alloca(error.pointee)]
    flat = iter(kinds)
    for argument in signature.args:
        if isinstance(argument, types.Number | types.Boolean):
            given.append(builder.load(take(next(flat).as_pointer())))
        else:
            n_words = context.get_abi_sizeof(context.get_value_type(argument)) // 8
            given += [take(kind) for kind in islice(flat, n_words)]
    status = builder.call(callee, given)
    failed = builder.or_(
        builder.icmp_signed("==", status, ir.Constant(_STATUS, -1)),
        builder.icmp_signed(">", status, ir.Constant(_STATUS, 0)),
    )
    with builder.if_then(failed, likely=False):
        builder.ret(ir.Constant(_STATUS, 1))
    for i in range(n_results):
        place = builder.gep(given[0], [_FIRST, ir.Constant(_STATUS, i)] if is_tuple else [_FIRST])
        value = builder.load(place)
        builder.store(value, take(value.type.as_pointer()))
    following = take(_ENTRY.as_pointer())
    with builder.if_then(builder.icmp_unsigned("==", following, following.type(None))):
        builder.ret(ir.Constant(_STATUS, 0))
    builder.ret(builder.call(following, [next(places)]))
