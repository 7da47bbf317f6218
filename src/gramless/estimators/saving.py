"""Models in files: what every estimator's `save` writes, and what `load` reads; nothing is run."""

from __future__ import annotations

import copy
import inspect
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramless._version import __version__
from gramless.certificates import Certificate
from gramless.discriminants import FisherRule
from gramless.errors import FormatError
from gramless.kernels import Kernel
from gramless.persistence import Decoder, Encoder, read_file, write_file
from gramless.persistence.consistency import CLASSWISE, WIDTHS
from gramless.registry import Registry

_FIELDS = (
    *("format", "version", "estimator", "dtype", "n_features", "feature_names"),
    *("kernel", "certificate", "parameters", "attributes"),
)

#: Estimators that files may hold, by the name they have there.
estimators: Registry[type[Any]] = Registry("estimator")


class Saving:
    """The method `save` of an estimator; :func:`gramless.load` reads what it wrote.

    A class that has it says in ``SAVED`` which attributes make up a fitted model, and of what type each is.
    """

    SAVED: ClassVar[dict[str, Any]]

    n_features_in_: int

    def unfitted(self) -> Self:
        """A copy without what an earlier fit has left; a fit works on it, and becomes it when all is done."""
        blank = copy.copy(self)
        blank.__dict__ = {name: value for name, value in vars(self).items() if name not in self.SAVED}
        return blank

    def saved(self) -> dict[str, Any]:
        """The attributes that make up the fitted model, by the names they have in files."""
        return {name: value for name, value in vars(self).items() if name in self.SAVED}

    def restore(self, values: dict[str, Any]) -> None:
        """Take over what :meth:`saved` gave."""
        vars(self).update(values)

    def save(self, path: Any) -> None:
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
        names, saved = getattr(self, "feature_names_in_", None), _ordered(self)
        encoder = Encoder()
        header = {
            "version": __version__,
            "estimator": name,
            "dtype": _dtype(saved),
            "n_features": self.n_features_in_,
            "feature_names": None if names is None else names.tolist(),
            **_encoded(encoder, "the parameter", {"kernel": _kernel(saved)}),
            "certificate": encoder.encode(saved.get("certificate_")),
            "parameters": _encoded(encoder, "the parameter", self.get_params(deep=False)),  # type: ignore[attr-defined]
            "attributes": _encoded(encoder, "the attribute", saved),
        }
        write_file(path, header, encoder.arrays)


def _ordered(model: Saving) -> dict[str, Any]:
    """The attributes of a fitted estimator, in the order of ``SAVED``.

    A plan is kept without the rows that it looked at: nobody plans again.
    """
    values = model.saved()
    kept = {name: values[name] for name in model.SAVED if name in values}
    if "plan_" in kept:
        plan = kept["plan_"]
        kept["plan_"] = replace(plan, problem=replace(plan.problem, sample=None))
    return kept


def _kernel(saved: dict[str, Any]) -> Any:
    """The kernel that a fitted estimator works with, as an object; None where it no longer needs one."""
    plan = saved.get("plan_")
    return plan.problem.kernel if plan is not None else saved.get("kernel_")


def _dtype(saved: dict[str, Any]) -> str:
    """Name of the precision that a fitted estimator keeps its results in."""
    for name in ("_dtype", "eigenvalues_", "components_", "X_fit_"):
        if name in saved:
            kept = saved[name]
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


def load(path: Any) -> Any:
    """A model written by `save`. Loading runs no code, and takes no more memory than the file has bytes for.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    KernelPCA, KernelKMeans, KernelDiscriminantAnalysis, BiasedDiscriminantAnalysis, KernelICA or SeriesDensity
        The estimator that was saved, fitted.

    Raises
    ------
    FormatError
        If the file is not one of a model, or is damaged, or holds a version, estimator, kernel, field or parameter that
        is not known here; the message names it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from gramless import KernelPCA, load
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> model = KernelPCA(2, kernel="rbf").partial_fit(X[:30])
    >>> model.save(path)
    >>> resumed = load(path).partial_fit(X[30:])
    >>> bool((resumed.transform(X) == model.partial_fit(X[30:]).transform(X)).all())
    True
    """
    try:
        header, arrays = read_file(path)
        return _restore(header, arrays)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # a class that was given parts of the right types did not take them; its message says why
        raise FormatError(f"{path}: {type(error).__name__}: {error}") from error


def _restore(header: dict[str, Any], arrays: dict[str, Any]) -> Any:
    for name in header.keys() ^ set(_FIELDS):
        what = "has the field {!r}, which is not known" if name in header else "lacks the field {!r}"
        raise FormatError("it " + what.format(name))
    name = header["estimator"]
    if not isinstance(name, str) or name not in estimators:
        raise FormatError(f"it holds {name!r}, which gramless {__version__} does not know")
    cls = estimators[name]
    decoder = Decoder(arrays)
    decoder.expect(header["kernel"], Kernel | None, "the kernel")
    decoder.expect(header["certificate"], Certificate | None, "the certificate")
    known = inspect.signature(cls.__init__).parameters
    parameters = {}
    for parameter, tree in _names(header["parameters"], "parameter", known).items():
        parameters[parameter] = decoder.decode(tree)
    model = cls(**parameters)
    model._validate_params()
    values = {
        attribute: decoder.expect(tree, cls.SAVED[attribute], attribute)
        for attribute, tree in _names(header["attributes"], "attribute", cls.SAVED).items()
    }
    decoder.finish()
    _set_columns(model, values, header)
    if header["dtype"] != _dtype(values):
        raise FormatError(f"it says dtype {header['dtype']!r} of a model in {_dtype(values)}")
    model.restore(values)
    return model


def _names(values: Any, what: str, known: Any) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise FormatError(f"it has no {what}s")
    for name in values:
        if name not in known or name == "self":
            raise FormatError(f"it has the {what} {name!r}, which gramless {__version__} does not know")
    return values


def _set_columns(model: Any, values: dict[str, Any], header: dict[str, Any]) -> None:
    """Number and names of the columns, which every part of the model must agree with."""
    count, names = header["n_features"], header["feature_names"]
    if type(count) is not int or not 0 < count < 2**62:
        raise FormatError(f"it has n_features={count!r}")
    model.n_features_in_ = count
    if names is not None:
        if not isinstance(names, list) or len(names) != count or not all(isinstance(name, str) for name in names):
            raise FormatError(f"it does not have a name for each of its {count} columns")
        model.feature_names_in_ = np.array(names, dtype=object)
    for attribute, width in WIDTHS.items():
        part = values.get(attribute)
        if part is not None and width(part) != count:
            raise FormatError(f"{attribute} is for {width(part)} columns, n_features={count}")
    rule: Any = values.get("_rule")
    for attribute in CLASSWISE if isinstance(rule, FisherRule) else ():
        if values[attribute].shape != rule.centers.shape[:1]:
            raise FormatError(f"{attribute} is not for {len(rule.centers)} classes")
