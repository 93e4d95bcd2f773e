"""`iln-stream serve` and `iln-stream page`."""

from iln_stream.errors import IlnError
from iln_stream.serving.settings import ApiSettings, PageSettings


def serve_api(settings: ApiSettings) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises
    ------
    IlnError
        When the extra `api` is not installed, or a setting is invalid.

    """
    try:
        from iln_stream.serving.server import ApiServer
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "iln_stream":
            raise
        raise IlnError(
            f"serve: {error.name} is not installed: pip install 'iln-stream[api]'"
        ) from None
    ApiServer(settings).run()


def serve_page(settings: PageSettings) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises
    ------
    IlnError
        When the extra `api` is not installed, or the address can't be listened on.

    """
    try:
        from iln_stream.serving.page_server import PageServer
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "iln_stream":
            raise
        raise IlnError(
            f"page: {error.name} is not installed: pip install 'iln-stream[api]'"
        ) from None
    PageServer(settings).run()
