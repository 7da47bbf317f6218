"""The question a fit asks, how it wants it answered, and what a method would charge for it."""

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
        Components wanted (a first guess where a share of the variance was asked for).
    tol : float
        Residual wanted, relative to the largest eigenvalue.
    memory_limit : int
        Bytes.
    solver : str
        ``"auto"`` or the name of an eigenvalue solver.
    threads : int
    sparse : bool
        Whether the rows are CSR.
    low, high : ndarray of shape (d,) or None
        Box that holds the rows; None for sparse rows and given matrices.
    weight : float
        Total weight W.
    strict : bool
        Whether `tol` was asked for, rather than a default that a named method may miss.
    streaming : bool
        Whether rows come in batches and are not kept: the method must need each only once.
    support : int or None
        Points a stream may keep; None: as many as come.
    forget : bool
        Whether the rows are to be forgotten after the fit.
    domain : bool
        Whether `low` and `high` bound all rows that will ever come.
    peak : float
        Estimate, from a sample, of the largest eigenvalue of the centred Gram matrix divided by W: what a tolerance is
        relative to.
    variance : float
        Estimate of the trace of that matrix divided by W.
    sample : ndarray of shape (m, d) or None
        Some of the rows, evenly spaced, where those that were given are all there will be.
    device : str
        ``"cpu"``, or the torch device the work is to be done on (``"torch"``: torch's CPU).
    anywhere : bool
        Whether the CPU may be chosen rather than `device`.
    workers : int
        Of a cluster that the rows lie on, one thread each; 0 where they are in this process.
    partitions : int
        Pieces that the rows lie in there.
    block : int
        Rows that are read at a time, where they come from a file or the like; 0 for rows in memory.
    mapped : bool
        Whether rows that are read in blocks can also be had in any order, without being read to memory first.
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


@dataclass(frozen=True)
class Estimate:
    """What a method would cost.

    Attributes
    ----------
    seconds : float
    bytes : int
        Peak above what the caller holds.
    error : float
        Residual it can reach, relative to the largest eigenvalue.
    refusal : str
        Why it cannot serve; empty if it can.
    device : str
        Where it would work.
    """

    seconds: float = float("inf")
    bytes: int = 0
    error: float = 0.0
    refusal: str = ""
    device: str = "cpu"


@dataclass(frozen=True, eq=False)
class Keeping:
    """What a pass over blocks of rows keeps of them besides their moments.

    Attributes
    ----------
    domain : Box or None
        Rows outside, in the units of the input, are refused as they come.
    size : int
        Rows of a sample for pre-images; 0 for none.
    rng : callable
        A new random generator, for the sample.
    begun : callable
        ``begun(features)`` is what a checkpoint needs to go on with the pass.
    """

    domain: Any
    size: int
    rng: Callable[[], np.random.Generator]
    begun: Callable[[Any], Any]


@dataclass(frozen=True)
class Request:
    """What a run is asked for beyond the problem.

    Attributes
    ----------
    rng : numpy.random.Generator
    share : float or None
        Part of the total variance to capture; None: ``problem.k`` components.
    solver : Solver or None
        With settings of its own; None: the method's choice.
    max_iter : int or None
    keeping : Keeping or None
        What a pass over blocks keeps of the rows besides their moments.
    """

    rng: np.random.Generator
    share: float | None = None
    solver: Any = None
    max_iter: int | None = None
    keeping: Keeping | None = None
