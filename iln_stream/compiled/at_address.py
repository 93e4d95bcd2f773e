"""Calling compiled functions by address: the same machine code, so the same bits, as Python calls.

A function that is inlined instead is compiled again, which may round differently and takes long.
"""

from typing import Any

import numpy as np
from numba import typeof, types
from numba.core import cgutils
from numba.extending import intrinsic


def address_of(function: Any, *arguments: Any) -> int:
    """Return the address of a compiled function's code for arguments of these types."""
    key = function, *map(_kind, arguments)
    if key not in _ADDRESSES:  # numba takes a fifth of a millisecond to answer
        kinds = tuple(map(typeof, arguments))
        function.compile(kinds)  # at once if that is done
        result = function.overloads[kinds]
        name = result.fndesc.llvm_func_name
        _ADDRESSES[key] = result.library.get_pointer_to_function(name)
    return _ADDRESSES[key]


_ADDRESSES: dict[Any, int] = {}
"""By function and kinds of arguments: code is never moved or removed."""


def _kind(argument: Any) -> Any:
    """What of an argument its type depends on."""
    if not isinstance(argument, np.ndarray):
        return type(argument)
    flags = argument.flags
    layout = flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    return argument.dtype, argument.ndim, layout


def _caller(result: Any) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def call(typing_context: Any, address: Any, arguments: Any) -> Any:
        kinds = tuple(arguments.types)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            convention = context.call_conv
            function_type = convention.get_function_type(result, kinds)
            function = builder.inttoptr(values[0], function_type.as_pointer())
            unpacked = cgutils.unpack_tuple(builder, values[1], len(kinds))
            status, value = convention.call_function(builder, function, result, kinds, unpacked)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return value

        return result(address, arguments), generate

    return call


call_float = _caller(types.float64)
call_int = _caller(types.int64)
"""Call the function at an address with a tuple of arguments, whose types must be its own; these
return a float and an integer."""
