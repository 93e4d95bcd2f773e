"""The replayed network once more, in plain numpy and double precision, from its formulas."""

from itertools import pairwise

import numpy as np

SEGMENTS, PADDED, BATCH = 15, 16, 16


def sigma(u):
    """tanh in the first half of the columns, SiLU in the second."""
    half = u.shape[1] // 2
    return np.concatenate([np.tanh(u[:, :half]), u[:, half:] / (1 + np.exp(-u[:, half:]))], axis=1)


class PlainNetwork:
    """The function of S weights w, laid out one after the other."""

    event_weights = 1.0

    def __init__(self, shape, L):
        self.shape, self.L = shape, L
        n1, n2 = shape.first, shape.second
        n3, Q = shape.outputs, -(-shape.outputs // PADDED) * PADDED
        self.fixed = {"W2": (n1, n2), "b1": (n1,), "b2": (n2,), "w3": (n3, n2), "b3": (Q,)}
        self.of_column = {"W1": n1, "skip": Q, "U": SEGMENTS * shape.piecewise}

    @property
    def n(self):
        fixed = sum(int(np.prod(size)) for size in self.fixed.values())
        return fixed + self.L * sum(self.of_column.values())

    def parts(self, w):
        """Each part's weights, as views of w (S,)."""
        parts, i = {}, 0
        for name, size in self.fixed.items():
            parts[name] = w[i : i + int(np.prod(size))].reshape(size)
            i += parts[name].size
        columns, j = w[i:].reshape(self.L, -1), 0
        for name, size in self.of_column.items():
            parts[name] = columns[:, j : j + size]
            j += size
        return parts

    def outputs(self, w, z, phi):
        """o (B, O) at deviations z (B, L) and shares of segments phi (B, L, 15)."""
        p, hu = self.parts(w), self.shape.piecewise
        u1 = z @ p["W1"] + p["b1"]
        if hu:
            U = p["U"].reshape(self.L, SEGMENTS, hu)
            u1[:, -hu:] += np.einsum("bls,lsu->bu", phi, U)
        h2 = sigma(sigma(u1) @ p["W2"] + p["b2"])
        n3 = self.shape.outputs
        return h2 @ p["w3"].T + z @ p["skip"][:, :n3] + p["b3"][:n3]

    def loss(self, w, z, phi, t):
        """Huber's, of targets t (B,)."""
        e = np.abs(self.outputs(w, z, phi)[:, 0] - t)
        return (self.event_weights * np.where(e <= 3.0, e**2 / 2, 3.0 * e - 4.5)).mean()

    def gradient(self, w, z, phi, t):
        """Central differences of the loss."""
        g, w, h = np.zeros(self.n), np.array(w, float), 1e-5
        for i in range(self.n):
            kept = w[i]
            w[i] = kept + h
            above = self.loss(w, z, phi, t)
            w[i] = kept - h
            g[i] = (above - self.loss(w, z, phi, t)) / (2 * h)
            w[i] = kept
        return g

    def stepped(self, parameters, g, step):
        """The parameters (5, S) after a step along g: weights, moments, squares, two averages."""
        w, m, v, short, long = np.array(parameters, float)
        shape = self.shape
        rate = shape.rate * min(1.0, step / 100) / np.sqrt(1 + step / shape.slowing)
        m, v = 0.9 * m + 0.1 * g, np.maximum(0.999 * v + 0.001 * g**2, 1e-16)
        ahead = (0.9 * m + 0.1 * g) / (1 - 0.9**step)
        w = (1 - rate * 0.5 / (1 + step / 1000)) * w - rate * ahead / np.sqrt(v / (1 - 0.999**step))
        return np.array([w, m, v, short, long])


def deviations(values, mean, sd):
    return np.clip((values - mean) / sd, -5, 5)


def shares(values, knots):
    """How much of each segment between knots lies below the values: (B, 15)."""
    phi = np.zeros((len(values), SEGMENTS))
    for b, (low, high) in enumerate(pairwise(knots)):
        phi[:, b] = np.clip((values - low) / (high - low), 0, 1)
    return phi


def quantiles(values):
    """16 of them, without repeats."""
    ordered = np.sort(values)
    return np.unique([ordered[b * (len(ordered) - 1) // 15] for b in range(16)])


class PlainClassNetwork(PlainNetwork):
    """A network whose outputs are logits, to which the offsets (C,) are added."""

    def __init__(self, shape, L, offsets):
        super().__init__(shape, L)
        self.offsets = np.array(offsets)

    def probabilities(self, w, z, phi):
        """(B, C): two classes have one logit, the second's."""
        logits = self.outputs(w, z, phi)
        if self.shape.outputs == 1:
            logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
        raised = np.exp(logits + self.offsets)
        return raised / raised.sum(axis=1, keepdims=True)

    def loss(self, w, z, phi, t):
        """The log loss, of classes t (B,)."""
        losses = -np.log(self.probabilities(w, z, phi)[np.arange(len(t)), t])
        return (self.event_weights * losses).mean()
