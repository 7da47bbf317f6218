"""The methods that solve a problem, one module each, and the plan that chooses among them."""
# ruff: noqa: I001  (methods appear in a plan in the order of these imports)

from gramless.fitting.methods.base import Method, Solution, Solved, State, methods
from gramless.fitting.methods.planning import (
    InaccurateError,
    Plan,
    carried_on,
    choose,
    make_plan,
    straight_plan,
    where_asked,
)
from gramless.fitting.methods.explicit import ExplicitMethod
from gramless.fitting.methods.exact import DenseMethod, TiledMethod
from gramless.fitting.methods.cuda import CudaMethod
from gramless.fitting.methods.linear import CovarianceMethod, SvdMethod
from gramless.fitting.methods.products import ProductsMethod
from gramless.fitting.methods.sparse import SparseMethod
from gramless.fitting.methods.merging import MergedSpaces, MergingMethod
from gramless.fitting.methods.bounded import BoundedPoints
from gramless.fitting.methods.refitting import KeptRows, RefittingMethod
from gramless.fitting.methods.moments import MomentState
from gramless.fitting.methods.continuing import state_of

__all__ = [
    "BoundedPoints",
    "CovarianceMethod",
    "CudaMethod",
    "DenseMethod",
    "ExplicitMethod",
    "InaccurateError",
    "KeptRows",
    "MergedSpaces",
    "MergingMethod",
    "Method",
    "MomentState",
    "Plan",
    "ProductsMethod",
    "RefittingMethod",
    "Solution",
    "Solved",
    "SparseMethod",
    "State",
    "SvdMethod",
    "TiledMethod",
    "carried_on",
    "choose",
    "make_plan",
    "methods",
    "state_of",
    "straight_plan",
    "where_asked",
]
