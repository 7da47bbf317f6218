"""Arrays: their types, their rounding, threads over them and the memory they take."""

from gramless.arrays.dtypes import Array, unit_roundoff
from gramless.arrays.memory import parse_memory
from gramless.arrays.products import inner, inner_rounding, orthonormalize
from gramless.arrays.threads import run_in_threads, thread_count

__all__ = [
    "Array",
    "inner",
    "inner_rounding",
    "orthonormalize",
    "parse_memory",
    "run_in_threads",
    "thread_count",
    "unit_roundoff",
]
