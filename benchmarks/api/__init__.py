"""Predictions over HTTP while a learner learns; `python -m benchmarks.api`."""
