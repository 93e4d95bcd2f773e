"""Reading an ASGI scope."""

from starlette.types import Scope


def header(scope: Scope, name: bytes) -> bytes | None:
    """Return a header's value, by its name in lower case; None if the request does not have it."""
    for each, value in scope["headers"]:
        if each == name:
            return value  # type: ignore[no-any-return]
    return None
