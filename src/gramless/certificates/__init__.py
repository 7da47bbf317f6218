"""How accurate a result is: intervals that contain the true eigenvalues, and bounds on the angles of components."""

from gramless.certificates.angles import angle_bounds
from gramless.certificates.inertia import upper_bounds
from gramless.certificates.interval import FAILURE_PROBABILITY, Certificate, certify
from gramless.certificates.outside import Outside, from_fact, from_frobenius, from_probes, outside_leading, probe_unit
from gramless.certificates.psd_residual import pair_bound
from gramless.certificates.sampled_mean import bernstein_upper, hoeffding_upper
from gramless.certificates.settling import settle

__all__ = [
    "FAILURE_PROBABILITY",
    "Certificate",
    "Outside",
    "angle_bounds",
    "bernstein_upper",
    "certify",
    "from_fact",
    "from_frobenius",
    "from_probes",
    "hoeffding_upper",
    "outside_leading",
    "pair_bound",
    "probe_unit",
    "settle",
    "upper_bounds",
]
