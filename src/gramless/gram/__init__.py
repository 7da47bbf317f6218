"""Products with Gram matrices, each with a stated error."""

from gramless.gram.base import GramOperator, Statistics
from gramless.gram.centered import CenteredGram
from gramless.gram.dense import DenseGram
from gramless.gram.tiled import TiledGram, rectangular_product

__all__ = ["CenteredGram", "DenseGram", "GramOperator", "Statistics", "TiledGram", "rectangular_product"]
