"""A first look: two streams, River's usual models beside ours, a table and a picture."""

from iln_stream.demo.demo import run_demo

__all__ = ["run_demo"]
