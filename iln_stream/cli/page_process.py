"""The page as a child of a run: `python -m iln_stream.cli.page_process SOCKET LEARNER FORMAT`.

It ends when its standard input does.
"""

import os
import socket
import sys
import threading

from iln_stream.cli.command import console
from iln_stream.cli.logs import Form, set_up_logging
from iln_stream.serving.page_server import PageServer
from iln_stream.serving.settings import PageSettings


def main(descriptor: str, learner: str, form: Form) -> None:
    """Serve on an open socket."""
    set_up_logging(console, "warning", form)  # the run itself logs the address
    # Constructed, not read: variables are for the command `page`.
    settings = PageSettings.model_construct(learner=learner)
    server = PageServer(settings, socket.socket(fileno=int(descriptor)))

    def stop_with_the_run() -> None:
        while os.read(0, 1024):
            pass
        server.stop()

    threading.Thread(target=stop_with_the_run, daemon=True).start()
    server.run()


if __name__ == "__main__":
    main(*sys.argv[1:])  # type: ignore[arg-type]
