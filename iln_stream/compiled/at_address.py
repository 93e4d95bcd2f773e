"""Calling compiled functions by address: the same machine code, so the same bits, as Python calls.

A function that is inlined instead is compiled again, which may round differently and takes long.
"""

from typing import Any

from numba import typeof, types
from numba.core import cgutils
from numba.extending import intrinsic


def address_of(function: Any, *arguments: Any) -> int:
    """Return the address of a compiled function's code for arguments of these types."""
    kinds = tuple(map(typeof, arguments))
    function.compile(kinds)  # at once if that is done
    result = function.overloads[kinds]
    address: int = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
    return address


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
