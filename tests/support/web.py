"""Requests to servers of this machine."""

import urllib.error
import urllib.request

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Bypasses any proxy in the environment."""


def ask(
    url: str, method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, str]:
    """Return the status and the text of an answer."""
    request = urllib.request.Request(url, body, headers, method=method)
    try:
        with DIRECT.open(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def answers(url: str) -> bool:
    """Whether a probe answers 200."""
    try:
        with DIRECT.open(url, timeout=10):
            return True
    except OSError:
        return False
