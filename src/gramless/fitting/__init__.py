"""The functions that make, extend and join fits; every estimator uses them."""

from gramless.fitting.fit import fit, prepare, warn_of_dominance
from gramless.fitting.fitted import Fit, Projection, in_precision
from gramless.fitting.out_of_core import Begun
from gramless.fitting.posing import Prepared
from gramless.fitting.preimages import learn_preimage, resampled
from gramless.fitting.stream import extend, finish, join, shrunk

__all__ = [
    "Begun",
    "Fit",
    "Prepared",
    "Projection",
    "extend",
    "finish",
    "fit",
    "in_precision",
    "join",
    "learn_preimage",
    "prepare",
    "resampled",
    "shrunk",
    "warn_of_dominance",
]
