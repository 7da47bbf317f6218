"""Bandwidths of kernels, chosen by a rule or by a search."""

from gramless.bandwidth.choice import CRITERIA, SEARCHED, NamedKernel
from gramless.bandwidth.rules import gamma_of_variance, resolve_gamma
from gramless.bandwidth.search import Bandwidth, bandwidth_of, read_pattern, search_bandwidth, with_bandwidth

__all__ = [
    "CRITERIA",
    "SEARCHED",
    "Bandwidth",
    "NamedKernel",
    "bandwidth_of",
    "gamma_of_variance",
    "read_pattern",
    "resolve_gamma",
    "search_bandwidth",
    "with_bandwidth",
]
