"""A local page with sliders for the bandwidth, the degree and the components of kernel PCA; its plots follow them.

Needs panel, bokeh and datashader: ``pip install ".[explorer]"``.
"""

from gramless.explorer.server import make_app, serve
from gramless.explorer.settings import FAMILIES, Settings
from gramless.explorer.table import Table, read_table
from gramless.explorer.view import View
from gramless.explorer.workbench import Workbench

__all__ = ["FAMILIES", "Settings", "Table", "View", "Workbench", "make_app", "read_table", "serve"]
