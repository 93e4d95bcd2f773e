"""The HTTP API: predicts with published versions, and appends events and labels to a log.

It runs in a separate process and never learns. Where to add

- a route: `routes.py`, and its row in `app.py`;
- a setting: `settings.py`; a limit: `limits.py`; a metric: `metrics.py`.

Modules, in the order of a request:

- `server.py`: builds everything from settings, and runs uvicorn;
- `protocol.py`: HTTP/1.1 with time limits; `tls.py`: TLS and mutual TLS;
- `app.py`: the application; `gate.py`: checks that every request passes;
- `auth.py`: tokens; `limits.py`: rate, concurrency, bodies; `http_error.py`: errors;
- `routes.py`: the handlers; `decoding.py`, `messages.py`: what they read and answer;
- `models.py`: follows published versions; `predicting.py`: predicts with one;
- `records.py`: makes records of events and labels; `appending.py`: appends them in groups;
- `openapi.py`: the description; `metrics.py`: the metrics.
"""

from iln_stream.api.settings import ApiSettings

__all__ = ["ApiSettings"]
