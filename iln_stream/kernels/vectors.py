"""Explicit vectors and other instructions that numba has no words for.

numba's `reshape` checks sizes, and compiles fifty functions for the message of its error.

A row has few columns, and their number is known only at run time. The compiler's wide, unrolled
loop leaves most of such a row to a scalar remainder loop.

Loops of known shape, such as matrix products, are written with them tile by tile: the compiler
keeps a tile in registers. The order of additions is the written one, so results do not depend on
the width that a processor's vectors have.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.cgutils import get_or_insert_function
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model
from numba.np.arrayobj import populate_array


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


WIDE_LANES = 16


class _WideLanes(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name="WideLanes")


_WIDE_LANES = _WideLanes()
_WIDE_VECTOR = ir.VectorType(_SINGLE, WIDE_LANES)
_FAST = ("contract", "arcp", "nsz")


@register_model(_WideLanes)
class _WideLanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes: Any) -> None:
        super().__init__(manager, lanes, _WIDE_VECTOR)


def _arithmetic(function: Any, instruction: Callable[..., Any]) -> None:
    """Let an operator of two vectors work lane by lane."""

    @infer_global(function)
    class _Template(ConcreteTemplate):  # type: ignore[misc]
        cases = (signature(_WIDE_LANES, _WIDE_LANES, _WIDE_LANES),)

    @lower_builtin(function, _WIDE_LANES, _WIDE_LANES)  # type: ignore[untyped-decorator]
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

    return _WIDE_LANES(_WIDE_LANES, _WIDE_LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def larger(typing_context: Any, a: Any, b: Any) -> Any:
    """Return max(a, b), lane by lane; b where one of them is nan."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return _WIDE_LANES(_WIDE_LANES, _WIDE_LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def choose(typing_context: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """Return x where a >= b, elsewhere y."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, x, y = arguments
        return builder.select(builder.fcmp_ordered(">=", a, b), x, y)

    return _WIDE_LANES(_WIDE_LANES, _WIDE_LANES, _WIDE_LANES, _WIDE_LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def root(typing_context: Any, a: Any) -> Any:
    """Return the square roots."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_WIDE_VECTOR, [_WIDE_VECTOR])
        function = get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{WIDE_LANES}f32")
        return builder.call(function, arguments)

    return _WIDE_LANES(_WIDE_LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def spread(typing_context: Any, value: Any) -> Any:
    """Return sixteen times the same number, in single precision."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one = builder.insert_element(
            ir.Constant(_WIDE_VECTOR, ir.Undefined), arguments[0], ir.Constant(ir.IntType(32), 0)
        )
        mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDE_LANES), [0] * WIDE_LANES)
        return builder.shuffle_vector(one, ir.Constant(_WIDE_VECTOR, ir.Undefined), mask)

    return _WIDE_LANES(types.float32), generate


def _address(context: Any, builder: Any, kind: Any, array: Any, i: Any, j: Any) -> Any:
    """Address of the vector at [i, j] of an array (m, n) whose rows are contiguous, unchecked."""
    made = context.make_array(kind)(context, builder, array)
    data = builder.bitcast(made.data, ir.IntType(8).as_pointer())
    row = builder.gep(data, [builder.mul(i, builder.extract_value(made.strides, 0))])
    first = builder.gep(builder.bitcast(row, _SINGLE.as_pointer()), [j])
    return builder.bitcast(first, _WIDE_VECTOR.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def load(typing_context: Any, array: Any, i: Any, j: Any) -> Any:
    """Return array[i, j : j + 16] of an array (m, n) whose rows are contiguous, unchecked."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = builder.load(_address(context, builder, signature.args[0], *arguments))
        vector.align = 4
        return vector

    return _WIDE_LANES(array, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, array: Any, i: Any, j: Any, vector: Any) -> Any:
    """Set array[i, j : j + 16] of an array (m, n) whose rows are contiguous, unchecked."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, i, j, vector = arguments
        builder.store(vector, _address(context, builder, signature.args[0], array, i, j), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, _WIDE_LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def transpose_tile(typing_context: Any, source: Any, i: Any, j: Any, target: Any) -> Any:
    """Set target[j : j + 16, i : i + 16] to the transpose of source[i : i + 16, j : j + 16]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, i, j, target = arguments

        def pointer(k: int, array: int, at: Any, row: Any, column: Any) -> Any:
            row = builder.add(row, ir.Constant(row.type, k))
            return _address(context, builder, signature.args[array], at, row, column)

        rows = []
        for k in range(WIDE_LANES):
            rows.append(builder.load(pointer(k, 0, source, i, j)))
            rows[k].align = 4
        integers, lanes = ir.VectorType(ir.IntType(32), WIDE_LANES), range(WIDE_LANES)
        half = 1
        while half < WIDE_LANES:
            # Within each square of twice this size, swap the two quarters off the diagonal.
            low = ir.Constant(integers, [WIDE_LANES + k - half if k & half else k for k in lanes])
            high = ir.Constant(integers, [WIDE_LANES + k if k & half else k + half for k in lanes])
            for k in (k for k in lanes if not k & half):
                upper, lower = rows[k], rows[k + half]
                rows[k] = builder.shuffle_vector(upper, lower, low)
                rows[k + half] = builder.shuffle_vector(upper, lower, high)
            half *= 2
        for k in range(WIDE_LANES):
            builder.store(rows[k], pointer(k, 3, target, j, i), align=4)
        return context.get_dummy_value()

    return types.void(source, types.intp, types.intp, target), generate


@intrinsic  # type: ignore[untyped-decorator]
def total(typing_context: Any, vector: Any) -> Any:
    """Return the sum over lanes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (vector,) = arguments
        half = WIDE_LANES
        while half > 1:
            half //= 2
            of_half = ir.VectorType(ir.IntType(32), half)
            low = builder.shuffle_vector(vector, vector, ir.Constant(of_half, list(range(half))))
            high = builder.shuffle_vector(
                vector, vector, ir.Constant(of_half, list(range(half, 2 * half)))
            )
            vector = builder.fadd(low, high)
        return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))

    return types.float32(_WIDE_LANES), generate
