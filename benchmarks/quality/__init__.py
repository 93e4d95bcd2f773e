"""The quality suite: how well learners predict streams, one event at a time, and what it costs.

`python -m benchmarks.quality --help` says what it can do; docs/quality.md says what it measures.
"""
