"""Prefetching memory before it is needed."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing_context: Any, array: Any, i: Any) -> Any:
    """Prefetch the cache line of array[i]; the array is contiguous and one-dimensional."""
    signature = types.void(array, types.intp)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.PointerType(ir.IntType(8)))
        of = ir.FunctionType(ir.VoidType(), [address.type, *[ir.IntType(32)] * 3])
        call = builder.module.declare_intrinsic("llvm.prefetch", [address.type], of)
        read, keep, data_cache = (ir.Constant(ir.IntType(32), v) for v in (0, 3, 1))
        builder.call(call, [address, read, keep, data_cache])
        return context.get_dummy_value()

    return signature, generate
