"""Worst-case rounding of the fused product, from the way the tensor cores of a GPU add.

A number split into two halves has an error of 2^-22 of itself, or of 2^-39 of the largest number. Scaling by powers of
two beforehand ensures this for rows, vectors and values of any range.

The tensor cores are assumed to add 16 products at a time to an accumulator, the 17 terms aligned to the largest and
truncated to at least 25 bits. Such a step has an error of at most 17 * 2^-25 < 1.1 * 2^-21 of the sum of moduli. The
vendor does not state this; Fasi, Higham, Mikaitis & Pranesh (Numerical behavior of NVIDIA tensor cores, PeerJ CS 2021)
found it for earlier GPUs, and it is an assumption for others. Exponentials (``ex2.approx``) are within 2^-22.
"""

from __future__ import annotations

import math

from gramless.gram.cuda.recipe import Recipe
from gramless.kernels import Kernel
from gramless.kernels.rounding import Rounding, underflow

_HALVES = 2.0**-22
_STEP = 1.1 * 2.0**-21
_LOST = 2.0**-39  # of the largest number: the spacing of the smallest halves
_SINGLE = 2.0**-10  # one product of numbers of 11 bits


def entry_rounding(kernel: Kernel, recipe: Recipe, radius: float, d: int, single: bool) -> Rounding:
    """Error of a kernel value computed by the fused kernel for rows within `radius`."""
    if single:
        return kernel.rounding(radius, d, _SINGLE)
    if recipe.profile != "folded":
        lost = kernel.bound(radius) * _LOST  # folded values are never that small
        return kernel.rounding(radius, d, 2.0**-21) + Rounding(lost, 0.0)
    # errors of 2^-22 in rows change |x - y|^2 by 8 R^2 2^-22; 2 for low * low, which is left out; steps of 3 products
    steps = 3 * -(-d // 16)
    spread = (8 + 2) * _HALVES + 2 * steps * _STEP
    exponent = kernel_rate(recipe) * radius**2 * spread
    argument = (abs(recipe.second) + 2 * abs(recipe.fold) * radius**2) * math.log(2) * 2.0**-23
    return Rounding(underflow(2.0**-24), math.expm1(exponent + argument) + 2 * _HALVES)


def kernel_rate(recipe: Recipe) -> float:
    """The gamma of a folded Gaussian."""
    return abs(recipe.fold) * math.log(2)


def sum_rounding(columns: int, chunk: int, single: bool) -> float:
    """Relative error of a row's sum: halves, steps over the columns of a tile, float32 over a chunk, then float64."""
    halves = 2 * _SINGLE if single else 4 * _HALVES
    return 1.01 * (halves + 3 * columns / 16 * _STEP + (chunk / columns + 8) * 2.0**-24)
