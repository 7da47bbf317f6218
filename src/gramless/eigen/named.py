"""Solvers by the name that a user passes."""

from __future__ import annotations

from typing import Any

from gramless.eigen.base import Solver, solvers
from gramless.eigen.randomized import Randomized


def named_solver(name: str, iterated_power: Any = "auto") -> Solver | None:
    """The solver that ``eigen_solver=`` names, with its settings; None where a method has its own."""
    if name == "randomized":
        return Randomized(iterated_power=iterated_power)
    return None if name in ("auto", "dense") else solvers[name]()
