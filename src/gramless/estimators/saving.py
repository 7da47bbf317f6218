"""Models in files: what every estimator's `save` does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramless._version import __version__
from gramless.persistence import Encoder, write_file
from gramless.registry import Registry

#: Estimators that files may hold, by the name they have there.
estimators: Registry[type[Any]] = Registry("estimator")


class Saving:
    """The method `save` of an estimator; :func:`gramless.load` reads what it wrote.

    A class that has it says in ``SAVED`` which attributes make up a fitted model, and of what type each is.
    """

    SAVED: ClassVar[dict[str, Any]]

    def save(self: Any, path: Any) -> None:
        """Write the model to a file, whole or not at all; :func:`gramless.load` reads it, and runs no code.

        A stream may be saved after any batch; the one that was loaded goes on with the same bits.

        Parameters
        ----------
        path : str or Path
            Arrays in the safetensors layout, the rest as JSON in its header, with a checksum of all of it. What was
            there before is replaced in one step.

        Raises
        ------
        TypeError
            If a parameter cannot be written, such as a function as kernel; the message names it and says what to do.
        """
        check_is_fitted(self)
        name = type(self).__name__
        if name not in estimators or estimators[name] is not type(self):
            raise TypeError(f"{name} cannot be saved: files hold estimators of gramless itself, not subclasses of them")
        names = self.__dict__.get("feature_names_in_")
        encoder = Encoder()
        header = {
            "version": __version__,
            "estimator": name,
            "dtype": model_dtype(self),
            "n_features": self.n_features_in_,
            "feature_names": None if names is None else names.tolist(),
            **_encoded(encoder, "the parameter", {"kernel": model_kernel(self)}),
            "certificate": encoder.encode(self.__dict__.get("certificate_")),
            "parameters": _encoded(encoder, "the parameter", self.get_params(deep=False)),
            "attributes": _encoded(encoder, "the attribute", saved_attributes(self)),
        }
        write_file(path, header, encoder.arrays)


def saved_attributes(model: Any) -> dict[str, Any]:
    """The attributes of a fitted estimator that a file keeps, in the order of ``SAVED``.

    A plan is kept without the rows that it looked at: nobody plans again.
    """
    kept = {name: model.__dict__[name] for name in model.SAVED if name in model.__dict__}
    if "plan_" in kept:
        plan = kept["plan_"]
        kept["plan_"] = replace(plan, problem=replace(plan.problem, sample=None))
    return kept


def model_kernel(model: Any) -> Any:
    """The kernel that a fitted estimator works with, as an object; None where it no longer needs one."""
    plan = model.__dict__.get("plan_")
    return plan.problem.kernel if plan is not None else model.__dict__.get("kernel_")


def model_dtype(model: Any) -> str:
    """Name of the precision that a fitted estimator keeps its results in."""
    for name in ("_dtype", "eigenvalues_", "components_", "X_fit_"):
        if name in model.__dict__:
            kept = model.__dict__[name]
            return str(np.dtype(getattr(kept, "dtype", kept)).name)
    return "float64"


def _encoded(encoder: Encoder, what: str, values: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, value in values.items():
        try:
            found[name] = encoder.encode(value)
        except TypeError as error:
            raise TypeError(f"{what} {name!r}: {error}") from None
    return found
