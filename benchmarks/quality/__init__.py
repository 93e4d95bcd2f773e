"""The quality suite: the accuracy and cost of learners on streams, one event at a time.

`python -m benchmarks.quality --help` says what it can do; docs/quality.md says what it measures.
"""
