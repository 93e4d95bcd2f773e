"""The worth of each ingredient of the accurate profile."""
