"""The page's static files, kept in memory."""

import gzip
import hashlib
from importlib import resources
from pathlib import PurePosixPath

from starlette.requests import Request
from starlette.responses import Response

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of each answer: the page loads nothing from elsewhere, and runs only its own files."""


class StaticFile:
    """One file, as it is and compressed."""

    def __init__(self, name: str, content: bytes) -> None:
        self._type = _TYPES[PurePosixPath(name).suffix]
        self.plain = content
        self.compressed = gzip.compress(content, mtime=0)
        self._tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'

    def answer(self, request: Request) -> Response:
        """Answer a request; without the content if the browser has it."""
        headers = {
            "Cache-Control": "no-cache",
            "Content-Type": self._type,
            "ETag": self._tag,
            "Vary": "Accept-Encoding",
        }
        if request.headers.get("if-none-match") == self._tag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self.compressed, headers={**headers, "Content-Encoding": "gzip"})
        return Response(self.plain, headers=headers)


def static_files() -> dict[str, StaticFile]:
    """Return the files by path; `/` is index.html."""
    folder = resources.files("iln_stream.page") / "static"
    files = {f"/{each.name}": StaticFile(each.name, each.read_bytes()) for each in folder.iterdir()}
    return {"/": files.pop("/index.html"), **files}
