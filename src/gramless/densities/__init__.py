"""Densities as series of kernel eigenfunctions."""

from gramless.densities.series import Series, fit_series
from gramless.densities.shape import Shape
from gramless.densities.truncation import Moment, held_out_count, retained_by_rule

__all__ = ["Moment", "Series", "Shape", "fit_series", "held_out_count", "retained_by_rule"]
