"""Arrays without a count of references."""

from typing import Any

from llvmlite import ir
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def borrowed(typing_context: Any, array: Any) -> Any:
    """Return the array without its count of references.

    Each slice of an array counts as a reference to it, at some 20 ns; slices of this one are free.
    They must not outlive the call that the array was passed to.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(array)(context, builder, arguments[0])
        made.meminfo = ir.Constant(made.meminfo.type, None)
        made.parent = ir.Constant(made.parent.type, None)
        return made._getvalue()

    return array(array), generate
