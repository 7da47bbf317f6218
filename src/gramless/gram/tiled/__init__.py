"""Gram products tile by tile: the matrix is stored only as far as memory was allowed for it."""

from gramless.gram.tiled.operator import Float32Gram, SweptGram, TiledGram
from gramless.gram.tiled.pair import Products, Sweep, pair_products
from gramless.gram.tiled.rectangular import kernel_radius, rectangular_error, rectangular_product
from gramless.gram.tiled.tiles import PREPARED, TILE, middle

__all__ = [
    "PREPARED",
    "TILE",
    "Float32Gram",
    "Products",
    "Sweep",
    "SweptGram",
    "TiledGram",
    "kernel_radius",
    "middle",
    "pair_products",
    "rectangular_error",
    "rectangular_product",
]
