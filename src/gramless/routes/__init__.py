"""A plan carried out."""

from gramless.routes.explicit import ExplicitMethod, conclude, stream_signs
from gramless.routes.fitted import Fitted
from gramless.routes.implicit import DenseMethod, TiledMethod
from gramless.routes.linear import CovarianceMethod, SvdMethod

__all__ = [
    "CovarianceMethod",
    "DenseMethod",
    "ExplicitMethod",
    "Fitted",
    "SvdMethod",
    "TiledMethod",
    "conclude",
    "stream_signs",
]
