"""How Sphinx builds the site: `make docs`, or sphinx-build -W -b html docs docs/_build/html."""

import sys
from pathlib import Path

import numpydoc.xref
from sphinx_gallery.sorting import ExplicitOrder

import correspondence

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
numpydoc.xref.DEFAULT_LINKS.clear()  # they lead to pages of Python and NumPy, which the build does not know

project = "correspondence"
author = "The correspondence developers"
copyright = author
version = release = correspondence.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "attributes",  # this and those below are in _ext
    "commands",
    "links",
    "mathml",
    "public",
]
exclude_patterns = ["_build", "tutorials"]
templates_path = ["_templates"]
default_role = "py:obj"  # `name` in a docstring links to it
highlight_language = "text"
maximum_signature_line_length = 80
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

# --- pages
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

# --- reference
autosummary_filename_map = {"correspondence.crossfit": "correspondence.crossfit-function"}  # beside CrossFit on a Mac
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # types are in the docstrings, in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # a type links only to the names below
numpydoc_xref_aliases = {name: f"correspondence.{name}" for name in correspondence.__all__ if name[0].isupper()}

# --- tutorials: all of them are run, and one that fails stops the build
KINDS = ["statistician.py", "data_scientist.py", "ml_engineer.py", "photos_and_captions.py", "*"]
sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "generated/tutorials",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
    "show_signature": False,
    "within_subsection_order": ExplicitOrder(KINDS),
    "write_computation_times": False,
}

# --- look
html_theme = "furo"
html_title = "correspondence"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_math_renderer = "mathml"
pygments_style = "friendly"
pygments_dark_style = "monokai"
