"""Explicit features: kernel PCA as PCA of finite feature vectors."""

from gramless.features.base import Box, FeatureMap, MapBuilder, Moments, Spectrum, maps
from gramless.features.composite import CompositeMap, ScaledMap
from gramless.features.fourier import FourierMap, ToeplitzMoments, fourier_map
from gramless.features.landmark_builder import LandmarkBuilder
from gramless.features.landmarks import LandmarkMap
from gramless.features.moments import DenseMoments, gather_moments
from gramless.features.monomials import Monomials
from gramless.features.monomials_builder import MonomialsBuilder
from gramless.features.normalized import NormalizedMap
from gramless.features.paired import PairedMap
from gramless.features.pivots import Pivots, choose_pivots
from gramless.features.rows import FeatureRows, RowwiseMap
from gramless.features.sampled import SampledMap
from gramless.features.sampled_builder import SampledBuilder
from gramless.features.taylor import TaylorMap, poisson_bound, raykar_ankur_bound
from gramless.features.transfer import transfer_moments

__all__ = [
    "Box",
    "CompositeMap",
    "DenseMoments",
    "FeatureMap",
    "FeatureRows",
    "FourierMap",
    "LandmarkBuilder",
    "LandmarkMap",
    "MapBuilder",
    "Moments",
    "Monomials",
    "MonomialsBuilder",
    "NormalizedMap",
    "PairedMap",
    "Pivots",
    "RowwiseMap",
    "SampledBuilder",
    "SampledMap",
    "ScaledMap",
    "Spectrum",
    "TaylorMap",
    "ToeplitzMoments",
    "choose_pivots",
    "fourier_map",
    "gather_moments",
    "maps",
    "poisson_bound",
    "raykar_ankur_bound",
    "transfer_moments",
]
