"""Which models take batches, and which fitted ones may be added."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from gramless.planning import methods


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


def can_stream(model: Any) -> bool:
    """Whether `partial_fit` is there; where it is not, the error says why."""
    reason = ""
    if model._precomputed:
        reason = "kernel='precomputed' needs all rows at once"
    elif model.center_input:
        reason = "center_input=True needs all rows at once"
    elif model.method != "auto" and model.method in methods and not methods[model.method].streams:
        reason = f"method={model.method!r} needs all rows at once"
    if reason:
        raise AttributeError(f"KernelPCA has no partial_fit here: {reason}; use fit")
    return True
