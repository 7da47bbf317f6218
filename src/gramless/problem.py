"""The problem of a fit, the request for its solution, and the estimate of what a method would cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Problem:
    """Everything the choice of a method depends on.

    Attributes
    ----------
    n, d : int
        Rows and columns of the data.
    kernel : Kernel
    k : int
        Number of components (a first guess where a fraction of the variance was requested).
    tol : float
        Tolerance on the residuals, relative to the largest eigenvalue.
    memory_limit : int
        Bytes that the fit may take.
    solver : str
        ``"auto"`` or the name of an eigenvalue solver.
    threads : int
    sparse : bool
        Whether the rows are CSR.
    entries : int
        Stored entries of CSR rows; 0 for dense rows.
    low, high : ndarray of shape (d,) or None
        Bounding box of the rows; None for sparse rows and precomputed Gram matrices.
    weight : float
        Total weight W.
    strict : bool
        Whether the user passed `tol`; a method chosen by name may miss a default `tol`.
    streaming : bool
        Whether rows come in batches and are not stored: the method must need each row only once.
    support : int or None
        Maximum number of points that a stream may store; None: no limit.
    forget : bool
        Whether the model stores no training rows.
    domain : bool
        Whether `low` and `high` bound all rows, including those of later batches.
    peak : float
        Estimate, from a sample, of the largest eigenvalue of the centered Gram matrix divided by W: tolerances are
        relative to this eigenvalue.
    variance : float
        Estimate of the trace of the centered Gram matrix divided by W.
    sample : ndarray of shape (m, d) or None
        Evenly spaced sample of rows in memory or on a cluster; None where further rows may come, or without a box.
    device : str
        ``"cpu"``, or the torch device that does the work (``"torch"``: torch's CPU).
    anywhere : bool
        Whether the CPU may be chosen rather than `device`.
    workers : int
        Number of single-threaded workers of a cluster that has the rows; 0 where the rows are in this process.
    partitions : int
        Number of partitions of the rows on the cluster.
    block : int
        Number of rows that are read at a time from a file or another source; 0 for rows in memory.
    mapped : bool
        Whether rows that are read in blocks also allow random access, through a memory map.
    time_limit : float or None
        Seconds that the fit may take.
    """

    n: int
    d: int
    kernel: Any
    k: int
    tol: float
    memory_limit: int
    solver: str = "auto"
    threads: int = 1
    sparse: bool = False
    entries: int = 0
    low: Any = None
    high: Any = None
    weight: float = 1.0
    strict: bool = False
    streaming: bool = False
    support: int | None = None
    forget: bool = False
    domain: bool = False
    peak: float = 1.0
    variance: float = 1.0
    sample: Any = None
    device: str = "cpu"
    anywhere: bool = False
    workers: int = 0
    partitions: int = 1
    block: int = 0
    mapped: bool = False
    time_limit: float | None = None


@dataclass(frozen=True)
class Estimate:
    """What a method would cost.

    Attributes
    ----------
    seconds : float
    bytes : int
        Peak memory on top of the caller's data.
    error : float
        Residual that the method can reach, relative to the largest eigenvalue.
    refusal : str
        Why the method cannot be used; empty if it can.
    device : str
        Device on which the method would run.
    """

    seconds: float = float("inf")
    bytes: int = 0
    error: float = 0.0
    refusal: str = ""
    device: str = "cpu"


@dataclass(frozen=True, eq=False)
class Keeping:
    """What a pass over blocks of rows checks, and stores in addition to the moments.

    Attributes
    ----------
    domain : Box or None
        Box in the units of the input; rows outside the box raise an error.
    size : int
        Number of rows of the sample for pre-images; 0 for no sample.
    rng : callable
        Returns a new random generator, for the sample.
    begun : callable
        ``begun(features)`` returns what a checkpoint needs to resume the pass.
    """

    domain: Any
    size: int
    rng: Callable[[], np.random.Generator]
    begun: Callable[[Any], Any]


@dataclass(frozen=True)
class Request:
    """What is requested of a method in addition to the problem.

    Attributes
    ----------
    rng : numpy.random.Generator
    share : float or None
        Fraction of the total variance to explain; None: ``problem.k`` components.
    solver : Solver or None
        Eigenvalue solver with its settings; None: the method's choice.
    max_iter : int or None
    deadline : float or None
        Value of ``time.perf_counter()`` at which iterations stop.
    start : ndarray of shape (n, k) or None
        Vectors to begin an iteration with, from another method.
    keeping : Keeping or None
        What a pass over blocks stores of the rows in addition to their moments.
    """

    rng: np.random.Generator
    share: float | None = None
    solver: Any = None
    max_iter: int | None = None
    deadline: float | None = None
    start: Any = None
    keeping: Keeping | None = None
