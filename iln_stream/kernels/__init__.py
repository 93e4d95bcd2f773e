"""Compiled inner loops (numba): arrays in, numbers out; the classes around them are elsewhere."""
