"""The dependence of columns, measured by kernels, and the rotation that makes it least."""

from gramless.independence.amari import amari_error
from gramless.independence.contrast import Contrast, landmarks_for
from gramless.independence.rotation import Rotation, find_rotation

__all__ = ["Contrast", "Rotation", "amari_error", "find_rotation", "landmarks_for"]
