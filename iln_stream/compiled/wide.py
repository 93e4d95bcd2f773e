"""Requesting the widest vectors."""

from typing import Any

from numba import types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def widest_vectors(typing_context: Any) -> Any:
    """Let loops of the calling function use 512-bit vectors, where the processor has them.

    LLVM prefers 256 bits on most machines that have both; here 512 take about 2/3 of the time.
    An inlined function follows its caller's setting.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # llvmlite's own `add` accepts only attributes without a value.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), generate
