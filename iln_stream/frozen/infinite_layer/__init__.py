"""Predictors of frozen infinite-layer learners: NumPy only, no compiled code, no learner.

A model is a tree of arrays. `fast`, `accurate` and `classes` compute the predictions of the three
learners from it, and are the documentation of what the arrays mean.
"""
