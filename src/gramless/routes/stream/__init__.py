"""Rows that come in batches: what is kept of them, and a model at any time."""

from gramless.routes.stream.base import Stream
from gramless.routes.stream.concluding import conclude_space
from gramless.routes.stream.from_fit import space_of_fit, stream_of_fit
from gramless.routes.stream.merging import MergingStream
from gramless.routes.stream.moments import MomentStream
from gramless.routes.stream.open import open_stream
from gramless.routes.stream.refitting import RefittingStream
from gramless.routes.stream.support import LandmarkStream

__all__ = [
    "LandmarkStream",
    "MergingStream",
    "MomentStream",
    "RefittingStream",
    "Stream",
    "conclude_space",
    "open_stream",
    "space_of_fit",
    "stream_of_fit",
]
