"""Which fitted models may be added."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted


def refuse_to_merge(ours: Any, theirs: Any) -> None:
    """Raise a ValueError that says what differs, unless the moments of both models add."""
    for model, name in ((ours, "this model"), (theirs, "other")):
        check_is_fitted(model)
        if model._moments is None:
            raise ValueError(
                f"{name} was fitted by method={model.method_!r}, which keeps no moments; "
                "fit both with explicit features (monomials, taylor, fourier or landmarks)"
            )
    if ours.n_features_in_ != theirs.n_features_in_:
        raise ValueError(f"{ours.n_features_in_} columns here and {theirs.n_features_in_} in other: not one space")
    left, right = ours._space.span.features, theirs._space.span.features
    if left.kernel != right.kernel:
        raise ValueError(f"kernels differ: {left.kernel} and {right.kernel}")
    if ours.method_ != theirs.method_:
        raise ValueError(f"features differ: {ours.method_} and {theirs.method_}; fit both with the same method=")
