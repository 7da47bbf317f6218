"""Models in files: the method `save` of all estimators, and `load`, which runs no code from the file."""

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
from gramless.persistence.outputs import check_model_output
from gramless.registry import Registry

_FIELDS = (
    *("format", "version", "estimator", "dtype", "n_features", "feature_names"),
    *("kernel", "certificate", "parameters", "attributes"),
)

#: Estimators that files may contain, by their names in the file.
estimators: Registry[type[Any]] = Registry("estimator")


class Saving:
    """Mixin with the method `save`; :func:`gramless.load` reads the file.

    ``SAVED`` of an estimator maps the names of the attributes of a fitted model to their types.
    """

    SAVED: ClassVar[dict[str, Any]]

    n_features_in_: int

    def unfitted(self) -> Self:
        """A copy without fitted attributes; a fit works on the copy, and the estimator takes over its attributes."""
        blank = copy.copy(self)
        blank.__dict__ = {name: value for name, value in vars(self).items() if name not in self.SAVED}
        return blank

    def saved(self) -> dict[str, Any]:
        """The attributes of the fitted model, by their names in the file."""
        return {name: value for name, value in vars(self).items() if name in self.SAVED}

    def restore(self, values: dict[str, Any]) -> None:
        """Set the attributes that :meth:`saved` returned."""
        vars(self).update(values)

    def save(self, path: Any) -> None:
        """Write the model to a file atomically; :func:`gramless.load` reads the file, and runs no code from it.

        A stream may be saved after any batch; the loaded stream continues with bitwise the same results.

        Parameters
        ----------
        path : str or Path
            The file has arrays in the safetensors layout, all else as JSON in its header, and a checksum of its
            content. An existing model is replaced in one step.

        Raises
        ------
        FileExistsError
            If there is a file that is not a model of gramless.
        TypeError
            If a parameter cannot be written, such as a function as kernel; the message names it and a remedy.
        """
        check_is_fitted(self)
        check_model_output(path)
        name = type(self).__name__
        if name not in estimators or estimators[name] is not type(self):
            raise TypeError(f"{name} cannot be saved: files contain gramless estimators, not subclasses of them")
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

    A plan is saved without its sample of rows, which only planning needs.
    """
    values = model.saved()
    kept = {name: values[name] for name in model.SAVED if name in values}
    if "plan_" in kept:
        plan = kept["plan_"]
        kept["plan_"] = replace(plan, problem=replace(plan.problem, sample=None))
    return kept


def _kernel(saved: dict[str, Any]) -> Any:
    """The kernel object of a fitted estimator; None where the fitted estimator needs no kernel."""
    plan = saved.get("plan_")
    return plan.problem.kernel if plan is not None else saved.get("kernel_")


def _dtype(saved: dict[str, Any]) -> str:
    """Name of the dtype of a fitted estimator's results."""
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


def load(path: Any, *, mmap: bool = True) -> Any:
    """Load a model written by `save`. Loading runs no code from the file, and allocates no more than the file's size.

    Parameters
    ----------
    path : str or Path
    mmap : bool, default=True
        Map arrays of 8 MiB and more to memory, except on Windows: they are read when they are used, and their checksums
        are not verified. Do not modify or truncate the file in place while the model is in use; to replace it, as
        `save` does, is safe. False: read all arrays and verify all checksums.

    Returns
    -------
    KernelPCA, KernelKMeans, KernelDiscriminantAnalysis, BiasedDiscriminantAnalysis, KernelICA or SeriesDensity
        The estimator that was saved, fitted.

    Raises
    ------
    FormatError
        If the file is not a model file, is damaged, or contains an unknown version, estimator, kernel, field or
        parameter; the message names the problem.

    See Also
    --------
    KernelPCA.save : Write a model file; every estimator has it.

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
        header, arrays = read_file(path, mmap=mmap)
        return _restore(header, arrays)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # a class has rejected values of the right types; its message says why
        raise FormatError(f"{path}: {type(error).__name__}: {error}") from error


def _restore(header: dict[str, Any], arrays: dict[str, Any]) -> Any:
    for name in header.keys() ^ set(_FIELDS):
        what = "has the unknown field {!r}" if name in header else "lacks the field {!r}"
        raise FormatError("it " + what.format(name))
    name = header["estimator"]
    if not isinstance(name, str) or name not in estimators:
        raise FormatError(f"it contains {name!r}, which is unknown to gramless {__version__}")
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
        raise FormatError(f"it declares dtype {header['dtype']!r} for a model in {_dtype(values)}")
    model.restore(values)
    return model


def _names(values: Any, what: str, known: Any) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise FormatError(f"it has no {what}s")
    for name in values:
        if name not in known or name == "self":
            raise FormatError(f"it has the {what} {name!r}, which is unknown to gramless {__version__}")
    return values


def _set_columns(model: Any, values: dict[str, Any], header: dict[str, Any]) -> None:
    """Set the number and the names of the columns; raises where a part of the model has another number."""
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
