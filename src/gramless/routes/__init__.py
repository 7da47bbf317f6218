"""A plan carried out."""

from gramless.routes.fitted import Fitted
from gramless.routes.implicit import DenseMethod, TiledMethod
from gramless.routes.linear import CovarianceMethod, SvdMethod
from gramless.routes.sparse_route import SparseMethod

__all__ = ["CovarianceMethod", "DenseMethod", "Fitted", "SparseMethod", "SvdMethod", "TiledMethod"]
