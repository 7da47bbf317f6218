"""A batch job: the scores of a file of rows, some thousand rows at a time. Pass the model, the rows and the output."""

import sys

import numpy as np
import onnxruntime

model, source, target = sys.argv[1:]
session = onnxruntime.InferenceSession(model)
rows = np.load(source, mmap_mode="r")
columns = session.get_outputs()[0].shape[1]
scores = np.lib.format.open_memmap(target, "w+", np.float64, (len(rows), columns))
for first in range(0, len(rows), 4096):
    part = slice(first, first + 4096)
    (scores[part],) = session.run(["transform"], {"X": rows[part]})
scores.flush()
