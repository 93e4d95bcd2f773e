"""Explicit vectors of eight numbers, for loops too short for the compiler to vectorise.

A row has few columns, and their number is known only at run time. The compiler's wide, unrolled
loop leaves most of such a row to a scalar remainder loop.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

LANES = 8


class _Lanes(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name="Lanes")


_LANES = _Lanes()
_SINGLE = ir.FloatType()
_VECTOR = ir.VectorType(_SINGLE, LANES)


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes: Any) -> None:
        super().__init__(manager, lanes, _VECTOR)


@intrinsic  # type: ignore[untyped-decorator]
def no_lanes(typing_context: Any) -> Any:
    """Return eight zeros."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ir.Constant(_VECTOR, [0.0] * LANES)

    return _LANES(), generate


@intrinsic  # type: ignore[untyped-decorator]
def lanes(typing_context: Any, array: Any, i: Any) -> Any:
    """Return array[i : i + 8] of a contiguous array in single precision, unchecked."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.gep(data, [arguments[1]])
        vector = builder.load(builder.bitcast(address, _VECTOR.as_pointer()))
        vector.align = 4
        return vector

    return _LANES(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def plus_product(typing_context: Any, total: Any, a: Any, b: Any) -> Any:
    """Return total + a b, lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total, a, b = arguments
        fast = ("contract",)
        return builder.fadd(total, builder.fmul(a, b, flags=fast), flags=fast)

    return _LANES(_LANES, _LANES, _LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def minus(typing_context: Any, a: Any, b: Any) -> Any:
    """Return a - b, lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fsub(*arguments)

    return _LANES(_LANES, _LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def sum_of(typing_context: Any, vector: Any) -> Any:
    """Return the sum over lanes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (vector,) = arguments
        half = LANES
        while half > 1:
            half //= 2
            mask = ir.Constant(ir.VectorType(ir.IntType(32), half), list(range(half)))
            upper = ir.Constant(ir.VectorType(ir.IntType(32), half), list(range(half, 2 * half)))
            low = builder.shuffle_vector(vector, vector, mask)
            high = builder.shuffle_vector(vector, vector, upper)
            vector = builder.fadd(low, high)
        return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))

    return types.float32(_LANES), generate
