"""Rates of a machine and of a GPU: constants, or rounded, so that the same problem gets the same plan every time."""

from __future__ import annotations

from dataclasses import dataclass

TILE_VALUES = 4.5e8  #: kernel values in float64 per second and thread, in tiles that stay in cache
TILE_PRODUCTS = 4e10  #: operations of products in float64 per second and thread, of such tiles


@dataclass(frozen=True)
class Machine:
    """Work per second of one thread on a present-day server core.

    Attributes
    ----------
    gemm : float
        Floating-point operations of a large float64 matrix product (float32: twice).
    kernel : float
        Kernel values, apart from the matrix product inside them.
    python : float
        Calls of a Python function.
    eigh : float
        Floating-point operations of a symmetric eigensolver, all threads together: half of them run at memory speed.
    network : float
        Bytes between two workers of a cluster.
    task : float
        Seconds that a cluster's scheduler takes for one task.
    """

    gemm: float = 3e10
    kernel: float = 2.5e8
    python: float = 5e5
    eigh: float = 2e10
    network: float = 1e9
    task: float = 5e-4


@dataclass(frozen=True)
class Card:
    """Work per second of a GPU; the defaults are those of an H200.

    Attributes
    ----------
    float64 : float
        Floating-point operations of a large matrix product in float64.
    halves : float
        Floating-point operations of a large matrix product in half precision with sums in float32.
    sweep : float
        Exponentials of float64 numbers, read from memory and written back.
    """

    float64: float = 5e13
    halves: float = 8e14
    sweep: float = 2e11
