"""The command line, `iln-stream`."""

from iln_stream.cli.app import main

__all__ = ["main"]
