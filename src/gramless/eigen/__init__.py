"""Leading eigenpairs of any symmetric operator, by many solvers behind one signature."""

from gramless.eigen.arnoldi import Arnoldi
from gramless.eigen.arpack import Arpack
from gramless.eigen.base import Basis, EigenResult, Goal, Operator, Outcome, Solver, solvers
from gramless.eigen.block_krylov import BlockKrylov
from gramless.eigen.davidson import Davidson, Near
from gramless.eigen.dense import Dense
from gramless.eigen.inverse import InverseIteration
from gramless.eigen.lanczos import Lanczos, LanczosProcess, PlainLanczos, SelectiveLanczos
from gramless.eigen.lobpcg import Lobpcg
from gramless.eigen.named import named_solver
from gramless.eigen.power import Power, SchurPower, ShiftedPower
from gramless.eigen.randomized import Randomized
from gramless.eigen.solve import NotConvergedWarning, eigsh
from gramless.eigen.subspace import SubspaceIteration

__all__ = [
    "Arnoldi",
    "Arpack",
    "Basis",
    "BlockKrylov",
    "Davidson",
    "Dense",
    "EigenResult",
    "Goal",
    "InverseIteration",
    "Lanczos",
    "LanczosProcess",
    "Lobpcg",
    "Near",
    "NotConvergedWarning",
    "Operator",
    "Outcome",
    "PlainLanczos",
    "Power",
    "Randomized",
    "SchurPower",
    "SelectiveLanczos",
    "ShiftedPower",
    "Solver",
    "SubspaceIteration",
    "eigsh",
    "named_solver",
    "solvers",
]
