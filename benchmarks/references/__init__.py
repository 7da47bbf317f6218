"""The alternatives that Raykar & Ankur's introduction lists, written to be read: what a comparison compares with."""

from benchmarks.references.expectation_maximization import em_pairs
from benchmarks.references.sampling import quantized_pairs, row_sampled_pairs, sparsified_pairs

__all__ = ["em_pairs", "quantized_pairs", "row_sampled_pairs", "sparsified_pairs"]
