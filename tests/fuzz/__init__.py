"""Fuzzing: files that are damaged or made to mislead must be refused by name, at once, and at no cost in memory.

``FUZZERS[name](seconds, seed)`` tries inputs for that long and returns counts: ``inputs``, ``bytes``, ``refused`` (a
FormatError), ``accepted`` (read, and the answer is right or an ordinary error), ``failures`` (anything else: a crash,
a hang, another exception, too much memory, a wrong answer) and ``reports``, a line for each failure. The same seed
gives the same inputs.
"""

from fuzz import model_files, readers

FUZZERS = {"model files": model_files.run, "readers": readers.run}
