"""The speed of a GPU, for the planner: measured once, in a few milliseconds."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from gramless.machine import Card, Machine

_SIDE = 2048  # order of the multiplied matrices: large enough to keep a GPU busy
_SWEPT = 2**24  # entries of the array whose exponential is timed


@cache
def measure_gpu(device: str) -> Card:
    """Rates of a GPU, rounded to half powers of two so that noise seldom changes a plan; ``"torch"`` has an H200's.

    Examples
    --------
    >>> measure_gpu("torch") == Card()
    True
    """
    if device == "torch":
        return Card()
    import torch

    wide = torch.ones((_SIDE, _SIDE), dtype=torch.float64, device=device)
    narrow = torch.ones((2 * _SIDE, 2 * _SIDE), dtype=torch.float16, device=device)
    numbers = torch.zeros(_SWEPT, dtype=torch.float64, device=device)
    return Card(
        float64=coarse(2 * _SIDE**3 / _seconds(lambda: wide @ wide)),
        halves=coarse(2 * (2 * _SIDE) ** 3 / _seconds(lambda: narrow @ narrow)),
        sweep=coarse(_SWEPT / _seconds(lambda: torch.exp(numbers, out=numbers))),
    )


def machine_for(device: str) -> Machine:
    """Rates by which the cost of explicit features on `device` is estimated; small eigenproblems stay on the host.

    Examples
    --------
    >>> machine_for("cpu") == Machine()
    True
    """
    if device == "cpu":
        return Machine()
    gpu = measure_gpu(device)
    return Machine(gemm=gpu.float64, kernel=gpu.sweep)


def coarse(rate: float) -> float:
    """The nearest half power of two.

    Examples
    --------
    >>> coarse(1000.0), coarse(1100.0)
    (1024.0, 1024.0)
    """
    return float(2.0 ** (round(2 * math.log2(rate)) / 2))


def _seconds(work: Callable[[], Any]) -> float:
    """Seconds that `work` takes on the GPU: the best of three runs, after one to warm up."""
    import torch

    work()
    best = math.inf
    for _ in range(3):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end) / 1000)
    return best
