"""Models in files: a checkpoint of a stream, or a fit to use elsewhere."""

from __future__ import annotations

import inspect
from typing import Any

from gramless._version import __version__
from gramless.estimators.kernel_pca import KernelPCA
from gramless.persistence import Decoder, read_file


def load(path: Any) -> KernelPCA:
    """A model written by :meth:`KernelPCA.save`. Loading runs no code of the file's making.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    KernelPCA

    Raises
    ------
    ValueError
        If the file is not one of a model, or holds a version, class, field or parameter that is not known here; the
        message names it.

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
    header, arrays = read_file(path)
    if header.get("estimator") != "KernelPCA":
        raise ValueError(f"{path} holds {header.get('estimator')!r}, which gramless {__version__} does not know")
    state = Decoder(arrays).decode(header["state"])
    known = set(inspect.signature(KernelPCA.__init__).parameters)
    for name in state["parameters"]:
        if name not in known:
            raise ValueError(f"{path} has the parameter {name!r}, which gramless {__version__} does not know")
    model = KernelPCA(**state["parameters"])
    for name, value in state["attributes"].items():
        if name not in KernelPCA.SAVED:
            raise ValueError(f"{path} has the attribute {name!r}, which gramless {__version__} does not know")
        model.__dict__[name] = value
    return model
