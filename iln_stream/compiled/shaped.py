"""Views of flat arrays, for compiled functions.

numba's `reshape` checks sizes, and compiles fifty functions for the message of its error.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array


@intrinsic  # type: ignore[untyped-decorator]
def shaped(typing_context: Any, array: Any, start: Any, shape: Any) -> Any:
    """Return entries of a contiguous array, from `start` on, as an array of a shape; unchecked."""
    kind = types.Array(array.dtype, len(shape), "C", readonly=not array.mutable)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        flat = context.make_array(signature.args[0])(context, builder, arguments[0])
        made = context.make_array(kind)(context, builder)
        sizes = cgutils.unpack_tuple(builder, arguments[2], len(shape))
        strides = [flat.itemsize]
        for size in reversed(sizes[1:]):
            strides.insert(0, builder.mul(size, strides[0]))
        populate_array(
            made,
            data=builder.gep(flat.data, [arguments[1]]),
            shape=sizes,
            strides=strides,
            itemsize=flat.itemsize,
            meminfo=flat.meminfo,
            parent=flat.parent,
        )
        return impl_ret_borrowed(context, builder, kind, made._getvalue())

    return kind(array, types.intp, types.UniTuple(types.intp, len(shape))), generate
