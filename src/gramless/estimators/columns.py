"""How many columns rows have, and their names: kept by a fit, and compared with those of rows that come later."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.errors import SourceError
from gramless.execution import LocalRows
from gramless.routes.parted import PartedRows


def take_columns(model: Any, rows: LocalRows | PartedRows) -> None:
    """Set what scikit-learn wants to know of the columns of training data."""
    model.n_features_in_ = rows.n_features
    model.__dict__.pop("feature_names_in_", None)
    if rows.feature_names is not None:
        model.feature_names_in_ = np.array(rows.feature_names, dtype=object)


def refuse_other_columns(model: Any, X: Any) -> None:
    """Raise unless a collection X of data in parts has the columns that `model` was fitted to."""
    names = getattr(X, "columns", None)
    width = X.shape[1] if names is None else len(names)
    if width != model.n_features_in_:
        raise ValueError(
            f"X has {width} features, but {type(model).__name__} is expecting {model.n_features_in_} features as input"
        )
    known = getattr(model, "feature_names_in_", None)
    if names is not None and known is not None and list(names) != list(known):
        raise ValueError(
            "The feature names should match those that were passed during fit: "
            f"X has {list(names)}, the model {list(known)}"
        )


def refuse_other_source(model: Any, rows: LocalRows) -> None:
    """Raise unless a source has the columns that `model` was fitted to."""
    if rows.n_features != model.n_features_in_:
        raise SourceError(
            f"{rows.name} has {rows.n_features} columns, and the model was fitted to {model.n_features_in_}; choose "
            "them by gramless.open_source(path, columns=[...])"
        )
    known = model.__dict__.get("feature_names_in_")
    if known is not None and rows.feature_names is not None and list(known) != list(rows.feature_names):
        apart = next((a, b) for a, b in zip(known, rows.feature_names, strict=True) if a != b)
        raise SourceError(
            f"{rows.name} has the column {apart[1]!r} where the model was fitted to {apart[0]!r}; choose its columns, "
            "in their order, by gramless.open_source(path, columns=model.feature_names_in_)"
        )
