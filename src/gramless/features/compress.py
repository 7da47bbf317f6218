"""The compress operator: monomials whose dot product is a power of a dot product, by recurrence."""

from __future__ import annotations

from functools import cache
from math import comb
from typing import Any

import numpy as np

from gramless.arrays import Array, blank, namespace


@cache
def count(variables: int, degree: int) -> int:
    """Monomials of exactly this degree: C(variables + degree - 1, degree).

    Examples
    --------
    >>> count(3, 2), count(11, 3), count(0, 0), count(0, 2)
    (6, 286, 1, 0)
    """
    return comb(variables + degree - 1, degree) if variables else int(degree == 0)


def tuples(variables: int, degree: int) -> Array:
    """The monomials as ascending tuples of variables (D, degree), in colexicographic order.

    For every v, the monomials in the first v variables come before all others: every block that the recurrences need is
    a slice.

    Examples
    --------
    >>> tuples(3, 2).tolist()
    [[0, 0], [0, 1], [1, 1], [0, 2], [1, 2], [2, 2]]
    """
    rows = np.zeros((1, 0), dtype=np.int64)
    for k in range(1, degree + 1):
        heads = [rows[: count(v + 1, k - 1)] for v in range(variables)]
        last = np.repeat(np.arange(variables), [len(head) for head in heads])
        rows = np.column_stack([np.concatenate(heads), last]) if heads else np.zeros((0, k), dtype=np.int64)
    return rows


def exponents(variables: int, degree: int) -> Array:
    """The monomials of :func:`tuples` as exponents (D, variables).

    Examples
    --------
    >>> exponents(2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    rows = tuples(variables, degree)
    powers = np.zeros((len(rows), variables), dtype=np.int64)
    for column in rows.T:
        powers[np.arange(len(rows)), column] += 1
    return powers


def monomials(z: Array, degree: int, first: Array | None = None) -> Array:
    """All monomials of `degree` of the rows of `z` (variables, n), as (D, n); `first` (n,) multiplies each.

    Each monomial takes one multiplication: those whose last variable is v are z_v times a slice of one degree less.

    Examples
    --------
    >>> monomials(np.array([[2.0], [3.0]]), 2)[:, 0]
    array([4., 6., 9.])
    """
    (variables, n), xp = z.shape, namespace(z)
    rows = first[None] if first is not None else blank((1, n), z)
    if first is None:
        rows[...] = 1
    for k in range(1, degree + 1):
        raised: Array = blank((count(variables, k), n), z)
        for v in range(variables):
            size, begin = count(v + 1, k - 1), count(v, k)
            xp.multiply(rows[:size], z[v], out=raised[begin : begin + size])
        rows = raised
    return rows


def symbolic_monomials(z: Any, variables: int, degree: int) -> Any:
    """All monomials (n, D) of `degree` of symbolic rows `z` (n, variables), in the order of :func:`tuples`."""
    xp = namespace(z)
    rows = z if degree else xp.ones_like(xp.take(z, [0], axis=1))
    for k in range(2, degree + 1):
        sizes = [count(v + 1, k - 1) for v in range(variables)]
        heads = np.concatenate([np.arange(size) for size in sizes])
        rows = xp.take(rows, heads, axis=1) * xp.take(z, np.repeat(np.arange(variables), sizes), axis=1)
    return rows


def compress(z: Array, degree: int) -> Array:
    """Compress(z^degree) (Raykar & Ankur, eq. 30) for each column of `z` (variables, n), as (D, n).

    Dot products of columns are the `degree`-th powers of those of `z`. The square roots of the multinomial
    coefficients come from the recurrence (a + e_v) : a = (|a| + 1) / (a_v + 1), which is folded into the next factor
    z_v: each feature takes one multiplication, and no factorial is needed.

    Examples
    --------
    >>> a, b = np.array([[2.0], [3.0]]), np.array([[5.0], [-1.0]])
    >>> compress(a, 3).T @ compress(b, 3), (a.T @ b) ** 3
    (array([[343.]]), array([[343.]]))
    """
    (variables, n), xp = z.shape, namespace(z)
    rows: Array = blank((1, n), z)
    rows[...] = 1
    for k in range(1, degree + 1):
        raised: Array = blank((count(variables, k), n), z)
        for v in range(variables):
            begin, place = count(v, k), 0
            for already in range(k):  # exponent of v in a monomial of one degree less: equal ones are adjacent
                size = count(v, k - 1 - already)
                if size:
                    part = slice(place, place + size)
                    factor = z[v] * float(np.sqrt(k / (already + 1)))
                    xp.multiply(rows[part], factor, out=raised[begin + part.start : begin + part.stop])
                place += size
        rows = raised
    return rows
