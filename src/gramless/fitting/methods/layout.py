"""How exact methods use memory: for kept tiles, for columns of the Krylov basis, and a draft in float32."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import unit_roundoff
from gramless.eigen.block_krylov import basis_columns, block_width
from gramless.fitting.methods.start import GROUPS, LANDMARKS, ROWS
from gramless.gram.spectrum import CAUTION
from gramless.gram.tiled import PREPARED, TILE
from gramless.kernels import FromCallable, Precomputed, RadialKernel
from gramless.kernels.pairs import worst_error
from gramless.machine import TILE_PRODUCTS, TILE_VALUES, Machine
from gramless.problem import Problem

_MACHINE = Machine()
FLOAT32_SHARE = 0.2  # part of the tolerance for the residual where the rest is for the rounding of float32 tiles
_PAIR = 8e-6  # seconds to compare an entry with float64, besides its product
_USUAL = 2.0  # the usual error of an entry in units of roundoff
_PROBED = 3.2  # passes of a draft below which the certificate needs random vectors
_CONVERT = 1.2e-9  # seconds to convert an entry of a tile to float64
_SHARPER = 0.3  # sweeps that the smaller tolerance of float32 tiles costs
_FINEST, _FEWEST = 1e-7, 3000  # the smallest tolerance, and the fewest rows, for which float32 is considered
_STORE = 1.2e9  # bytes per second written to new memory


@dataclass(frozen=True)
class Layout:
    """How the tiles of a fit are computed and kept.

    Attributes
    ----------
    width : int
        Columns of a block.
    columns : int
        Columns of the Krylov basis before a restart.
    keep_bytes : int
        Memory for kept tiles.
    prepare_bytes : int
        Memory for rows prepared for products, in float64; those of the draft come on top.
    draft : bool
        Whether the Krylov space is built in float32, and refined in float64.
    float32 : bool
        Whether float32 tiles suffice for the certificate too.
    landmarks : bool
        Whether there is memory for a start from landmarks.
    seconds, bytes : float
        Estimated cost of this layout.
    """

    width: int
    columns: int
    keep_bytes: int
    prepare_bytes: int
    draft: bool
    float32: bool
    landmarks: bool
    seconds: float
    bytes: float


def choose_layout(problem: Problem) -> Layout:
    """The fastest layout that keeps few tiles, or the fastest of all where that saves a third of the time."""
    n, room = problem.n, 0.8 * problem.memory_limit - workspace(problem) - 2**22
    width = block_width(problem.k)
    if basis_bytes(n, _fewest(problem.k, width), width) > room:  # a narrow block needs more passes and less memory
        width = problem.k + 10
    columns = _fewest(problem.k, width)
    columns = max(columns, min(basis_columns(width), int((room / (8 * n) - 8 * width) / 2.2)))
    held = basis_bytes(n, columns, width)
    spare = max(0.0, room - held)
    landmarks = start_bytes(problem, width) <= spare + held / 2  # the start is computed before the basis exists
    make, multiply = gram_seconds(problem), 2 * n**2 * width / (TILE_PRODUCTS * problem.threads)
    passes = expected_passes(problem) + (0 if landmarks else 2)
    basis = min(columns, passes * width)
    inner = 16 * n * width * basis / (_MACHINE.gemm * problem.threads) + 4 * basis**3 / 1.5e10 + 3e-3

    pairs = float32_pairs(problem)

    def layout(draft: bool, keep: float) -> Layout:
        tiles = _all_tiles(problem) / (2 if draft else 1)
        kept = min(1.0, keep / tiles) if tiles else 1.0
        made = 1 + (passes - 1) * (1 - kept)
        seconds = made * make + passes * (multiply + inner) + kept * tiles / _STORE
        single = False
        if draft:  # half the time, then one or more passes in float64 on the wanted pairs and their neighbors
            probes = 0.8 if passes < _PROBED else 0.2  # a small basis has too little of the Frobenius norm
            more = 1.3 + (1 - kept) * probes + 0.4 * max(0.0, -np.log10(max(problem.tol, 1e-16)) - 6)
            refined = seconds / 2 + more * (make + multiply + inner) + kept * probes * multiply
            sweeps = passes + _SHARPER  # or the same tiles again, in sums of float64, and a comparison of entries
            made = 1 + (sweeps + probes) * (1 - kept)
            seconds = made * make / 2 + sweeps * (multiply + inner) / 2 + kept * tiles / _STORE
            seconds += (1 + probes) * (multiply + n**2 * _CONVERT / problem.threads)
            seconds += pairs * (64 * problem.d / (TILE_PRODUCTS * problem.threads) + _PAIR)
            single = seconds < refined
            seconds = min(seconds, refined)
        ready = 8 * n * (problem.d + 4)
        more_ready = ready * (1.5 if draft else 1) - min(PREPARED, ready)
        if more_ready > spare - keep:
            ready, more_ready = PREPARED, 0.0
        total = (held + keep + more_ready + workspace(problem) + 2**22) / 0.8  # allocators hold some memory back
        return Layout(width, columns, int(keep), ready, draft, single, landmarks, float(seconds), total)

    choices = [layout(False, min(_all_tiles(problem), spare))]
    if problem.kernel.draftable and not isinstance(problem.kernel, Precomputed):
        choices += [layout(True, min(_all_tiles(problem) / 2, spare)), layout(True, 0)]
    lean = choices[-1]
    cheap = [choice for choice in choices if choice.keep_bytes < held / 2]
    best, near = (min(some, key=lambda choice: choice.seconds) for some in (choices, cheap or [lean]))
    return best if best.seconds < 0.67 * near.seconds else near


def float32_norm(problem: Problem, peak: float) -> float:
    """Largest error of float32 tiles, as a norm, that the tolerance allows; `peak` is the largest eigenvalue."""
    return (1 - FLOAT32_SHARE) / 2 * problem.tol * peak


def expected_peak(problem: Problem) -> float:
    """The largest eigenvalue as the sample suggests it; the problem has a cautious estimate."""
    return problem.peak * problem.weight / CAUTION


def most_pairs(n: int) -> float:
    """Pairs of rows whose comparison with float64 takes a small part of a pass."""
    return min(4e6, n**2 / 1000)


def float32_pairs(problem: Problem) -> float:
    """Entries to compare with float64 so that float32 tiles are certified to the tolerance, as a sample suggests.

    0 where the worst case of rounding is small enough, infinite where no number of entries would do.
    """
    norm = float32_norm(problem, expected_peak(problem))
    hopeless = problem.tol < _FINEST or problem.n < _FEWEST or problem.workers or not norm > 0
    if hopeless or problem.sample is None:
        return np.inf
    rows, kernel = np.asarray(problem.sample[::8], dtype=np.float64), problem.kernel
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(rows - rows.mean(axis=0) if kernel.shift_invariant else rows, axis=1)
        unit = unit_roundoff(np.float32)
        bounds = np.array([worst_error(kernel, float(r), problem.d, unit) for r in lengths])
        worst = float(problem.weight * np.sqrt(2 * np.mean(bounds**2)))
        usual = float(problem.weight * _USUAL * unit * np.sqrt(np.mean(kernel.diagonal(rows) ** 2)))
        if worst <= norm:
            return 0.0
        pairs = 30 * (worst / norm) ** 2
        return pairs if usual <= norm and pairs <= most_pairs(problem.n) else np.inf


def basis_bytes(n: int, columns: int, width: int) -> int:
    """Bytes of a Krylov basis of `columns`, which exists twice while it grows, and of a few blocks of `width`."""
    return int(8 * n * (2.2 * columns + 8 * width))


def _fewest(k: int, width: int) -> int:
    return k + 2 * width


def expected_passes(problem: Problem) -> float:
    """Sweeps that block Krylov needs: more for flat spectra and small tolerances (measured for ten components)."""
    digits = -np.log10(min(max(problem.tol, 1e-16), 1e-2))
    rank = problem.variance / max(problem.peak, 1e-300)
    flatness = np.log2(max(1.0, rank / 45)) if isinstance(problem.kernel, RadialKernel) else 1.0
    return float(2 + 0.3 * digits + (1.2 + 0.42 * digits) * min(flatness, 8.0))


def gram_seconds(problem: Problem) -> float:
    """Seconds to compute every tile once."""
    values = problem.n**2 / 2
    if isinstance(problem.kernel, Precomputed):
        return 0.0
    if isinstance(problem.kernel, FromCallable):
        return values / _MACHINE.python
    return values * (2 * problem.d / TILE_PRODUCTS + 1 / TILE_VALUES) / problem.threads


def workspace(problem: Problem) -> int:
    """Bytes of temporary tiles, and of rows prepared for products."""
    return problem.threads * 3 * 8 * min(TILE, problem.n) ** 2 + min(PREPARED, 8 * problem.n * (problem.d + 4)) + 2**20


def _all_tiles(problem: Problem) -> int:
    """Bytes of one triangle of tiles in float64; 0 for a precomputed matrix, which is in memory already."""
    blocks = -(-problem.n // TILE)
    return 0 if isinstance(problem.kernel, Precomputed) else 8 * TILE**2 * blocks * (blocks + 1) // 2


def start_bytes(problem: Problem, width: int) -> int:
    """Bytes that a start from landmarks takes."""
    size = max(LANDMARKS, 2 * width)
    return 8 * (size * size * (GROUPS + 6) + problem.threads * 4 * ROWS * size + 3 * problem.n * width)
