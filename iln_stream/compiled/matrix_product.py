"""Products of small matrices in single precision.

A BLAS differs from one installation to the next, and so do its results. These loops always add in
the same order.
"""

from iln_stream.compiled.jit import compiled, compiled_once
from iln_stream.compiled.wide_lanes import LANES, load, spread, store, transpose_tile


@compiled_once
def set_product(A, B, bias, C):  # type: ignore[no-untyped-def]
    """C = A B + bias for A (m, k), B (k, n), C (m, n), bias (1, n) in each row.

    m is 1 or a multiple of 4, n of 32. Rows of B and C are contiguous. A tile of C, 4 rows of 32,
    stays in registers.
    """
    if A.shape[0] == 1:
        if C.shape[1] % (4 * LANES) == 0:
            set_sparse_product(A, B, bias, C)  # it reads B in order
        else:
            _set_row_product(A, B, bias, C)
        return
    for i in range(0, A.shape[0], 4):
        for j in range(0, C.shape[1], 2 * LANES):
            c00, c01 = load(bias, 0, j), load(bias, 0, j + LANES)
            c10, c11 = c00, c01
            c20, c21 = c00, c01
            c30, c31 = c00, c01
            for k in range(A.shape[1]):
                b0, b1 = load(B, k, j), load(B, k, j + LANES)
                a = spread(A[i, k])
                c00, c01 = c00 + a * b0, c01 + a * b1
                a = spread(A[i + 1, k])
                c10, c11 = c10 + a * b0, c11 + a * b1
                a = spread(A[i + 2, k])
                c20, c21 = c20 + a * b0, c21 + a * b1
                a = spread(A[i + 3, k])
                c30, c31 = c30 + a * b0, c31 + a * b1
            store(C, i, j, c00)
            store(C, i, j + LANES, c01)
            store(C, i + 1, j, c10)
            store(C, i + 1, j + LANES, c11)
            store(C, i + 2, j, c20)
            store(C, i + 2, j + LANES, c21)
            store(C, i + 3, j, c30)
            store(C, i + 3, j + LANES, c31)


@compiled_once
def _set_row_product(A, B, bias, C):  # type: ignore[no-untyped-def]
    """C = A B + bias for one row, and an even number of rows of B: these go into two sums."""
    for j in range(0, C.shape[1], 2 * LANES):
        c0, c1 = load(bias, 0, j), load(bias, 0, j + LANES)
        d0, d1 = spread(0.0), spread(0.0)
        for k in range(0, A.shape[1], 2):
            a = spread(A[0, k])
            c0, c1 = c0 + a * load(B, k, j), c1 + a * load(B, k, j + LANES)
            a = spread(A[0, k + 1])
            d0, d1 = d0 + a * load(B, k + 1, j), d1 + a * load(B, k + 1, j + LANES)
        store(C, 0, j, c0 + d0)
        store(C, 0, j + LANES, c1 + d1)


@compiled_once
def set_sparse_product(A, B, bias, C):  # type: ignore[no-untyped-def]
    """Do `set_product`'s work for any m, and n a multiple of 64; skip zeros of A."""
    for i in range(A.shape[0]):
        for j in range(0, C.shape[1], 4 * LANES):
            c0, c1 = load(bias, 0, j), load(bias, 0, j + LANES)
            c2, c3 = load(bias, 0, j + 2 * LANES), load(bias, 0, j + 3 * LANES)
            for k in range(A.shape[1]):
                if A[i, k] != 0.0:
                    a = spread(A[i, k])
                    c0, c1 = c0 + a * load(B, k, j), c1 + a * load(B, k, j + LANES)
                    c2 = c2 + a * load(B, k, j + 2 * LANES)
                    c3 = c3 + a * load(B, k, j + 3 * LANES)
            store(C, i, j, c0)
            store(C, i, j + LANES, c1)
            store(C, i, j + 2 * LANES, c2)
            store(C, i, j + 3 * LANES, c3)


@compiled
def transpose(A, T):  # type: ignore[no-untyped-def]
    """T = A' for A (m, n), both sizes multiples of 16."""
    for i in range(0, A.shape[0], LANES):
        for j in range(0, A.shape[1], LANES):
            transpose_tile(A, i, j, T)


@compiled
def add_rows(A, total):  # type: ignore[no-untyped-def]
    """total (1, n) = the sum of A's rows (m, n); n a multiple of 16."""
    for j in range(0, A.shape[1], LANES):
        s = load(A, 0, j)
        for i in range(1, A.shape[0]):
            s = s + load(A, i, j)
        store(total, 0, j, s)
