"""Kernel k-means: partitions of points in feature space, through Gram sums or explicit features."""

from gramless.clustering.cloud import CenterModel, Cloud
from gramless.clustering.feature_cloud import FeatureCloud
from gramless.clustering.gram_cloud import GramCloud
from gramless.clustering.lloyd import Clustering, Settings, fill_empty, find_clusters
from gramless.clustering.plan import make_cloud, plan_clustering
from gramless.clustering.points import KeptPoints, MappedPoints, make_points
from gramless.clustering.preimages import approximate_preimage
from gramless.clustering.prototypes import center_preimage, nearest_members
from gramless.clustering.seeding import draw

__all__ = [
    "CenterModel",
    "Cloud",
    "Clustering",
    "FeatureCloud",
    "GramCloud",
    "KeptPoints",
    "MappedPoints",
    "Settings",
    "approximate_preimage",
    "center_preimage",
    "draw",
    "fill_empty",
    "find_clusters",
    "make_cloud",
    "make_points",
    "nearest_members",
    "plan_clustering",
]
