"""The protocols of :mod:`gramless.data` implemented with Dask; this package has no numerical code."""

from gramless.distributed.client import cluster_client
from gramless.distributed.lazy import map_rows
from gramless.distributed.pairs import DaskPairs
from gramless.distributed.parts import DaskParts
from gramless.distributed.reading import open_parts

__all__ = ["DaskPairs", "DaskParts", "cluster_client", "map_rows", "open_parts"]
