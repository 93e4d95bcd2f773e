"""How many different names there were, in a kilobyte."""

import math

import numpy as np

from iln_stream.learners.infinite_layer.categories.hashed_name import N_REGISTERS, HashedName


class DistinctNames:
    """Estimates the number of distinct names that were added, within about 3 %.

    HyperLogLog [^1]: a register keeps the most leading zeros among the hashes assigned to it.

    References
    ----------
    [^1]: P. Flajolet, É. Fusy, O. Gandouet, F. Meunier. HyperLogLog: the analysis of a near-optimal
    cardinality estimation algorithm. AofA 2007.

    """

    def __init__(self) -> None:
        self.registers = np.zeros(N_REGISTERS, np.uint8)

    def add(self, name: HashedName) -> None:
        """Count a name, unless it was counted before."""
        if name.rank > self.registers[name.register]:
            self.registers[name.register] = name.rank

    @property
    def estimate(self) -> float:
        """Estimated number of distinct names."""
        m = N_REGISTERS
        n_empty = m - int(np.count_nonzero(self.registers))
        raw = (
            0.7213 / (1.0 + 1.079 / m) * m * m / float(np.exp2(-self.registers.astype(float)).sum())
        )
        return m * math.log(m / n_empty) if raw <= 2.5 * m and n_empty else raw
