"""`iln-stream demo`: our learners and River's on two streams, with a table and a picture.

- `demo.py`: runs the demo;
- `contenders.py`: its streams and models;
- `trajectory.py`: records a run;
- `picture.py`: draws the recorded runs.
"""

from iln_stream.demo.demo import run_demo

__all__ = ["run_demo"]
