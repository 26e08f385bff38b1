"""Settings of Sphinx: `make docs` builds these pages into build/docs."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from treescore import __version__  # noqa: E402 - of this checkout, not of an installed package

logging.getLogger("alembic").setLevel(logging.WARNING)  # says its plugins when the commands are loaded

project = "Treescore"
author = "The Treescore authors"
project_copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "client_methods",
    "repository_links",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["pictures", "operate/*.json"]

myst_enable_extensions = ["deflist", "fieldlist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("Source", "Outputs", "Choice", "Progress", "Unit", "SentenceName")}
python_use_unqualified_type_names = True
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = True
napoleon_numpy_docstring = False

default_role = "literal"  # docstrings write names in single backticks

smartquotes = False  # two hyphens of an option must not become a dash

html_theme = "furo"
html_title = f"Treescore {version}"


def setup(app: Sphinx) -> None:
    """Connect with Sphinx."""
    app.connect("autodoc-process-docstring", keep_first_line_whole, priority=400)  # before napoleon
    app.connect("autodoc-process-signature", plain_aliases)
    app.connect("sphinx-click-process-epilog", plain_stars)


def keep_first_line_whole(_app: Sphinx, kind: str, _name: str, _of: Any, _options: Any, lines: list[str]) -> None:
    """Begin docstrings of properties with an empty comment.

    Napoleon takes what precedes a colon in their first line for a type.
    """
    if kind == "property":
        lines[:0] = ["..", ""]


def plain_aliases(
    _app: Sphinx, _kind: str, _name: str, _of: Any, _options: Any, signature: str | None, answer: str | None
) -> tuple[str | None, str | None]:
    """Write an alias of a type by its name: within unions Sphinx 9.0 writes `TypeAliasForwardRef('Name')`."""
    named = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
    return signature and named.sub(r"\1", signature), answer and named.sub(r"\1", answer)


def plain_stars(_app: Sphinx, _context: Any, lines: list[str]) -> None:
    """Write the stars of files' names in examples of a command, which would begin an emphasis."""
    lines[:] = [line.replace("*", r"\*") for line in lines]
