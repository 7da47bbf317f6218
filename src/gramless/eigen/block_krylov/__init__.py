"""Block Krylov with thick restart: the solver for large problems."""

from gramless.eigen.block_krylov.solver import BlockKrylov, block_width

__all__ = ["BlockKrylov", "block_width"]
