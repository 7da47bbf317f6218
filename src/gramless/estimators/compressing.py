"""The method `compressed` of all estimators whose outputs are combinations of kernel functions on points."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from gramless.arrays import Array, parse_memory, read_seed, use_threads
from gramless.data import Scaling
from gramless.estimators.checking import read_new_rows
from gramless.features import PairedMap
from gramless.spaces import Compression, FeatureSpan, Outputs, PointSpan, compress

_TOL = 1e-3
_HEADER, _COLUMN = 24_000, 80  # bytes of a model file beside the points: in all, and for each column and output


class Compressing:
    """Mixin with the method `compressed`.

    An estimator has :meth:`_outputs`, which gives its outputs, and :meth:`_on_fewer`, which replaces their points.
    """

    n_features_in_: int
    n_jobs: int | None
    random_state: Any

    def compressed(self, tol: float | None = None, *, n_points: Any = None, memory: Any = None, X: Any = None) -> Self:
        """A new model on the fewest points that reproduce this one, without a new fit.

        Outputs are fitted by least squares in feature space on points chosen by pivoted Cholesky. ``compression_`` of
        the new model has a rigorous bound on the change of any output, and the change measured on held-back rows.
        Everything that describes the original fit, such as ``certificate_``, is unchanged. The training rows are not
        stored: the new model cannot be continued or merged. See :doc:`/compression`.

        Parameters
        ----------
        tol : float, default=None
            Maximum root mean square change of each output over the rows of the fit, relative to the standard deviation
            of the output. None: 1e-3, or no limit if `n_points` or `memory` is given.
        n_points : int, default=None
            Maximum number of points; without `tol`, the number of points.
        memory : int or str, default=None
            Maximum size of the saved model: bytes, or a string such as ``"10MB"``.
        X : {array-like, CSR} of shape (m, n_features), default=None
            Rows to measure the change on, in the units of the original input. None: rows of the fit that are held back.

        Returns
        -------
        estimator
            Of the same class; this estimator is unchanged. A model without points, such as one with explicit features
            of a polynomial kernel, is returned as it is, and ``compression_`` says so.

        Raises
        ------
        CompressionError
            If no smaller number of points meets `tol`; the message has the change for several numbers of points.
        """
        check_is_fitted(self)
        if tol is not None and not (isinstance(tol, Real) and 0 < tol < 1):
            raise ValueError(f"tol={tol!r} is invalid; pass a number above 0 and below 1, such as 1e-3")
        if n_points is not None and not (isinstance(n_points, Integral) and int(n_points) >= 1):
            raise ValueError(f"n_points={n_points!r} is invalid; pass an integer, at least 1")
        test = None if X is None else self._input_scaling()(read_new_rows(self, X))
        outputs = self._outputs()
        most = _limit(self, outputs, n_points, memory)
        tol = _TOL if tol is None and most is None else tol
        if isinstance(outputs, Compression):
            return self._unchanged(outputs, most)
        if most is not None and tol is None and most >= outputs.points.shape[0]:
            count = outputs.points.shape[0]
            note = f"The model has {count:,} points, no more than allowed, and is unchanged."
            return self._unchanged(Compression.none(count, outputs.names, note), None)
        with use_threads(self.n_jobs):
            points, coefficients, compression = compress(
                outputs, None if tol is None else float(tol), most, test, read_seed(self.random_state)
            )
            return self._on_fewer(points, coefficients, compression)

    def _unchanged(self, compression: Compression, most: int | None) -> Self:
        """A copy with the words that say why nothing was done."""
        if most is not None and compression.points > most:
            raise ValueError(
                f"{compression.note} It has {compression.points:,} coefficients for each output, and {most:,} are "
                "allowed; fit with method='landmarks', which stores points"
            )
        return self._on_fewer(None, None, compression)

    def _input_scaling(self) -> Scaling:
        """What is subtracted from the columns, and what they are divided by, before the kernel is applied."""
        return Scaling()

    def _outputs(self) -> Outputs | Compression:
        """The outputs on points; where there are no points, the words that say so."""
        raise NotImplementedError

    def _on_fewer(self, points: Any, coefficients: Any, compression: Compression) -> Self:
        """The estimator with other points and coefficients; `points` is None where they stay."""
        raise NotImplementedError

    def _bytes_per_point(self, points: Any, count: int) -> float:
        """Bytes of a model file for each point, with coefficients for `count` outputs."""
        if scipy.sparse.issparse(points):
            return float(8 * count + 8 + (points.data.itemsize + 8) * points.nnz / points.shape[0])
        return float(8 * count + points.dtype.itemsize * points.shape[1])

    def _fixed_bytes(self) -> int:
        """Bytes of arrays of a model file that do not depend on the points."""
        return 0


def outputs_on_points(span: Any, coefficients: Array, names: Array, **more: Any) -> Outputs | Compression:
    """The outputs with these coefficients in a span; where it is not spanned by points, the words that say so.

    `more` are fields of :class:`~gramless.spaces.Outputs`; `rows` and `weights` are those of landmarks, since other
    points are the rows themselves.
    """
    if isinstance(span, PointSpan):
        return Outputs(span.kernel, span.points, coefficients, names, **{**more, "rows": None})
    if isinstance(span, FeatureSpan) and isinstance(span.features, PairedMap):
        points, turned = span.features.on_points(coefficients)
        if more.get("rows") is None:
            more = {**more, "weights": None}
        return Outputs(span.kernel, points, turned, names, **more)
    note = "The model has explicit features instead of points, there is nothing to compress, and it is unchanged."
    return Compression.none(len(coefficients), names, note)


def numbered(count: int) -> Array:
    """Names 1, 2, ... of outputs.

    Examples
    --------
    >>> numbered(2)
    array(['1', '2'], dtype='<U21')
    """
    return np.arange(1, count + 1).astype(str)


def _limit(model: Compressing, outputs: Outputs | Compression, n_points: Any, memory: Any) -> int | None:
    """Maximum number of points; None where neither a number nor a size is given."""
    most = None if n_points is None else int(n_points)
    if memory is None or isinstance(outputs, Compression):
        return most
    try:
        size = parse_memory(memory)
    except ValueError as error:
        raise ValueError(str(error).replace("memory_limit", "memory")) from None
    count = outputs.coefficients.shape[1]
    fixed = _HEADER + _COLUMN * (model.n_features_in_ + count) + model._fixed_bytes()
    room = int((size - fixed) // model._bytes_per_point(outputs.points, count))
    if room < 1:
        least = fixed + model._bytes_per_point(outputs.points, count)
        raise ValueError(
            f"memory={memory!r} is too small for a model of one point; pass at least {least / 1000:.0f} kB"
        )
    return room if most is None else min(most, room)
