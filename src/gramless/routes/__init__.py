"""A plan carried out."""

from gramless.routes.cuda_route import CudaMethod
from gramless.routes.explicit import ExplicitMethod, conclude
from gramless.routes.fitted import Fitted
from gramless.routes.implicit import DenseMethod, TiledMethod
from gramless.routes.linear import CovarianceMethod, SvdMethod
from gramless.routes.sparse_route import SparseMethod
from gramless.routes.stream import Stream, open_stream, stream_of_fit

__all__ = [
    "CovarianceMethod",
    "CudaMethod",
    "DenseMethod",
    "ExplicitMethod",
    "Fitted",
    "SparseMethod",
    "Stream",
    "SvdMethod",
    "TiledMethod",
    "conclude",
    "open_stream",
    "stream_of_fit",
]
