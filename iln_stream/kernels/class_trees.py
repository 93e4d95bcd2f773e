"""Trees that grow while events pass, and count the classes in each node.

T trees have N nodes each. `left` (T, N) is the first of a node's two children, which are side by
side, or 0 for a leaf; events whose input `feature` (T, N) exceeds `threshold` (T, N) go to the
second. `counts` (T, N, C) are of the classes of the events that came through a node, and `waiting`
(T, N, B) the numbers of the last events in a leaf. Event n, of the last R, is at `rows[n % R]`.
"""

import numpy as np
from numba import uint64

from iln_stream.kernels.jit import compiled
from iln_stream.kernels.random import counter_of, fill_uniforms

PRIOR = 1.0
"""Events for which a node's parent counts in the node's probabilities."""

N_SPLITS = 32
"""Splits that are drawn for a leaf."""

LEAST_GAIN = 1.0
"""A split of m events must explain this multiple of log(m + 1) nats of their classes."""

DRAWS = 4 * N_SPLITS
"""Uniform numbers for a leaf."""


@compiled
def child(v, x, feature, threshold, left):  # type: ignore[no-untyped-def]
    """The child of a tree's node v that x (W,) belongs to."""
    return left[v] + int(x[feature[v]] > threshold[v])


@compiled
def predict_trees(x, feature, threshold, left, counts, p):  # type: ignore[no-untyped-def]
    """p (C,): the trees' mean probabilities for x (W,); each node's prior is its parent's."""
    T, C, K = left.shape[0], p.shape[0], counts.shape[2]
    q = np.empty(C)
    p[:] = 0.0
    for t in range(T):
        q[:] = 1.0 / C
        v = 0
        while True:
            total = PRIOR
            for c in range(K):
                total += counts[t, v, c]
            for c in range(C):
                q[c] = (PRIOR * q[c] + (counts[t, v, c] if c < K else 0.0)) / total
            if left[t, v] == 0:
                break
            v = child(v, x, feature[t], threshold[t], left[t])
        for c in range(C):
            p[c] += q[c] / T


@compiled
def best_split(events, rows, labels, n_classes, uniforms):  # type: ignore[no-untyped-def]
    """The input and the threshold that explain most of the events' classes; input -1 if none does.

    A threshold is drawn between the values of two of the events (m,).
    """
    m = events.shape[0]
    counts, of_first = np.zeros(n_classes, np.int64), np.empty(n_classes, np.int64)
    at, label_of = events % rows.shape[0], np.empty(m, np.int64)
    disorder = np.zeros(m + 1)  # a count's part of the entropy
    for i in range(m):
        label_of[i] = labels[at[i]]
        counts[label_of[i]] += 1
        disorder[i + 1] = (i + 1) * np.log(i + 1.0)
    entropy = disorder[m]
    for c in range(n_classes):
        entropy -= disorder[counts[c]]
    best, feature, threshold = LEAST_GAIN * np.log(m + 1.0), -1, 0.0
    for k in range(N_SPLITS if entropy > best else 0):
        j = int(uniforms[4 * k] * rows.shape[1])
        a = rows[at[int(uniforms[4 * k + 1] * m)], j]
        b = rows[at[int(uniforms[4 * k + 2] * m)], j]
        bound = min(a, b) + uniforms[4 * k + 3] * (max(a, b) - min(a, b))
        of_first[:] = 0
        first = 0
        for i in range(m):
            if rows[at[i], j] <= bound:
                of_first[label_of[i]] += 1
                first += 1
        if first < m:
            gain = entropy - disorder[first] - disorder[m - first]
            for c in range(n_classes):
                gain += disorder[of_first[c]] + disorder[counts[c] - of_first[c]]
            if gain > best:
                best, feature, threshold = gain, j, bound
    return feature, threshold


@compiled
def learn_trees(  # type: ignore[no-untyped-def]
    x, label, w, n, key, feature, threshold, left, counts, waiting, n_waiting, n_nodes, rows, labels
):
    """Learn that event n, x (W,) of weight w, has the class.

    A leaf in which B events wait is split, or forgets half of them. A tree with N nodes begins
    anew when it would grow.
    """
    T, N, B = waiting.shape
    R, C = rows.shape[0], counts.shape[2]
    for j in range(x.shape[0]):  # numba's assignment of rows compiles forty functions for its error
        rows[n % R, j] = x[j]
    labels[n % R] = label
    uniforms = np.empty(DRAWS)
    for t in range(T):
        v = 0
        counts[t, v, label] += w
        while left[t, v] != 0:
            v = child(v, x, feature[t], threshold[t], left[t])
            counts[t, v, label] += w
        events = waiting[t, v]
        events[n_waiting[t, v]] = n
        n_waiting[t, v] += 1
        if n_waiting[t, v] < B:
            continue
        m = 0
        for i in range(B):
            if n - events[i] < R:
                events[m] = events[i]
                m += 1
        fill_uniforms(uint64(key), counter_of(n) + uint64(DRAWS * t), DRAWS, uniforms)
        j, at = best_split(events[:m], rows, labels, C, uniforms)
        if j < 0:
            kept = m // 2
            for i in range(kept):
                events[i] = events[m - kept + i]
            n_waiting[t, v] = kept
        elif n_nodes[t] + 2 > N:
            n_nodes[t] = 1
            left[t] = 0
            n_waiting[t, 0] = 0
            counts[t, 0] = 0.0
        else:
            first = n_nodes[t]
            n_nodes[t] += 2
            feature[t, v], threshold[t, v], left[t, v] = j, at, first
            for u in range(first, first + 2):
                left[t, u] = n_waiting[t, u] = 0
                counts[t, u] = 0.0
            for i in range(m):
                e = events[i]
                u = first + int(rows[e % R, j] > at)
                counts[t, u, labels[e % R]] += 1.0
                waiting[t, u, n_waiting[t, u]] = e
                n_waiting[t, u] += 1
