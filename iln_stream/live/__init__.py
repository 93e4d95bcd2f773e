"""What a learner is doing now, as JSON for the live page: `GET /live`.

- `curves.py`: metrics over the events, at a bounded number of points;
- `rows.py`: steps, dead letters and other entries as bounded JSON values;
- `model.py`: a listener that remembers the latest of one learner, and describes it;
- `route.py`: the WSGI application; `merged_route.py`: that of several processes.
"""

from iln_stream.live.curves import Curves
from iln_stream.live.merged_route import merged_live_route
from iln_stream.live.model import About, LiveModel
from iln_stream.live.route import live_route

__all__ = ["About", "Curves", "LiveModel", "live_route", "merged_live_route"]
