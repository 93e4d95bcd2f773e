"""Nystroem features, and landmarks sampled from a stream."""

import numpy as np

from iln_stream.features.base import Array, Kernel, at_least_one


def whitening(K: Array) -> Array:
    """Return U L^{-1/2}, shape (m, r), for K = U L U^T (m, m) of rank r.

    Directions with eigenvalues below 1e-10 of the largest, as of repeated points, are left out.
    """
    values, U = np.linalg.eigh(K)
    kept = values > 1e-10 * values[-1]
    columns: Array = U[:, kept] / np.sqrt(values[kept])
    return columns


class NystroemMap:
    r"""phi(x) = (U L^{-1/2})^T k(Z, x) with landmarks Z and k(Z, Z) = U L U^T.

    phi(x).phi(x') is the inner product of the projections of k(x, .) and k(x', .) onto the span of
    the landmarks' k(z_j, .) [1]_: exact where x or x' is a landmark, and else biased.

    Parameters
    ----------
    kernel
        k(X, x) of rows X (n, d) and x (d,), such as that of a family or of another map.
    landmarks
        Z, shape (m, d).

    References
    ----------
    .. [1] C. Williams, M. Seeger. Using the Nystroem Method to Speed Up Kernel Machines. NIPS 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import GaussianFourier
    >>> from iln_stream.research.feature_maps import NystroemMap
    >>> Z = np.array([[0.0], [1.0]])
    >>> phi = NystroemMap(GaussianFourier(gamma=0.5).kernel, Z)
    >>> (phi(Z) @ phi(Z).T).round(3)
    array([[0.5  , 0.303],
           [0.303, 0.5  ]])

    """

    n_psi = 0
    """It evaluates the kernel, once for each landmark, and no unit."""

    def __init__(self, kernel: Kernel, landmarks: Array) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self._whitening = whitening(self._with_landmarks(landmarks))

    def __call__(self, x: Array) -> Array:
        """Return phi(x): (d,) -> (r,), (n, d) -> (n, r), r the rank of k(Z, Z)."""
        k = self.kernel(self.landmarks, x) if x.ndim == 1 else self._with_landmarks(x)
        phi: Array = k @ self._whitening
        return phi

    def coefficients(self, w: Array) -> Array:
        """Return the c, shape (m,), with w.phi(x) = sum_j c_j k(z_j, x)."""
        c: Array = self._whitening @ w
        return c

    def project(self, other: "NystroemMap", w: Array) -> Array:
        """Return the weights on this map of the function w.other(x), projected on its span.

        This is the least-squares projection in the kernel's space; it is exact when `other` has no
        landmark that this map lacks.
        """
        weights: Array = other.coefficients(w) @ self(other.landmarks)
        return weights

    def _with_landmarks(self, X: Array) -> Array:
        return np.column_stack([self.kernel(X, z) for z in self.landmarks])


class LandmarkReservoir:
    """A uniform sample, without replacement, of the points of a stream so far (Algorithm R [1]_).

    Parameters
    ----------
    size
        Number of points to keep.
    rng
        Chooses them.

    References
    ----------
    .. [1] J. S. Vitter. Random Sampling with a Reservoir. ACM Transactions on Mathematical Software
       11, 1985.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.research.feature_maps import LandmarkReservoir
    >>> reservoir = LandmarkReservoir(2, np.random.default_rng(0))
    >>> [reservoir.update(np.array([float(t)])) for t in range(6)]
    [True, True, False, False, False, True]
    >>> reservoir.points()
    array([[0.],
           [5.]])

    """

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self.size = at_least_one("size", size)
        self._rng = rng
        self._rows: list[Array] = []
        self.n_seen = 0

    def update(self, x: Array) -> bool:
        """Take the next point, shape (d,), into account; return whether the sample changed."""
        self.n_seen += 1
        if len(self._rows) < self.size:
            self._rows.append(x.copy())
            return True
        place = int(self._rng.integers(self.n_seen))
        if place < self.size:
            self._rows[place] = x.copy()
            return True
        return False

    def points(self, d: int | None = None) -> Array:
        """Return the sample, shape (n, d); points of fewer columns have zeros in the others.

        `d` None: as many columns as the widest point has.
        """
        width = max((len(row) for row in self._rows), default=0) if d is None else d
        sample = np.zeros((len(self._rows), width))
        for row, point in zip(sample, self._rows, strict=True):
            row[: len(point)] = point
        return sample
