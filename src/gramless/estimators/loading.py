"""A model out of a file: everything is checked, and nothing is run."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from gramless._version import __version__
from gramless.certificates import Certificate
from gramless.discriminants import FisherRule
from gramless.errors import FormatError
from gramless.estimators.saving import estimators, model_dtype
from gramless.kernels import Kernel
from gramless.persistence import Decoder, read_file
from gramless.persistence.consistency import CLASSWISE, WIDTHS

_FIELDS = (
    *("format", "version", "estimator", "dtype", "n_features", "feature_names"),
    *("kernel", "certificate", "parameters", "attributes"),
)


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
    for attribute, tree in _names(header["attributes"], "attribute", cls.SAVED).items():
        model.__dict__[attribute] = decoder.expect(tree, cls.SAVED[attribute], attribute)
    decoder.finish()
    _set_columns(model, header)
    if header["dtype"] != model_dtype(model):
        raise FormatError(f"it says dtype {header['dtype']!r} of a model in {model_dtype(model)}")
    return model


def _names(values: Any, what: str, known: Any) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise FormatError(f"it has no {what}s")
    for name in values:
        if name not in known or name == "self":
            raise FormatError(f"it has the {what} {name!r}, which gramless {__version__} does not know")
    return values


def _set_columns(model: Any, header: dict[str, Any]) -> None:
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
        part = model.__dict__.get(attribute)
        if part is not None and width(part) != count:
            raise FormatError(f"{attribute} is for {width(part)} columns, n_features={count}")
    rule = model.__dict__.get("_rule")
    for attribute in CLASSWISE if isinstance(rule, FisherRule) else ():
        if model.__dict__[attribute].shape != rule.centers.shape[:1]:
            raise FormatError(f"{attribute} is not for {len(rule.centers)} classes")
