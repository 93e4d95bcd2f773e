"""Batch methods that the paper's sources compare with, on arrays."""
