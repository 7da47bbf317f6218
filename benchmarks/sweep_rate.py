"""How near a sweep over the tiles comes to the speed of matrix products on the same machine, in the same run."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from gramless.arrays import run_in_threads, thread_count
from gramless.datasets import resampled_digits
from gramless.gram import TiledGram
from gramless.kernels import Gaussian

WIDTH, ROUNDS, SIDE = 48, 3, 1024


def sweep_rates(n: int) -> list[dict[str, Any]]:
    """GFLOP/s of one product K V, V of 48 columns, and of plain matrix products on as many threads.

    A sweep is counted as its products alone: d multiplications and additions for each entry of the symmetric half, and
    `WIDTH` for each entry of the whole. exp is not counted, so that the rate of a sweep stays below that of products.
    """
    rates = []
    for d in (64, 784):
        x = np.tile(resampled_digits(n, rng=0), (1, -(-d // 64)))[:, :d]
        v = np.random.default_rng(0).standard_normal((n, WIDTH))
        for dtype in (np.float32, np.float64):
            operator = TiledGram(Gaussian(50.0 * np.sqrt(d / 64)), x, dtype=dtype)
            operator @ v[:, :1]  # bounds are gathered, and blocks made ready, once
            seconds = [_seconds(lambda: operator @ v) for _ in range(ROUNDS)]  # noqa: B023  (called at once)
            work = n * (n + 1) * d + 2 * n**2 * WIDTH
            sweep, gemm = work / min(seconds) / 1e9, _gemm_rate(dtype)
            rates.append({"dtype": np.dtype(dtype).name, "n": n, "d": d, "sweep": sweep, "gemm": gemm})
    return rates


def _gemm_rate(dtype: Any) -> float:
    """Best rate of square products, one a thread, as tiles are made."""
    rng = np.random.default_rng(0)
    sides = [rng.standard_normal((SIDE, SIDE)).astype(dtype) for _ in range(2 * thread_count())]
    pairs = list(zip(sides[::2], sides[1::2], strict=True))
    out = [np.empty((SIDE, SIDE), dtype) for _ in pairs]

    def multiply(i: int) -> None:
        for _ in range(4):
            np.matmul(*pairs[i], out=out[i])

    seconds = min(_seconds(lambda: run_in_threads(multiply, [list(range(len(pairs)))])) for _ in range(2 * ROUNDS))
    return 4 * len(pairs) * 2 * SIDE**3 / seconds / 1e9


def _seconds(work: Any) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
