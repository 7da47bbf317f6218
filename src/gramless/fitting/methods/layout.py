"""How exact methods use memory and time: kept tiles, columns of a basis, landmarks, and tiles in float32."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import unit_roundoff
from gramless.eigen.block_krylov import basis_columns, block_width
from gramless.features.landmark_sizes import curve_of
from gramless.fitting.methods.start import GROUPS, ROWS, STARTED
from gramless.gram.spectrum import CAUTION
from gramless.gram.tiled import PREPARED, TILE
from gramless.kernels import FromCallable, Precomputed, RadialKernel
from gramless.kernels.pairs import worst_error
from gramless.machine import TILE_PRODUCTS, TILE_VALUES, Machine
from gramless.problem import Problem

_MACHINE = Machine()
_SHARES = 0.7, 0.2  # part of the tolerance for the residual where the rest is for the rounding of float32 tiles
_CHEAP = 0.1  # part of a pass over float32 tiles that their comparison with float64 may take
_CORRECTION = 0.06  # part of the tolerance that errors of products with corrections should take
_SHORT = 1e-6  # length of corrections after a pass in float64 over vectors that float32 tiles improved
_CAUTION = 1.15  # a bound outside, estimated from a sample, may be too low by as much
_PAIR = 8e-6  # seconds to compare an entry with float64, besides its product
_USUAL = 2.0  # the usual error of an entry in units of roundoff
_PROBED = 3.2  # passes of a draft below which the certificate needs random vectors
_CONVERT = 2e-10  # seconds to convert an entry of a tile to float64
LANDMARKS = (500, 700, 1000, 1400, 2000)
_NEIGHBORS = (43, 13)  # most columns of a first block beyond the components; fewer where memory is short
_USUAL_NEIGHBORS = 16
_POOR = 0.3  # factor by which an approximate inverse must reduce residuals to be of use
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
        Columns of the basis before a restart.
    keep_bytes : int
        Memory for kept tiles.
    prepare_bytes : int
        Memory for rows prepared for products, in float64; those of the draft come on top.
    draft : bool
        Whether there are float32 tiles: for a draft of the eigenvectors, or for their corrections.
    float32 : bool
        Whether float32 tiles suffice for the certificate too.
    landmarks : int
        Landmarks to begin with; 0 where there is no memory for them.
    seconds, bytes : float
        Estimated cost of this layout.
    """

    width: int
    columns: int
    keep_bytes: int
    prepare_bytes: int
    draft: bool
    float32: bool
    landmarks: int
    seconds: float
    bytes: float


def choose_layout(problem: Problem) -> Layout:
    """The fastest layout that keeps few tiles, or the fastest of all where that saves a third of the time."""
    choices = _with_inverse(problem) or _without_inverse(problem)
    held = 8 * problem.n * 2 * choices[0].columns
    cheap = [choice for choice in choices if choice.keep_bytes < held / 2] or choices[-1:]
    best, near = (min(some, key=lambda choice: choice.seconds) for some in (choices, cheap))
    return best if best.seconds < 0.67 * near.seconds else near


def preconditioned(problem: Problem) -> bool:
    """Whether the Nyström approximation of the Gram matrix serves as an approximate inverse."""
    able = problem.kernel.mercer and not isinstance(problem.kernel, (Precomputed, FromCallable))
    return bool(able and not problem.workers and problem.n >= 8 * LANDMARKS[0])


def _with_inverse(problem: Problem) -> list[Layout]:
    """Layouts for :class:`~gramless.eigen.Davidson`; empty where landmarks are of no use, or memory is short."""
    if not preconditioned(problem):
        return []
    n, k, room = problem.n, problem.k, 0.8 * problem.memory_limit - workspace(problem) - 2**22
    for neighbors in _NEIGHBORS:
        width = k + neighbors
        columns = int(min((room / (8 * n) - 8 * width) / 3.2, 6 * width))
        if columns >= width + 2 * k:
            break
    else:
        return []
    held = 8 * n * (3.2 * columns + 8 * width)
    spare = max(0.0, room - held)
    course, choices = _Course(problem), []
    for m in LANDMARKS:
        if 8 * m > n or nystroem_bytes(problem, m, width) > spare + held / 2:
            break
        if course.start(m)[1] > _POOR:
            continue
        for draft in (True, False) if problem.kernel.draftable else (False,):
            tiles = _all_tiles(problem) / (2 if draft else 1)
            for keep in (min(tiles, spare), 0.0):
                ready, more = _ready_bytes(problem, draft, spare - keep)
                size = (held + keep + more + workspace(problem) + 2**22) / 0.8  # allocators hold some memory back
                for single in (True, False) if draft else (False,):
                    seconds = course.seconds(m, keep, tiles, draft, single)
                    choices.append(Layout(width, columns, int(keep), ready, draft, single, m, seconds, size))
    return choices


class _Course:
    """What the passes of a fit with landmarks will be, as a sample of the rows suggests."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self._first = problem, problem.k + _USUAL_NEIGHBORS
        self._curve = curve_of(problem)
        self._pairs = float32_pairs(problem)
        self._half = problem.n**2 / 2 / problem.threads

    def seconds(self, m: int, keep: float, tiles: float, draft: bool, single: bool) -> float:
        """Seconds with `m` landmarks, and `keep` of all bytes of `tiles` kept; infinite if float32 does not suffice."""
        problem, tol, k, kept = self._problem, self._problem.tol, self._problem.k, keep / tiles
        first, factor = self.start(m)
        before = nystroem_seconds(problem, m, self._first) + keep / _STORE + 5e-3
        if self._curve is not None and _CAUTION * self._curve.outside(m, problem.n) > self._curve.last:
            # landmarks do not prove that the pairs are the leading ones: block Krylov will
            before += expected_passes(problem) * (self._rough(self._first, kept) if draft else self._full(self._first))
        if single:
            if self._pairs == np.inf:
                return float("inf")
            steps = _steps(first, float32_share(problem) * tol, factor)
            before += _check_seconds(problem, self._pairs)
            return before + self._rough(self._first, 0.0) + steps * self._step(m, kept)
        if not draft:
            again = (1 - kept) * self._full(k) + kept * self._multiplied(k) + self._inverse(m)
            return before + self._full(self._first) + _steps(first, tol, factor) * again
        if kept > 0.5:  # float32 tiles until they have no more to give, one pass in float64, then float32 again
            steps = _steps(first, max(tol, 1e-7), factor) + _steps(1e-7, tol, factor)
            return before + self._rough(self._first, 0.0) + self._full(self._first) + steps * self._step(m, kept)
        sharp, length = 0, factor  # corrections in float64, until those that are left may be multiplied in float32
        while first > tol and not _checkable(problem, _correction_norm(problem, length)) and sharp < 20:
            first, length, sharp = first * factor, length * factor, sharp + 1
        corrections = sharp * (self._full(k) + self._inverse(m)) + _steps(first, tol, factor) * self._step(m, 0.0)
        return before + self._full(self._first) + corrections

    def start(self, m: int) -> tuple[float, float]:
        """Residual of the first vectors, and the factor by which a pass reduces it."""
        if self._curve is None:
            first, last = 5e-4 * (500 / m) ** 1.5, 0.05
        else:
            first, last = self._curve.residual(m), self._curve.last
        return first, float(np.clip(first / max(last, 1e-12), 1e-5, 0.9))

    def _step(self, m: int, kept: float) -> float:
        """A pass over float32 tiles for corrections, and the inverse that suggests them."""
        return self._rough(self._problem.k, kept) + self._inverse(m)

    def _inverse(self, m: int) -> float:
        """The approximate inverse, applied to the residuals."""
        problem = self._problem
        values = problem.n * m * (1 / TILE_VALUES + 2 * (problem.d + problem.k) / TILE_PRODUCTS)
        return values / problem.threads + 5e-3

    def _rough(self, columns: int, kept: float) -> float:
        return (1 - kept) * gram_seconds(self._problem) / 2 + self._multiplied(columns) + self._half * _CONVERT

    def _full(self, columns: int) -> float:
        return gram_seconds(self._problem) + self._multiplied(columns)

    def _multiplied(self, columns: int) -> float:
        return self._half * 4 * (columns + 5) / TILE_PRODUCTS


def _steps(first: float, goal: float, factor: float) -> int:
    """Passes that reduce a residual from `first` to `goal`."""
    return int(np.ceil(np.log(goal / first) / np.log(factor))) if first > goal else 0


def nystroem_seconds(problem: Problem, m: int, columns: int) -> float:
    """Seconds to compute the moments of the features of `m` landmarks, and their leading vectors."""
    row = m * (1.5 / TILE_VALUES + (3 * problem.d + columns) / TILE_PRODUCTS) + 3 * m**2 / TILE_PRODUCTS
    return problem.n * row / problem.threads + 10 * m**3 / _MACHINE.eigh


def nystroem_bytes(problem: Problem, m: int, width: int) -> int:
    """Bytes that landmarks take while their moments are summed."""
    return 8 * (12 * m * m + problem.threads * 4 * 1024 * m + 3 * problem.n * width)


def _ready_bytes(problem: Problem, drafts: bool, spare: float) -> tuple[int, float]:
    """Memory for prepared rows, and what of it comes on top of the workspace."""
    ready = 8 * problem.n * (problem.d + 4)
    more = ready * (1.5 if drafts else 1) - min(PREPARED, ready)
    return (PREPARED, 0.0) if more > spare else (ready, more)


def _without_inverse(problem: Problem) -> list[Layout]:
    """Layouts for :class:`~gramless.eigen.BlockKrylov`, with tiles kept or not, in float64 or with a draft."""
    n, room = problem.n, 0.8 * problem.memory_limit - workspace(problem) - 2**22
    width = block_width(problem.k)
    if basis_bytes(n, _fewest(problem.k, width), width) > room:  # a narrow block needs more passes and less memory
        width = problem.k + 10
    columns = _fewest(problem.k, width)
    columns = max(columns, min(basis_columns(width), int((room / (8 * n) - 8 * width) / 2.2)))
    held = basis_bytes(n, columns, width)
    spare = max(0.0, room - held)
    starts = start_bytes(problem, width) <= spare + held / 2  # the start is computed before the basis exists
    landmarks = max(STARTED, 2 * width) if starts else 0
    make, multiply = gram_seconds(problem), 2 * n**2 * width / (TILE_PRODUCTS * problem.threads)
    passes = expected_passes(problem) + (0 if landmarks else 2)
    basis = min(columns, passes * width)
    inner = 16 * n * width * basis / (_MACHINE.gemm * problem.threads) + 4 * basis**3 / 1.5e10 + 3e-3

    def layout(draft: bool, keep: float) -> Layout:
        tiles = _all_tiles(problem) / (2 if draft else 1)
        kept = min(1.0, keep / tiles) if tiles else 1.0
        made = 1 + (passes - 1) * (1 - kept)
        seconds = made * make + passes * (multiply + inner) + kept * tiles / _STORE
        if draft:  # half the time, then one or more passes in float64 on the wanted pairs and their neighbors
            probes = 0.8 if passes < _PROBED else 0.2  # a small basis has too little of the Frobenius norm
            more = 1.3 + (1 - kept) * probes + 0.4 * max(0.0, -np.log10(max(problem.tol, 1e-16)) - 6)
            seconds = seconds / 2 + more * (make + multiply + inner) + kept * probes * multiply
        ready, more_ready = _ready_bytes(problem, draft, spare - keep)
        total = (held + keep + more_ready + workspace(problem) + 2**22) / 0.8  # allocators hold some memory back
        return Layout(width, columns, int(keep), ready, draft, False, landmarks, float(seconds), total)

    choices = [layout(False, min(_all_tiles(problem), spare))]
    if problem.kernel.draftable and not isinstance(problem.kernel, Precomputed):
        choices += [layout(True, min(_all_tiles(problem) / 2, spare)), layout(True, 0)]
    return choices


def float32_norm(problem: Problem, peak: float) -> float:
    """Largest error of float32 tiles, as a norm, that the tolerance allows; `peak` is the largest eigenvalue."""
    return (1 - float32_share(problem)) / 2 * problem.tol * peak


def correction_norm(problem: Problem, layout: Layout) -> float:
    """Largest error of float32 tiles, as a norm, for corrections; 0 where they are multiplied in float64.

    Kept tiles are multiplied until the residual is close to their rounding, and after one pass in float64 corrections
    are short. Where no tiles are kept, the corrections of the first pass should suffice.
    """
    norm = _correction_norm(problem, _SHORT if layout.keep_bytes else _Course(problem).start(layout.landmarks)[1])
    return norm if _checkable(problem, norm) else 0.0


def _correction_norm(problem: Problem, length: float) -> float:
    """Largest error of float32 tiles, as a norm, for corrections of this length."""
    return _CORRECTION * problem.tol * expected_peak(problem) / length


def _checkable(problem: Problem, norm: float) -> bool:
    """Whether float32 tiles can be proved that accurate, in a small part of a pass."""
    worst = float32_worst(problem)
    if not norm > 0 or not worst < np.inf or problem.n < _FEWEST:
        return False
    pairs = _pairs_for(worst, norm)
    cheap = _check_seconds(problem, pairs) < _CHEAP * gram_seconds(problem) / 2 and pairs <= most_pairs(problem.n)
    return bool(worst <= norm or (cheap and _usual_norm(problem) <= norm))


def _usual_norm(problem: Problem) -> float:
    """The usual error of float32 tiles, as a norm."""
    diagonal = problem.kernel.diagonal(np.asarray(problem.sample[::8], dtype=np.float64))
    with np.errstate(over="ignore", invalid="ignore"):
        return float(problem.weight * _USUAL * unit_roundoff(np.float32) * np.sqrt(np.mean(diagonal**2)))


def float32_share(problem: Problem) -> float:
    """Part of the tolerance for the residual: most of it where the comparison with float64 that this takes is cheap."""
    most, least = _SHARES
    return most if _checkable(problem, (1 - most) / 2 * problem.tol * expected_peak(problem)) else least


def _check_seconds(problem: Problem, pairs: float) -> float:
    """Seconds to compare as many entries of float32 tiles with float64."""
    return pairs * (64 * problem.d / (TILE_PRODUCTS * problem.threads) + _PAIR)


def _pairs_for(worst: float, norm: float) -> float:
    with np.errstate(over="ignore"):
        return 30 * float(worst / norm) ** 2


def expected_peak(problem: Problem) -> float:
    """The largest eigenvalue as the sample suggests it; the problem has a cautious estimate."""
    return problem.peak * problem.weight / CAUTION


def most_pairs(n: int) -> float:
    """Pairs of rows whose comparison with float64 takes a small part of a pass."""
    return min(4e6, n**2 / 1000)


def float32_worst(problem: Problem) -> float:
    """Worst error of float32 tiles, as a norm, as a sample suggests it; infinite without a sample."""
    if problem.sample is None:
        return np.inf
    rows, kernel = np.asarray(problem.sample[::8], dtype=np.float64), problem.kernel
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(rows - rows.mean(axis=0) if kernel.shift_invariant else rows, axis=1)
        bounds = np.array([worst_error(kernel, float(r), problem.d, unit_roundoff(np.float32)) for r in lengths])
        return float(problem.weight * np.sqrt(2 * np.mean(bounds**2)))


def float32_pairs(problem: Problem) -> float:
    """Entries to compare with float64 so that float32 tiles are certified to the tolerance, as a sample suggests.

    0 where the worst case of rounding is small enough, infinite where no number of entries would do.
    """
    norm = float32_norm(problem, expected_peak(problem))
    if problem.tol < _FINEST or problem.n < _FEWEST or problem.workers or not norm > 0 or problem.sample is None:
        return np.inf
    worst = float32_worst(problem)
    if worst <= norm:
        return 0.0
    pairs = _pairs_for(worst, norm)
    return pairs if _usual_norm(problem) <= norm and pairs <= most_pairs(problem.n) else np.inf


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
    size = max(STARTED, 2 * width)
    return 8 * (size * size * (GROUPS + 6) + problem.threads * 4 * ROWS * size + 3 * problem.n * width)
