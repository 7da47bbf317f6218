"""Arrays: their types, their rounding, threads over them and the memory they take."""

from gramless.arrays.dtypes import Array, unit_roundoff
from gramless.arrays.memory import parse_memory
from gramless.arrays.products import inner, inner_rounding, orthonormalize, orthonormalize_roughly, times
from gramless.arrays.scale import in_range, refuse_scale, refuse_squares
from gramless.arrays.tensors import beside, in_float32, in_float64, is_tensor, like, to_numpy
from gramless.arrays.threads import blas_threads_for, one_blas_thread, run_in_threads, thread_count, use_threads
from gramless.arrays.tower import Tower

__all__ = [
    "Array",
    "Tower",
    "beside",
    "blas_threads_for",
    "in_float32",
    "in_float64",
    "in_range",
    "inner",
    "inner_rounding",
    "is_tensor",
    "like",
    "one_blas_thread",
    "orthonormalize",
    "orthonormalize_roughly",
    "parse_memory",
    "refuse_scale",
    "refuse_squares",
    "run_in_threads",
    "thread_count",
    "times",
    "to_numpy",
    "unit_roundoff",
    "use_threads",
]
