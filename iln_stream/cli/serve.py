"""`iln-stream serve` and `iln-stream page`."""

from collections.abc import Iterator
from contextlib import contextmanager

from iln_stream.errors import IlnError
from iln_stream.serving.settings import ApiSettings, PageSettings


def serve_api(settings: ApiSettings) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises
    ------
    IlnError
        When the extra `api` is not installed, or a setting is invalid.

    """
    with _extra_for("serve"):
        from iln_stream.serving.server import ApiServer
    ApiServer(settings).run()


def serve_page(settings: PageSettings) -> None:
    """Serve until SIGINT or SIGTERM; errors as of `serve_api`."""
    with _extra_for("page"):
        from iln_stream.serving.page_server import PageServer
    PageServer(settings).run()


@contextmanager
def _extra_for(command: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "iln_stream":
            raise
        raise IlnError(
            f"{command}: {error.name} is not installed: pip install 'iln-stream[api]'"
        ) from None
