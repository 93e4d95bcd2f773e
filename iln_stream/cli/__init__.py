"""The command line, `iln-stream`."""

import gc

__all__ = ["main"]


def main() -> None:
    """Run the command line; see `iln_stream.cli.app.main`."""
    gc.disable()  # imported modules are no garbage: collections slow the imports by a tenth
    try:
        from iln_stream.cli.app import main
    finally:
        gc.enable()
    main()
