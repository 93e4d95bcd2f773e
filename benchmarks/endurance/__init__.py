"""Endurance: every public learner over a million events of eight kinds of streams.

`python -m benchmarks.endurance --help` lists the commands; docs/endurance.md has the results.
"""
