"""Asking for the widest vectors."""

from typing import Any

from numba import types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def widest_vectors(typing_context: Any) -> Any:
    """Let the loops of the function that calls this use 512-bit vectors, where there are any.

    LLVM prefers 256 bits on most machines that have both; here 512 take about 2/3 of the time.
    A function that is inlined follows its caller's wish.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # llvmlite's own `add` knows only the attributes that have no value.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), generate
