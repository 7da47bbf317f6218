"""A plan carried out on rows that lie in parts, on the workers of a cluster."""

from gramless.routes.parted.explicit import PartedExplicit, moments_of, parted_map
from gramless.routes.parted.gram import PartedGram
from gramless.routes.parted.merging import PartedMerging
from gramless.routes.parted.methods import PartedMethod, parted_methods, plan_parted
from gramless.routes.parted.rows import PartedRows
from gramless.routes.parted.survey import PartSurvey, survey_parts
from gramless.routes.parted.tiles import PartedTiled, products_of

__all__ = [
    "PartSurvey",
    "PartedExplicit",
    "PartedGram",
    "PartedMerging",
    "PartedMethod",
    "PartedRows",
    "PartedTiled",
    "moments_of",
    "parted_map",
    "parted_methods",
    "plan_parted",
    "products_of",
    "survey_parts",
]
