"""Kernels: formulas of two points, each with its rounding error, and tests of positive semidefiniteness."""

from gramless.kernels.base import DotKernel, Kernel, RadialKernel, kernels
from gramless.kernels.callable_kernel import FromCallable
from gramless.kernels.combine import Product, Scaled, Sum
from gramless.kernels.cosine import Cosine
from gramless.kernels.epanechnikov import Epanechnikov
from gramless.kernels.gaussian import Gaussian
from gramless.kernels.laplacian import Laplacian
from gramless.kernels.linear import Linear
from gramless.kernels.manhattan import Manhattan
from gramless.kernels.matern import Matern
from gramless.kernels.mercer import Witness, check_mercer, find_witness
from gramless.kernels.names import is_precomputed, kernel_from_name, warn_if_indefinite
from gramless.kernels.points import Points, column_shift, dense_rows
from gramless.kernels.polynomial import Polynomial
from gramless.kernels.precomputed import Precomputed
from gramless.kernels.quadratic_form import QuadraticForm
from gramless.kernels.rounding import Rounding
from gramless.kernels.tanh import Tanh

__all__ = [
    "Cosine",
    "DotKernel",
    "Epanechnikov",
    "FromCallable",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Manhattan",
    "Matern",
    "Points",
    "Polynomial",
    "Precomputed",
    "Product",
    "QuadraticForm",
    "RadialKernel",
    "Rounding",
    "Scaled",
    "Sum",
    "Tanh",
    "Witness",
    "check_mercer",
    "column_shift",
    "dense_rows",
    "find_witness",
    "is_precomputed",
    "kernel_from_name",
    "kernels",
    "warn_if_indefinite",
]
