"""`iln-stream page`: serves the page of a running learner."""

from iln_stream.errors import IlnError
from iln_stream.page import PageSettings


def serve_page(settings: PageSettings) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises
    ------
    IlnError
        When the extra `api` is not installed, or the address can't be listened on.

    """
    try:
        from iln_stream.page.server import PageServer
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "iln_stream":
            raise
        raise IlnError(
            f"page: {error.name} is not installed: pip install 'iln-stream[api]'"
        ) from None
    PageServer(settings).run()
