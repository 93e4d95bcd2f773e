"""The command line, `iln-stream`.

`app.py` declares the commands and reports their errors, `log_app.py` declares those of embedded
logs; each command's work is in the module of its name. `command.py` has what all commands share,
`flags.py` makes a flag for each setting, `logs.py` sets up the log, and `replay_marks.py` remembers
which dead letters were replayed.
"""

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
