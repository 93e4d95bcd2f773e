"""Rows of the dashboard: each module has the graphs that answer one question."""
