"""Products with Gram matrices, each with a bound on its error."""

from gramless.gram.base import GramOperator, Statistics
from gramless.gram.centered import CenteredGram
from gramless.gram.dense import DenseGram
from gramless.gram.factored import FactoredGram, fast_product
from gramless.gram.nystroem import Nystroem
from gramless.gram.row_products import CenteredRows, RowProducts
from gramless.gram.sparse import SparseGram
from gramless.gram.tiled import Float32Gram, TiledGram, rectangular_error, rectangular_product

__all__ = [
    "CenteredGram",
    "CenteredRows",
    "DenseGram",
    "FactoredGram",
    "Float32Gram",
    "GramOperator",
    "Nystroem",
    "RowProducts",
    "SparseGram",
    "Statistics",
    "TiledGram",
    "fast_product",
    "rectangular_error",
    "rectangular_product",
]
