"""Which models take batches, and which fitted ones may be added."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from gramless.planning import methods
from gramless.routes import Stream


def refuse_to_merge(ours: Any, theirs: Any) -> tuple[Stream, Stream]:
    """The streams of two models; raises a ValueError that says what differs, unless they are of one kind."""
    streams = []
    for model, name in ((ours, "this model"), (theirs, "other")):
        check_is_fitted(model)
        if model._moves_input:
            asked = "scale_input" if model.scale_input else "center_input"
            raise ValueError(f"{name} has {asked}=True: each model subtracts a mean of its own; merge others")
    if ours.n_features_in_ != theirs.n_features_in_:
        raise ValueError(f"{ours.n_features_in_} columns here and {theirs.n_features_in_} in other: not one space")
    _refuse_other_names(ours, theirs)
    left, right = (_kernel(model) for model in (ours, theirs))
    if left != right:
        raise ValueError(f"kernels differ: {left} and {right}; fit other with kernel={left}")
    for model, name in ((ours, "this model"), (theirs, "other")):
        stream = model._as_stream()
        if stream is None:
            raise ValueError(
                f"{name} was fitted by method={model.method_!r}, which keeps nothing that could be added; "
                "fit both with the same other method="
            )
        streams.append(stream)
    if ours._dtype != theirs._dtype:
        raise ValueError(f"dtypes differ: {ours._dtype} and {theirs._dtype}; convert the rows of one of them")
    if streams[0].keeps != streams[1].keeps:
        raise ValueError(
            f"features differ: this model was fitted by method={ours.method_!r} and other by "
            f"method={theirs.method_!r}; fit both with the same method="
        )
    return streams[0], streams[1]


def _refuse_other_names(ours: Any, theirs: Any) -> None:
    """Raise where both know the names of their columns, and these differ or are in another order."""
    names = [model.__dict__.get("feature_names_in_") for model in (ours, theirs)]
    if names[0] is None or names[1] is None:
        return
    for column, (here, there) in enumerate(zip(*names, strict=True)):
        if here != there:
            raise ValueError(
                f"column {column} is {here!r} here and {there!r} in other; fit other to the columns of this model, in "
                "their order"
            )


def can_stream(model: Any) -> bool:
    """Whether `partial_fit` is there; where it is not, the error says why."""
    reason = ""
    if model._precomputed:
        reason = "kernel='precomputed' needs all rows at once"
    elif model.center_input and not model.scale_input:
        reason = "center_input=True needs all rows at once"
    elif model.scale_input and "_input_scale" not in model.__dict__:
        reason = "scale_input=True takes the scale from a first fit, which partial_fit then goes on from"
    elif model.method != "auto" and model.method in methods and not methods[model.method].streams:
        reason = f"method={model.method!r} needs all rows at once"
    if reason:
        raise AttributeError(f"KernelPCA has no partial_fit here: {reason}; use fit")
    return True


def _kernel(model: Any) -> Any:
    """The kernel of a fitted model."""
    return model.plan_.problem.kernel
