"""Post-processing of eigenvalues and their certificate: rounded zeros, and negative values that are impossible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gramless.arrays import Array
from gramless.certificates.interval import Certificate
from gramless.errors import UncertifiedWarning
from gramless.warning import warn


def settle(values: Array, certificate: Certificate, mercer: bool | None, noise: float) -> tuple[Array, Certificate]:
    """Set eigenvalues that are 0 up to rounding to 0; raise for values that no positive semidefinite matrix has.

    Parameters
    ----------
    values : ndarray of shape (k,)
    certificate : Certificate
    mercer : bool or None
        Whether the kernel is positive semidefinite.
    noise : float
        What rounding usually makes of an eigenvalue 0. (The certificate has the worst it could make, which is more.)

    Raises
    ------
    ValueError
        'There are significant negative eigenvalues', where one would be returned.
    """
    largest = values.max(initial=0.0)
    if mercer:
        certificate = certificate.at_least(0.0)
    elif len(values):
        least = values.min()
        if least < -1e-5 * max(largest, 0.0) and least < -noise:
            part = f"{-least / largest:g} of the largest positive one" if largest > 0 else f"the smallest is {least:g}"
            raise ValueError(
                f"There are significant negative eigenvalues ({part}) among the {len(values)} requested components: "
                "the kernel is not positive semidefinite on this data. Request fewer components, or change the kernel."
            )
    zero = values <= max(1e-12 * largest, noise)  # scikit-learn's rule, and the usual rounding
    values = np.where(zero, 0.0, values)
    if ((values > 1e-6 * largest) & (certificate.lower <= 0)).any():
        warn(
            "rounding errors could be as large as some eigenvalues: their intervals in certificate_ extend to 0. "
            "An outlier, rows far from the origin, or a bandwidth much larger or smaller than the data's scale reduce "
            "accuracy: "
            "standardize the data",
            UncertifiedWarning,
        )
    lower = np.where(zero, np.minimum(certificate.lower, 0.0), certificate.lower)
    upper = np.where(zero, np.maximum(certificate.upper, 0.0), certificate.upper)
    return values, replace(certificate, values=values, lower=lower, upper=upper)
