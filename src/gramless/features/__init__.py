"""Explicit features: kernel PCA as PCA of finitely many numbers a row."""

from gramless.features.base import Box, FeatureMap, MapBuilder, Moments, Spectrum, maps
from gramless.features.fourier import FourierMap, ToeplitzMoments, fourier_map
from gramless.features.moments import DenseMoments
from gramless.features.monomials import Monomials

__all__ = [
    "Box",
    "DenseMoments",
    "FeatureMap",
    "FourierMap",
    "MapBuilder",
    "Moments",
    "Monomials",
    "Spectrum",
    "ToeplitzMoments",
    "fourier_map",
    "maps",
]
