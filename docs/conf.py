"""How the documentation is built."""

import os
import re
from pathlib import Path

from sphinx.ext import autosummary

from gramless._version import __version__

project = "gramless"
author = "The gramless developers"
copyright = "2026, The gramless developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "myst_nb",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/*.ipynb"]  # the gallery makes notebooks of its examples, to download
html_theme = "furo"
html_title = f"gramless {release}"
html_static_path = ["_static"]
html_css_files = ["gramless.css"]

autosummary_generate = True
autosummary.WELL_KNOWN_ABBREVIATIONS += ("eq.", "eqs.", "fig.", "sec.")  # no summary ends there
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

os.environ.pop("MPLBACKEND", None)  # else notebooks would not show their figures
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_merge_streams = True
nb_execution_timeout = 600

_LITERAL_OR_BAR = re.compile(r"``.*?``|:math:`.*?`|\|(?=\S)")


def escape_norms(app, what, name, obj, options, lines):
    """Let docstrings write norms as ``|x - y|^2``: reStructuredText would take the bars for a substitution."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[i] = _LITERAL_OR_BAR.sub(lambda match: r"\|" if match[0] == "|" else match[0], line)


def copy_tutorials(app, config):
    """The notebooks of ../tutorials, run where they are copied to; their links lead from there."""
    here = Path(app.srcdir)
    folder = here / "tutorials"
    folder.mkdir(exist_ok=True)
    for file in sorted((here.parent / "tutorials").iterdir()):
        if file.suffix in (".ipynb", ".rst"):
            text = file.read_text(encoding="utf-8").replace("](../docs/", "](../")
            (folder / file.name).write_text(text, encoding="utf-8")


def setup(app):
    app.connect("config-inited", copy_tutorials)
    app.connect("autodoc-process-docstring", escape_norms, priority=400)  # before numpydoc's, at 500
