"""Work on data in parts: a protocol, and what does it in this process."""

from gramless.execution.libraries import library_of
from gramless.execution.local_parts import LocalParts
from gramless.execution.parts import Pairs, Part, Parts, join_in_tree, split_evenly

__all__ = ["LocalParts", "Pairs", "Part", "Parts", "join_in_tree", "library_of", "split_evenly"]
