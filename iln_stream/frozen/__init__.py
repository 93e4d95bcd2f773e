"""The learned function as a finite network that needs none of the rest, nor this package."""

from iln_stream.frozen.freezing import freeze
from iln_stream.frozen.network import FrozenNetwork

__all__ = ["FrozenNetwork", "freeze"]
