"""`iln-stream serve`: runs the HTTP API."""

from iln_stream.api import ApiSettings
from iln_stream.errors import IlnError


def serve_api(settings: ApiSettings) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises
    ------
    IlnError
        When the extra `api` is not installed, or a setting is invalid.

    """
    try:
        from iln_stream.api.server import ApiServer
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "iln_stream":
            raise
        raise IlnError(
            f"serve: {error.name} is not installed: pip install 'iln-stream[api]'"
        ) from None
    ApiServer(settings).run()
