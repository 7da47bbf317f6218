"""Components of rows that are read from a source in blocks, to an array or to a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from gramless.arrays import Array, use_threads
from gramless.estimators.columns import refuse_other_source
from gramless.estimators.source_rows import open_rows
from gramless.execution import LocalRows, read_ahead
from gramless.sources import open_writer


def transform_source(model: Any, X: Any, out: Any) -> Any:
    """What `transform` of a KernelPCA returns for a source: scores (m, k), or `out`, the file they were written to."""
    check_is_fitted(model)
    rows = open_rows(model, X)
    refuse_other_source(model, rows)
    if out is None:
        return np.concatenate(list(_projected(model, rows)))
    if _get_output_config("transform", model)["dense"] != "default":
        raise ValueError("out= returns a path, not a data frame: call set_output(transform='default') first")
    with open_writer(out, model.get_feature_names_out(), rows.dtype) as writer:
        for scores in _projected(model, rows):
            writer.write(scores)
    return out


def _projected(model: Any, rows: LocalRows) -> Iterator[Array]:
    """Components, block by block."""
    with use_threads(model.n_jobs):
        for block in read_ahead(rows.blocks()):
            yield model._like_input(model._space.project(model._rows_for_kernel(block.x)), block.x)
