"""Obvious references in extended precision (80-bit where the machine has it), for sizes where that is quick."""

import numpy as np

WIDE = np.longdouble


def squared_distances(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(axis=-1)


def centered_gram(gram, weights):
    """D^1/2 H K H^T D^1/2, with D = diag(weights) and H = I - 1 w^T / W."""
    gram, weights = np.asarray(gram, dtype=WIDE), np.asarray(weights, dtype=WIDE)
    means = gram @ weights / weights.sum()
    centered = gram - means[:, None] - means + means @ weights / weights.sum()
    roots = np.sqrt(weights)
    return roots[:, None] * centered * roots


def eigenvalues(matrix):
    """Descending eigenvalues of a symmetric matrix by Jacobi's rotations, in the precision of its entries."""
    a = np.array(matrix, dtype=WIDE)
    n = len(a)
    tiny = np.finfo(WIDE).eps * np.sqrt((a**2).sum())
    for _ in range(60):
        if np.abs(a - np.diag(np.diag(a))).max(initial=0) <= tiny * WIDE(1e-3):
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) <= np.finfo(float).tiny:
                    continue
                theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
                t = (1 if theta >= 0 else -1) / (abs(theta) + np.sqrt(theta**2 + 1))
                c = 1 / np.sqrt(t**2 + 1)
                s = t * c
                rows_p, rows_q = a[p].copy(), a[q].copy()
                a[p], a[q] = c * rows_p - s * rows_q, s * rows_p + c * rows_q
                columns_p, columns_q = a[:, p].copy(), a[:, q].copy()
                a[:, p], a[:, q] = c * columns_p - s * columns_q, s * columns_p + c * columns_q
    return np.sort(np.diag(a))[::-1]
