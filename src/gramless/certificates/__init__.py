"""How accurate the answer is: intervals that hold the true eigenvalues, and angles of the components."""

from gramless.certificates.angles import angle_bounds
from gramless.certificates.interval import FAILURE_PROBABILITY, Certificate, certify
from gramless.certificates.outside import Outside, from_fact, from_frobenius, from_probes, outside_leading

__all__ = [
    "FAILURE_PROBABILITY",
    "Certificate",
    "Outside",
    "angle_bounds",
    "certify",
    "from_fact",
    "from_frobenius",
    "from_probes",
    "outside_leading",
]
