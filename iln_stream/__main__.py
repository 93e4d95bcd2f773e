"""`python -m iln_stream` is the command `iln-stream`."""

from iln_stream.cli import main

if __name__ == "__main__":
    main()
