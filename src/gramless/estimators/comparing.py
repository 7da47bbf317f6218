"""Two fitted models: the angles between their subspaces, and whether they can be merged."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramless import spaces
from gramless.arrays import Array


def principal_angles(a: Any, b: Any) -> Array:
    """Principal angles, ascending and in radians, between the subspaces that two models project on.

    Parameters
    ----------
    a, b : KernelPCA
        Fitted with the same kernel to rows with the same number of columns. The methods and the numbers of components
        may differ. Two Taylor or Fourier models need the same ``domain=``.

    Returns
    -------
    ndarray of shape (min(k_a, k_b),)

    See Also
    --------
    subspace_distance : One number for the angles between two models.

    Examples
    --------
    >>> import numpy as np
    >>> from gramless import KernelPCA, principal_angles
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> a, b = (KernelPCA(4, kernel="rbf", method=method).fit(X) for method in ("dense", "landmarks"))
    >>> bool(np.degrees(principal_angles(a, b)).max() < 0.01)
    True
    """
    _refuse_different(a, b)
    return spaces.principal_angles(_space(a), _space(b))


def subspace_distance(a: Any, b: Any) -> float:
    """Root mean square of the sines of the principal angles: 0 for equal subspaces, 1 for orthogonal subspaces.

    The distance of Sharma, Chaudhury & Srivastava's figure 1. To compare leading components only:
    ``subspace_distance(a.truncate(3), b.truncate(3))``.

    Parameters
    ----------
    a, b : KernelPCA
        As for :func:`principal_angles`.

    See Also
    --------
    principal_angles : Angles between the subspaces of two models.
    gramless.plots.SubspaceDistanceDisplay : The distance of a stream, batch by batch.
    """
    _refuse_different(a, b)
    return spaces.subspace_distance(_space(a), _space(b))


def _refuse_different(a: Any, b: Any) -> None:
    for model in (a, b):
        check_is_fitted(model)
    if a.n_features_in_ != b.n_features_in_:
        raise ValueError(
            f"{a.n_features_in_} columns in one model and {b.n_features_in_} in the other: the feature spaces differ"
        )
    corners = np.vstack([np.zeros(a.n_features_in_), np.ones(a.n_features_in_)])
    if not np.array_equal(a._fit.scaling(corners), b._fit.scaling(corners)):
        raise ValueError(
            "with center_input=True or scale_input=True each model transforms its rows differently: the feature spaces "
            "differ"
        )
    if a._precomputed or b._precomputed:
        raise ValueError("kernel='precomputed' has no kernel values between the points of two models")


def _space(model: Any) -> spaces.Eigenspace:
    space: spaces.Eigenspace = model._finished().finished.space
    return space


def refuse_to_merge(ours: Any, theirs: Any) -> None:
    """Raise a ValueError that names the difference, unless two models have the same kernel and the same columns."""
    for model, name in ((ours, "this model"), (theirs, "other")):
        check_is_fitted(model)
        if model._fit.scaling:
            asked = model._fit.scaling.parameter
            raise ValueError(
                f"{name} has {asked}=True: each model subtracts its own mean, and such models cannot be merged"
            )
    if ours.n_features_in_ != theirs.n_features_in_:
        raise ValueError(
            f"{ours.n_features_in_} columns in this model and {theirs.n_features_in_} in other: the feature spaces "
            "differ"
        )
    names = [getattr(model, "feature_names_in_", None) for model in (ours, theirs)]
    if names[0] is not None and names[1] is not None:
        for column, (here, there) in enumerate(zip(*names, strict=True)):
            if here != there:
                raise ValueError(
                    f"column {column} is {here!r} in this model and {there!r} in other; fit other to the columns of "
                    "this model, "
                    "in order"
                )
    left, right = ours._fit.kernel, theirs._fit.kernel
    if left != right:
        raise ValueError(f"kernels differ: {left} and {right}; fit other with kernel={left}")
