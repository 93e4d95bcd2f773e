"""The quality suite: the accuracy and cost of learners on streams, one event at a time.

`python -m benchmarks.quality --help` lists its commands; docs/accuracy.md describes its measures.
"""
