"""Reports: a fitted model and its data as one HTML file. Needs plotly: ``pip install ".[plot]"``."""

from gramless.report.build import build_report, write_report
from gramless.report.influence import column_influence

__all__ = ["build_report", "column_influence", "write_report"]
