"""Explicit vectors of sixteen numbers in single precision, with arithmetic.

Loops of known shape, such as matrix products, are written with them tile by tile: the compiler
keeps a tile in registers. The order of additions is the written one, so results do not depend on
the width that a processor's vectors have.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 16


class _WideLanes(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name="WideLanes")


_LANES = _WideLanes()
_SINGLE = ir.FloatType()
_VECTOR = ir.VectorType(_SINGLE, LANES)
_FAST = ("contract", "arcp", "nsz")


@register_model(_WideLanes)
class _WideLanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes: Any) -> None:
        super().__init__(manager, lanes, _VECTOR)


def _arithmetic(function: Any, instruction: Callable[..., Any]) -> None:
    """Let an operator of two vectors work lane by lane."""

    @infer_global(function)
    class _Template(ConcreteTemplate):  # type: ignore[misc]
        cases = (signature(_LANES, _LANES, _LANES),)

    @lower_builtin(function, _LANES, _LANES)  # type: ignore[untyped-decorator]
    def _lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return instruction(builder, *arguments)


_arithmetic(operator.add, lambda builder, a, b: builder.fadd(a, b, flags=_FAST))
_arithmetic(operator.sub, lambda builder, a, b: builder.fsub(a, b, flags=_FAST))
_arithmetic(operator.mul, lambda builder, a, b: builder.fmul(a, b, flags=_FAST))
_arithmetic(operator.truediv, lambda builder, a, b: builder.fdiv(a, b, flags=_FAST))


@intrinsic  # type: ignore[untyped-decorator]
def smaller(typing_context: Any, a: Any, b: Any) -> Any:
    """Return min(a, b), lane by lane; b where one of them is nan."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *arguments), *arguments)

    return _LANES(_LANES, _LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def larger(typing_context: Any, a: Any, b: Any) -> Any:
    """Return max(a, b), lane by lane; b where one of them is nan."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return _LANES(_LANES, _LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def choose(typing_context: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """Return x where a >= b, elsewhere y."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, x, y = arguments
        return builder.select(builder.fcmp_ordered(">=", a, b), x, y)

    return _LANES(_LANES, _LANES, _LANES, _LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def root(typing_context: Any, a: Any) -> Any:
    """Return the square roots."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        function = get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{LANES}f32")
        return builder.call(function, arguments)

    return _LANES(_LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def spread(typing_context: Any, value: Any) -> Any:
    """Return sixteen times the same number, in single precision."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one = builder.insert_element(
            ir.Constant(_VECTOR, ir.Undefined), arguments[0], ir.Constant(ir.IntType(32), 0)
        )
        mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), mask)

    return _LANES(types.float32), generate


def _address(context: Any, builder: Any, kind: Any, array: Any, i: Any, j: Any) -> Any:
    """Address of the vector at [i, j] of an array (m, n) whose rows are contiguous, unchecked."""
    made = context.make_array(kind)(context, builder, array)
    data = builder.bitcast(made.data, ir.IntType(8).as_pointer())
    row = builder.gep(data, [builder.mul(i, builder.extract_value(made.strides, 0))])
    first = builder.gep(builder.bitcast(row, _SINGLE.as_pointer()), [j])
    return builder.bitcast(first, _VECTOR.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def load(typing_context: Any, array: Any, i: Any, j: Any) -> Any:
    """Return array[i, j : j + 16] of an array (m, n) whose rows are contiguous, unchecked."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = builder.load(_address(context, builder, signature.args[0], *arguments))
        vector.align = 4
        return vector

    return _LANES(array, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, array: Any, i: Any, j: Any, vector: Any) -> Any:
    """Set array[i, j : j + 16] of an array (m, n) whose rows are contiguous, unchecked."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, i, j, vector = arguments
        builder.store(vector, _address(context, builder, signature.args[0], array, i, j), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, _LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def transpose_tile(typing_context: Any, source: Any, i: Any, j: Any, target: Any) -> Any:
    """Set target[j : j + 16, i : i + 16] to the transpose of source[i : i + 16, j : j + 16]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, i, j, target = arguments

        def pointer(k: int, array: int, at: Any, row: Any, column: Any) -> Any:
            row = builder.add(row, ir.Constant(row.type, k))
            return _address(context, builder, signature.args[array], at, row, column)

        rows = []
        for k in range(LANES):
            rows.append(builder.load(pointer(k, 0, source, i, j)))
            rows[k].align = 4
        integers, lanes = ir.VectorType(ir.IntType(32), LANES), range(LANES)
        half = 1
        while half < LANES:
            # Within each square of twice this size, swap the two quarters off the diagonal.
            low = ir.Constant(integers, [LANES + k - half if k & half else k for k in lanes])
            high = ir.Constant(integers, [LANES + k if k & half else k + half for k in lanes])
            for k in (k for k in lanes if not k & half):
                upper, lower = rows[k], rows[k + half]
                rows[k] = builder.shuffle_vector(upper, lower, low)
                rows[k + half] = builder.shuffle_vector(upper, lower, high)
            half *= 2
        for k in range(LANES):
            builder.store(rows[k], pointer(k, 3, target, j, i), align=4)
        return context.get_dummy_value()

    return types.void(source, types.intp, types.intp, target), generate


@intrinsic  # type: ignore[untyped-decorator]
def total(typing_context: Any, vector: Any) -> Any:
    """Return the sum over lanes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (vector,) = arguments
        half = LANES
        while half > 1:
            half //= 2
            of_half = ir.VectorType(ir.IntType(32), half)
            low = builder.shuffle_vector(vector, vector, ir.Constant(of_half, list(range(half))))
            high = builder.shuffle_vector(
                vector, vector, ir.Constant(of_half, list(range(half, 2 * half)))
            )
            vector = builder.fadd(low, high)
        return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))

    return types.float32(_LANES), generate
