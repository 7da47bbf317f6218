"""A fitted estimator in a few facts: for notebooks, reports and the command line."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gramless.tables import html_table

_LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{6,}(?:e[+-]?\d+)?")


def facts(model: Any) -> dict[str, Any]:
    """Facts about a fitted estimator, as plain values that can be written as JSON.

    Examples
    --------
    >>> import numpy as np
    >>> from gramless import KernelPCA
    >>> told = facts(KernelPCA(2, kernel="rbf", gamma=0.5).fit(np.eye(4)))
    >>> told["model"], told["kernel"], told["components"], told["columns"]
    ('KernelPCA', 'Gaussian(sigma=1.0)', 2, 4)
    """
    told: dict[str, Any] = {"model": type(model).__name__}
    plan = getattr(model, "plan_", None)
    told["kernel"] = str(model.kernel if plan is None else plan.problem.kernel) if hasattr(model, "kernel") else None
    told["method"] = getattr(model, "method_", None)
    told["columns"] = getattr(model, "n_features_in_", None)
    if hasattr(model, "certificate_"):
        told |= _spectral_facts(model)
    for name, attribute in (("clusters", "n_clusters"), ("inertia", "inertia_"), ("iterations", "n_iter_")):
        if hasattr(model, attribute):
            told[name] = _plain(getattr(model, attribute))
    if hasattr(model, "compression_"):
        told["compression"] = _compression_facts(model.compression_)
    if hasattr(model, "classes_"):
        told["classes"] = [str(name) for name in model.classes_]
    return {name: value for name, value in told.items() if value is not None}


def summary_rows(model: Any) -> list[tuple[str, str]]:
    """The facts as strings, for a table of two columns."""
    told = facts(model)
    rows: list[tuple[str, str]] = [(name, str(told[name])) for name in ("model", "kernel", "method") if name in told]
    rows = [(name, _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.6g}", text)) for name, text in rows]
    if "weight" in told:
        rows.append(("fitted to", f"{counted(told['weight'])} of {told['columns']} columns"))
    elif "columns" in told:
        rows.append(("columns", str(told["columns"])))
    if "components" in told:
        shares = told["explained_variance_ratio"]
        rows.append(("components", f"{told['components']}, explaining {100 * sum(shares):.4g} % of the variance"))
        rows.append(("eigenvalues", f"{told['eigenvalues'][0]:.6g} to {told['eigenvalues'][-1]:.6g}"))
        rows.append(("certificate", certified(model.certificate_)))
    if "compression" in told:
        rows.append(("compressed", model.compression_.summary()))
    rows += [(name, f"{told[name]:.6g}") for name in ("clusters", "inertia", "iterations") if name in told]
    if "classes" in told:
        rows.append(("classes", ", ".join(told["classes"])))
    return rows


def counted(weight: float) -> str:
    """The number of rows as a string; their total weight where it is not an integer.

    Examples
    --------
    >>> counted(1797.0), counted(12.34)
    ('1,797 rows', 'rows of total weight 12.34')
    """
    return f"{int(weight):,} rows" if weight == int(weight) else f"rows of total weight {weight:,.6g}"


def certified(certificate: Any) -> str:
    """A certificate in a sentence."""
    widest = float(np.max(certificate.width[certificate.values > 0], initial=0.0))
    proved = int((certificate.kind == "rigorous").sum())
    sure = "all rigorous" if proved == len(certificate) else f"{proved} of {len(certificate)} rigorous"
    turned = float(certificate.angle.max(initial=0.0))
    angle = f"angles at most {turned:.1e}" if turned < np.pi / 2 else "not every angle bounded"
    return f"intervals at most {widest:.1e} of the eigenvalue, {sure}; {angle}"


class NotebookSummary:
    """Mixin that shows the facts of a fit below scikit-learn's diagram, with plan and certificate to unfold."""

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + summary_html(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **settings: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**settings)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += summary_html(self)
        return bundle


def summary_html(model: Any) -> str:
    """The facts of a fitted model as HTML; empty before the fit."""
    if not hasattr(model, "plan_"):
        return ""
    parts = [html_table((), summary_rows(model))]
    for title, name in (("certificate", "certificate_"), ("compression", "compression_"), ("plan", "plan_")):
        if hasattr(model, name):
            parts.append(f"<details><summary>{title}</summary>{getattr(model, name)._repr_html_()}</details>")
    return f'<div class="gramless-summary">{"".join(parts)}</div>'


def _spectral_facts(model: Any) -> dict[str, Any]:
    certificate = model.certificate_
    return {
        "weight": float(model._finished().finished.space.weight),
        "components": len(model.eigenvalues_),
        "eigenvalues": _plain(model.eigenvalues_),
        "explained_variance": _plain(model.explained_variance_),
        "explained_variance_ratio": _plain(model.explained_variance_ratio_),
        "certificate": {
            "lower": _plain(certificate.lower),
            "upper": _plain(certificate.upper),
            "angle": _plain(certificate.angle),
            "kind": _plain(certificate.kind),
            "failure_probability": certificate.failure_probability,
        },
    }


def _compression_facts(compression: Any) -> dict[str, Any]:
    told = {name: getattr(compression, name) for name in ("points_before", "points", "tol", "rows", "source", "note")}
    arrays = ("names", "scales", "norms", "bound", "change", "largest", "curve_points", "curve_change", "curve_bound")
    return {**told, **{name: _plain(getattr(compression, name)) for name in arrays}}


def _plain(value: Any) -> Any:
    """The value as Python's lists and numbers; None for entries of a list that are not finite, which JSON lacks."""
    listed = np.asarray(value).tolist()
    if isinstance(listed, list):
        return [None if isinstance(item, float) and not np.isfinite(item) else item for item in listed]
    return listed
