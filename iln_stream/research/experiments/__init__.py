"""Experiments that confirm or refute figures of the paper and its sources."""
