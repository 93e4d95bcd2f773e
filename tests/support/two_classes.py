"""Small data sets for tests of the related methods, as rows and as events."""

import numpy as np
from river import base


def blobs(n, d=3, seed=0):
    """Return X (n, d) and signs y of two overlapping classes with a curved border."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    margin = X[:, 0] + 0.5 * X[:, 1] ** 2 - 0.5 + 0.3 * rng.standard_normal(n)
    return X, np.where(margin > 0, 1.0, -1.0)


def events(X, y):
    """Yield each row as a dict of named inputs, with a boolean label."""
    for x_i, y_i in zip(X, y, strict=True):
        yield as_dict(x_i), bool(y_i > 0)


def as_dict(x):
    return {f"x{j}": float(v) for j, v in enumerate(x)}


def learn_all(model, X, y):
    """Let a model learn the rows, with the numbers y or, if it is a classifier, their signs."""
    is_classifier = isinstance(model, base.Classifier)
    for x_i, y_i in zip(X, y, strict=True):
        model.learn_one(as_dict(x_i), bool(y_i > 0) if is_classifier else float(y_i))
    return model
