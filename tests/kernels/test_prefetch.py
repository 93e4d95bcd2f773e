import re

import numpy as np
from numba import njit

from iln_stream.kernels.vectors import prefetch


@njit
def sum_with_prefetch(a, ahead):
    """Sum a, and prefetch the number `ahead` of each."""
    total = 0.0
    for i in range(len(a)):
        prefetch(a, i + ahead)
        total += a[i]
    return total


def test_the_compiler_prefetches_for_reading_into_all_caches():
    """LLVM is given its intrinsic with the arguments read, keep, data: else nothing is fetched."""
    sum_with_prefetch(np.ones(3, np.float32), 1)
    (code,) = sum_with_prefetch.inspect_llvm().values()
    calls = re.findall(r"call void @llvm\.prefetch\S*\((.*)\)", code)
    assert calls
    assert all(re.search(r"i32 0, i32 3, i32 1$", arguments) for arguments in calls)


def test_no_value_changes_and_no_address_fails():
    """Prefetching is a hint: the array stays as it is, and addresses beyond its end do no harm."""
    a = np.arange(100, dtype=np.float32)
    for ahead in (0, 16, -1_000, 2**40):
        assert sum_with_prefetch(a, ahead) == 4950.0
    assert a.tolist() == list(range(100))
