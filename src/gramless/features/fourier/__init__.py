"""Fourier features in up to three dimensions: after one pass over the rows, no cost depends on their number."""

from gramless.features.fourier.builder import FourierBuilder, fourier_map
from gramless.features.fourier.map import FourierMap
from gramless.features.fourier.toeplitz import ToeplitzMoments

__all__ = ["FourierBuilder", "FourierMap", "ToeplitzMoments", "fourier_map"]
