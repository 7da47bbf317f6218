"""How the documentation is built."""

import re

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
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"gramless {release}"

autosummary_generate = True
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

_LITERAL_OR_BAR = re.compile(r"``.*?``|:math:`.*?`|\|(?=\S)")


def escape_norms(app, what, name, obj, options, lines):
    """Let docstrings write norms as ``|x - y|^2``: reStructuredText would take the bars for a substitution."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[i] = _LITERAL_OR_BAR.sub(lambda match: r"\|" if match[0] == "|" else match[0], line)


def setup(app):
    app.connect("autodoc-process-docstring", escape_norms, priority=400)  # before numpydoc's, at 500
