"""A plan carried out."""

from gramless.routes.cuda_route import CudaMethod
from gramless.routes.explicit import ExplicitMethod, conclude, stream_signs
from gramless.routes.fitted import Fitted
from gramless.routes.implicit import DenseMethod, TiledMethod
from gramless.routes.linear import CovarianceMethod, SvdMethod
from gramless.routes.sparse_route import SparseMethod

__all__ = [
    "CovarianceMethod",
    "CudaMethod",
    "DenseMethod",
    "ExplicitMethod",
    "Fitted",
    "SparseMethod",
    "SvdMethod",
    "TiledMethod",
    "conclude",
    "stream_signs",
]
