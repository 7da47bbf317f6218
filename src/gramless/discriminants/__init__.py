"""Discriminants in feature space: generalized symmetric eigenproblems of scatters of an eigenspace's coordinates."""

from gramless.discriminants.biased import BiasedRule, find_biased
from gramless.discriminants.coordinates import training_coordinates
from gramless.discriminants.fisher import FisherRule, find_fisher
from gramless.discriminants.projection import Projection
from gramless.discriminants.scatter import ClassScatter, gather_classes
from gramless.discriminants.shrinkage import ledoit_wolf, shrink

__all__ = [
    "BiasedRule",
    "ClassScatter",
    "FisherRule",
    "Projection",
    "find_biased",
    "find_fisher",
    "gather_classes",
    "ledoit_wolf",
    "shrink",
    "training_coordinates",
]
