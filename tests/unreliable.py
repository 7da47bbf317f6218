"""Blocks of a Dask array that misbehave on purpose. Workers import this module, so it is not a test module."""

import os
import pathlib

import numpy as np


def fail_once(block: np.ndarray, marker: str) -> np.ndarray:
    """Raises the first time it is called with a row of sevens, and never again."""
    if (block == 7).all(axis=1).any() and not os.path.exists(marker):
        pathlib.Path(marker).touch()
        raise OSError("the disk was busy")
    return block


def fail_always(block: np.ndarray) -> np.ndarray:
    """Raises for a block with a row of sevens."""
    if (block == 7).all(axis=1).any():
        raise OSError("the disk is broken")
    return block


def kill_the_worker(block: np.ndarray) -> np.ndarray:
    """Ends the process that works on a block with a row of sevens."""
    if (block == 7).all(axis=1).any():
        os._exit(1)
    return block
