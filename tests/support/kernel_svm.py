"""The support vector machine without an intercept, solved by its dual."""

import numpy as np
from scipy.optimize import minimize


def optimum(K, y, lam):
    """Return the optimum of lam / 2 ||f||^2 + mean hinge on a Gram matrix K."""
    Q, n = K * np.outer(y, y), len(y)
    C = 1 / (lam * n)
    dual = minimize(
        lambda a: (a @ Q @ a / 2 - a.sum(), Q @ a - 1),
        np.full(n, C / 2),
        jac=True,
        bounds=[(0, C)] * n,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-10},
    )
    return -dual.fun * lam
