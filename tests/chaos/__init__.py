"""Learners and brokers killed at random moments, and floods of garbage, against real brokers.

`python -m chaos` (as `make chaos`) runs the full counts; the tests run fewer.
"""
