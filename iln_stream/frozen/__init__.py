"""The learned function as a finite network, usable without the rest of this package."""

from iln_stream.frozen.freezing import freeze
from iln_stream.frozen.network import FrozenNetwork

__all__ = ["FrozenNetwork", "freeze"]
