"""Eigenvalues and their certificate, settled: zeros that rounding has moved, and values that cannot be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gramless.arrays import Array
from gramless.certificates.interval import Certificate
from gramless.errors import UncertifiedWarning
from gramless.warning import warn


def settle(values: Array, certificate: Certificate, mercer: bool | None, noise: float) -> tuple[Array, Certificate]:
    """Set to 0 what rounding made of 0, and refuse what a positive semidefinite matrix cannot have.

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
        'There are significant negative eigenvalues', where one would be kept.
    """
    largest = values.max(initial=0.0)
    if mercer:
        certificate = certificate.at_least(0.0)
    elif len(values):
        least = values.min()
        if least < -1e-5 * max(largest, 0.0) and least < -noise:
            part = f"{-least / largest:g} of the largest positive one" if largest > 0 else f"the least is {least:g}"
            raise ValueError(
                f"There are significant negative eigenvalues ({part}) among the {len(values)} components asked for: "
                "the kernel is not positive semidefinite on this data. Ask for fewer components, or change the kernel."
            )
    zero = values <= max(1e-12 * largest, noise)  # scikit-learn's rule, and the usual rounding
    values = np.where(zero, 0.0, values)
    if ((values > 1e-6 * largest) & (certificate.lower <= 0)).any():
        warn(
            "rounding errors could be as large as some eigenvalues: their intervals in certificate_ reach down to 0. "
            "An outlier, rows far from the origin, or a kernel much wider or narrower than the data cost digits: "
            "centre and scale the data",
            UncertifiedWarning,
        )
    lower = np.where(zero, np.minimum(certificate.lower, 0.0), certificate.lower)
    upper = np.where(zero, np.maximum(certificate.upper, 0.0), certificate.upper)
    return values, replace(certificate, values=values, lower=lower, upper=upper)
