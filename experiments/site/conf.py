"""Sphinx's configuration; ``python -m experiments.site`` passes the folder of sources."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from experiments.site.docstrings import as_restructured_text

HERE = Path(__file__).parent

project = "dpcompose"
copyright = "the authors of dpcompose; MIT licence"
release = metadata.version("dpcompose")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx_copybutton"]
exclude_patterns = ["**.ipynb_checkpoints"]
html_theme = "furo"
html_title = "dpcompose"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_js_files = ["searching.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
copybutton_exclude = ".linenos, .gp"

# The outputs that are committed are shown: tests execute the notebooks, the site does not.
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3

# One file of scripts, laid beside the pages: formulas need no network.
mathjax_path = "mathjax/tex-svg.js"
mathjax3_config = {"svg": {"fontCache": "global"}, "options": {"enableMenu": False}}

autodoc_typehints = "none"
autodoc_member_order = "bysource"
# A table of contents with every method would be copied for each page: pages list their names.
toc_object_entries = False
python_use_unqualified_type_names = True
# Public names stand in several rooms, so a short name may have more than one home.
suppress_warnings = ["ref.python"]


def setup(app):  # type: ignore[no-untyped-def]
    """Register the conversion of docstrings."""
    app.connect("autodoc-process-docstring", rewrite)


def rewrite(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """Convert the lines of a docstring in place."""
    lines[:] = as_restructured_text(lines)
