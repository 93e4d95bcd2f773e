"""What the compiled loops do to an event, recomputed in plain numpy and double precision.

Everything is recomputed from all events before, where that is possible; little is updated.
"""

import math

import numpy as np

from iln_stream.kernels.columns import ABSENT

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


def faded(values, discount):
    """The values (n, ..), each times its discounted weight."""
    values = np.asarray(values, float)
    weights = discount ** np.arange(len(values))[::-1]
    return weights.reshape(-1, *[1] * (values.ndim - 1)) * values


def bounds(values):
    """9 third quartiles of the distances from the median of five values or more.

    If more than three quarters of them are the median, the distances of the others count.
    """
    n = len(values)
    if n < 5:
        return -np.inf, np.inf
    median = sorted(values)[n // 2]
    deviations = sorted(abs(np.asarray(values) - median))
    if not deviations[3 * (n - 1) // 4]:
        deviations = [deviation for deviation in deviations if deviation]
        if len(deviations) < 3:
            return -np.inf, np.inf
    bound = 9.0 * deviations[3 * (len(deviations) - 1) // 4]
    return median - bound, median + bound


def moments(values, known=30):
    """The mean and the sum of squares of values that joined one after the other.

    The first 30 are clipped at the bounds of those known then. From the 30th on, values are
    winsorised at six deviations from the mean.
    """
    mean = squares = 0.0
    low, high = bounds(values[: min(known, 30)])
    values = [min(max(value, low), high) for value in values[:30]] + list(values[30:])
    for n, value in enumerate(values):
        delta = value - mean
        if n >= 30 and squares > 0.0:
            delta = np.clip(delta, -6.0 * math.sqrt(squares / n), 6.0 * math.sqrt(squares / n))
        mean += delta / (n + 1)
        squares += delta**2 * n / (n + 1)
    return mean, squares


class Column:
    """All values of one input."""

    def __init__(self):
        self.present, self.joined = [], []

    def value(self, x):
        """x, or 0 if it is absent and 0 is no further from the values than they spread."""
        if x < ABSENT:
            return x
        if self.present:
            low, high = min(self.present), max(self.present)
            if low == high or max(low, -high) <= high - low:
                return 0.0
        return ABSENT

    def deviation(self, x, values, known=30):
        """x in deviations of the values, clipped at five."""
        x = self.value(x)
        if x == ABSENT:
            return 0.0
        mean, squares = moments(values, known)
        if squares <= 1e-26 * len(values) * mean**2:
            return 0.0
        return float(np.clip((x - mean) / math.sqrt(squares / len(values)), -5.0, 5.0))

    def with_itself(self, x):
        """x in deviations of the values including x."""
        return self.deviation(x, [*self.joined, self.value(x)], known=len(self.joined))

    def join(self, x):
        if self.value(x) < ABSENT:
            self.joined.append(self.value(x))
        if x < ABSENT:
            self.present.append(x)


def joined(columns, row):
    """Add a row to the columns."""
    for column, x in zip(columns, row, strict=True):
        column.join(x)


def scale(targets):
    """The targets' mean, and three deviations; 1 while they agree."""
    mean, squares = moments(targets)
    if squares <= 1e-26 * len(targets) * mean**2:
        return mean, 1.0
    return mean, 3.0 * math.sqrt(squares / len(targets))


def scaled(y, center_and_unit):
    """y on a scale, clipped at two units."""
    center, unit = center_and_unit
    return float(np.clip((y - center) / unit, -2.0, 2.0))


class Events:
    """All events so far, by which the next is described."""

    def __init__(self, d, n_lags):
        self.columns, self.n_lags, self.ys = [Column() for _ in range(d)], n_lags, []

    def last_targets(self, missing):
        """The last targets, the latest first; `missing` for those before the first."""
        last = self.ys[::-1][: self.n_lags]
        return last + [missing] * (self.n_lags - len(last))

    def describe(self, x):
        """Set row, z, lags, v = [3 lags, z] and scale for a row x."""
        self.scale = scale(self.ys)
        self.row = [c.value(value) for c, value in zip(self.columns, x, strict=True)]
        self.z = [c.with_itself(value) for c, value in zip(self.columns, x, strict=True)]
        last = self.last_targets(missing=None)
        self.lags = [0.0 if y is None else scaled(y, self.scale) for y in last]
        self.v = np.array([3.0 * lag for lag in self.lags] + self.z)

    def join(self, x, y):
        """Add an event; return its target, scaled by the statistics that include it."""
        joined(self.columns, x)
        self.ys.append(y)
        return scaled(y, scale(self.ys))


def units(omega, b, cosine, v):
    """sigma(omega.v + b), times 3 sqrt(2 / R), and its derivative, both (R,)."""
    u = np.asarray(v, float) @ omega.astype(float) + b
    size = 3.0 * math.sqrt(2.0 / len(b)) if len(b) else 0.0
    if cosine:
        return size * np.cos(2 * np.pi * u), -2 * np.pi * size * np.sin(2 * np.pi * u)
    return size * np.maximum(u, 0.0), size * (u > 0.0)


def features(omega, b, cosine, linear, v, D=None):
    """[units, 1, .3 v], with zeros up to D."""
    phi = np.concatenate([units(omega, b, cosine, v)[0], [1.0], 0.3 * np.asarray(linear) * v])
    return np.pad(phi, (0, (D or len(phi)) - len(phi)))


def gradient(omega, b, cosine, linear, theta, v):
    """The gradient in v of theta.phi(v)."""
    R, d = len(b), len(v)
    slopes = theta[:R] * units(omega, b, cosine, v)[1]
    return omega.astype(float) @ slopes + 0.3 * np.asarray(linear) * theta[R + 1 : R + 1 + d]


def running_mean(values, horizon):
    """Their mean, over about the last `horizon` of them."""
    mean = 0.0
    for n, value in enumerate(values, 1):
        mean += (value - mean) / min(n, horizon)
    return mean


def rule_weights(r, discount=0.999):
    """The experts' weights from all regrets r, (n, .., K)."""
    r = np.asarray(r)
    K = r.shape[-1]
    squares = faded(r**2, discount)
    scales = squares.sum(axis=0) + squares.max(axis=0, initial=0.0)
    raw = np.maximum(faded(r, discount).sum(axis=0), 0.0) / np.maximum(scales, 1e-300)
    total = raw.sum(axis=-1, keepdims=True)
    return np.where(total > 0.0, raw / np.where(total > 0.0, total, 1.0), 1.0 / K)


class Rule:
    """ML-Poly, from all regrets to K experts."""

    def __init__(self, K, squared, discount=0.999):
        self.squared, self.discount = squared, discount
        self.errors, self.r = [], np.zeros((0, K))

    @property
    def weights(self):
        return rule_weights(self.r, self.discount)

    def update(self, p, mixture, t):
        self.errors.append(abs(t - mixture))
        unit = running_mean(self.errors, 1000)
        if unit > 0.0:
            e = (mixture - t) / unit
            r = (e if self.squared else np.sign(e)) * (mixture - p) / unit
            self.r = np.vstack([self.r, np.clip(r, -2.0, 2.0)])


class Intervals:
    """Mixed intervals, from all errors and regrets."""

    def __init__(self):
        self.ys, self.errors, self.r = [], [], np.zeros((0, 5, 6))
        self.misses = [[] for _ in LEVELS]
        self.gains = [[] for _ in LEVELS]

    def offsets(self):
        """Each expert's offsets from the prediction, (levels, 6, 2)."""
        offsets = np.empty((5, 6, 2))
        for j, level in enumerate(LEVELS):
            tail = (1.0 - level) / 2
            for i, window in enumerate((500, 100, 20)):
                last = np.sort(self.errors[-window:])
                n = len(last)

                def of_order(values, order, n=n):
                    return values[min(max(order, 1), n) - 1]

                high = of_order(np.sort(np.abs(last)), math.ceil((n + 1) * level - 1e-9))
                offsets[j, 2 * i] = -high, high
                offsets[j, 2 * i + 1] = (
                    of_order(last, math.floor((n + 1) * tail + 1e-9)),
                    of_order(last, math.ceil((n + 1) * (1.0 - tail) - 1e-9)),
                )
        return offsets

    def mixed(self):
        """Each level's mixture of the experts' offsets, (levels, 2)."""
        return np.einsum("jk,jke->je", rule_weights(self.r), self.offsets())

    def excess(self, j):
        """The misses beyond those expected at level j, and the weights of their events."""
        return faded(self.misses[j], 0.9999).sum(), (0.9999**2) ** np.arange(len(self.misses[j]))

    def within(self, end):
        return min(max(end, min(self.ys)), max(self.ys))

    def around(self, center):
        """The intervals around a prediction, (levels, 2)."""
        inner, nested = (center, center), []
        for j, (level, (a, b)) in enumerate(zip(LEVELS, self.mixed(), strict=True)):
            excess, counted = self.excess(j)
            z = excess / math.sqrt(level * ((1.0 - level) * counted.sum() + 10.0))
            factor = math.exp(math.copysign(min(0.2 * z**4, 2.0), z))
            ends = [center + factor * a, center + factor * b]
            for side in range(2):
                if faded([g[side] for g in self.gains[j]], 0.999).sum() > 0.0:
                    ends[side] = self.within(ends[side])
            inner = min(inner[0], ends[0]), max(inner[1], ends[1])
            nested.append(inner)
        return np.array(nested)

    def learn(self, center, y):
        n = len(self.errors)
        if n > 0:
            intervals, mixed, offsets = self.around(center), self.mixed(), self.offsets()
            r = np.empty((5, 6))
            for j, level in enumerate(LEVELS):
                price = 2.0 / (1.0 - level)
                if round((n + 1) * (1.0 - level), 6) > 1.0 - 1e-9:
                    missed = not intervals[j, 0] <= y <= intervals[j, 1]
                    self.misses[j].append(missed - (1.0 - level))

                def score(end, side, price=price):
                    out = (-1.0, 1.0)[side]
                    return out * end + price * max(out * (y - end), 0.0)

                ends = center + mixed[j]
                self.gains[j].append(
                    [score(end, s) - score(self.within(end), s) for s, end in enumerate(ends)]
                )
                low_slope = (price if y < ends[0] else 0.0) - 1.0
                high_slope = 1.0 - (price if y > ends[1] else 0.0)
                better = mixed[j] - offsets[j]
                r[j] = low_slope * better[:, 0] + high_slope * better[:, 1]
            self.r = np.concatenate([self.r, [r]])
        if self.ys:  # the first event had no prediction
            self.errors.append(min(max(y - center, -1e100), 1e100))
        self.ys.append(y)


class Huber:
    """Huber weights of errors, by the mean |error| before."""

    def __init__(self, huber):
        self.huber, self.n, self.mean = huber, 0, 0.0

    def weight(self, error):
        error = abs(error)
        if self.n >= 20 and self.mean <= 1e-9 < error:
            self.n = 0
        outlier = self.n >= 20 and error > self.huber * self.mean
        weight = self.huber * self.mean / error if outlier else 1.0
        bounded = error if self.n < 5 else min(error, 3.0 * self.mean)
        self.n += 1
        self.mean += (bounded - self.mean) / self.n
        return max(weight, 1e-12)


class Normal:
    """The normal equations of ridge regression, with forgetting and a renewed penalty."""

    def __init__(self, D, forgetting=1.0, ridge=0.1, huber=1e9, n_targets=1):
        self.A, self.b = ridge * np.eye(D), np.zeros((D, n_targets))
        self.forgetting, self.ridge, self.huber = forgetting, ridge, Huber(huber)

    def learn(self, phi, t, p=0.0, w=1.0):
        weight = w * self.huber.weight(np.sum(t) - p)
        self.A *= self.forgetting
        self.b *= self.forgetting
        self.A += weight * np.outer(phi, phi)
        self.b += weight * np.outer(phi, t)
        if self.forgetting < 1.0:
            D = len(self.A)
            i = self.huber.n % D
            self.A[i, i] += (1.0 - self.forgetting) * self.ridge * D

    @property
    def theta(self):
        """The weights, (D, targets)."""
        return np.linalg.solve(self.A, self.b)


class Blocks:
    """Ridge regression on the diagonal blocks of the normal equations."""

    def __init__(self, n, B, forgetting, ridge, huber):
        self.A, self.theta = np.tile(ridge * np.eye(B), (n, 1, 1)), np.zeros(n * B)
        self.forgetting, self.ridge, self.huber = forgetting, ridge, Huber(huber)

    def learn(self, phi, t, p, w=1.0):
        n, B = self.A.shape[:2]
        weight = w * self.huber.weight(t - p)
        noise = self.forgetting / weight if weight else np.inf
        parts = phi.reshape(n, B)
        gains = np.linalg.solve(self.A, parts[:, :, np.newaxis])[:, :, 0]
        self.theta += (t - self.theta @ phi) / (noise + (gains * parts).sum()) * gains.ravel()
        self.A *= self.forgetting
        self.A += self.forgetting / noise * parts[:, :, np.newaxis] * parts[:, np.newaxis]
        if self.forgetting < 1.0:
            turn = self.huber.n
            u, i = turn % n, turn // n % B
            lost = (1.0 - self.forgetting) * self.ridge * n * B
            column = np.linalg.inv(self.A[u])[i]
            at = u * B + i
            self.theta[u * B : u * B + B] -= self.theta[at] / (1.0 / lost + column[i]) * column
            self.A[u, i, i] += lost
