"""Arrays: their types, their rounding, threads over them and the memory they take."""

from gramless.arrays.dtypes import Array, unit_roundoff
from gramless.arrays.eigenpairs import leading_eigenpairs
from gramless.arrays.memory import parse_memory
from gramless.arrays.products import (
    inner,
    inner_rounding,
    orthonormalize,
    orthonormalize_roughly,
    row_inner,
    times,
    triangular_solve,
)
from gramless.arrays.scale import (
    diagonal_of_box,
    in_range,
    refuse_scale,
    refuse_squares,
    refuse_weights,
    squares_overflow,
)
from gramless.arrays.seeds import read_seed
from gramless.arrays.spacing import evenly_spaced
from gramless.arrays.symbols import Symbolic, is_symbolic
from gramless.arrays.tensors import (
    beside,
    blank,
    copied,
    in_dtype,
    in_float32,
    in_float64,
    is_tensor,
    like,
    lower_gamma,
    namespace,
    normal_columns,
    row_squares,
    to_numpy,
)
from gramless.arrays.threads import (
    blas_threads_for,
    one_blas_thread,
    run_in_threads,
    thread_count,
    threads_for,
    use_threads,
)
from gramless.arrays.tower import Tower

__all__ = [
    "Array",
    "Symbolic",
    "Tower",
    "beside",
    "blank",
    "blas_threads_for",
    "copied",
    "diagonal_of_box",
    "evenly_spaced",
    "in_dtype",
    "in_float32",
    "in_float64",
    "in_range",
    "inner",
    "inner_rounding",
    "is_symbolic",
    "is_tensor",
    "leading_eigenpairs",
    "like",
    "lower_gamma",
    "namespace",
    "normal_columns",
    "one_blas_thread",
    "orthonormalize",
    "orthonormalize_roughly",
    "parse_memory",
    "read_seed",
    "refuse_scale",
    "refuse_squares",
    "refuse_weights",
    "row_inner",
    "row_squares",
    "run_in_threads",
    "squares_overflow",
    "thread_count",
    "threads_for",
    "times",
    "to_numpy",
    "triangular_solve",
    "unit_roundoff",
    "use_threads",
]
