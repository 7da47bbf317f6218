"""How accurate a result is: intervals that contain the true eigenvalues, and bounds on the angles of components."""

from gramless.certificates.angles import angle_bounds
from gramless.certificates.chebyshev import ChebyshevProbe
from gramless.certificates.drawn_rows import Inside, drawn_norm, rows_to_draw
from gramless.certificates.inertia import is_upper_bound, upper_bounds
from gramless.certificates.interval import EXACT, FAILURE_PROBABILITY, Certificate, Perturbation, certify
from gramless.certificates.outside import (
    Outside,
    from_fact,
    from_frobenius,
    from_probes,
    largest_of_sums,
    outside_leading,
    probe_unit,
)
from gramless.certificates.psd_residual import pair_bound
from gramless.certificates.sampled_mean import bernstein_upper, hoeffding_upper
from gramless.certificates.settling import settle

__all__ = [
    "EXACT",
    "FAILURE_PROBABILITY",
    "Certificate",
    "ChebyshevProbe",
    "Inside",
    "Outside",
    "Perturbation",
    "angle_bounds",
    "bernstein_upper",
    "certify",
    "drawn_norm",
    "from_fact",
    "from_frobenius",
    "from_probes",
    "hoeffding_upper",
    "is_upper_bound",
    "largest_of_sums",
    "outside_leading",
    "pair_bound",
    "probe_unit",
    "rows_to_draw",
    "settle",
    "upper_bounds",
]
