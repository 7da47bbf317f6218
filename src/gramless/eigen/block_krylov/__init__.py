"""Block Krylov with thick restart: the solver for large problems."""

from gramless.eigen.block_krylov.solver import BlockKrylov, basis_columns, block_width

__all__ = ["BlockKrylov", "basis_columns", "block_width"]
