"""Serve the style sheet, the scripts and the fonts, at addresses that change with their bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from flask import Blueprint, Response

from service.api import answers
from service.errors import NotFound
from service.usecases.runs.views import View, body_view

blueprint = Blueprint("pages_static", __name__, url_prefix="/static")
FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
}
FOR_EVER = "public, max-age=31536000, immutable"
BRIEFLY = "public, max-age=60"
"""For a file that is asked for by the version of another release: its bytes may be newer than the address says."""


@cache
def files() -> Mapping[str, View]:
    """Return every file by its path below the folder."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in MEDIA_TYPES)
    return {
        path.relative_to(FOLDER).as_posix(): body_view(path.read_bytes(), MEDIA_TYPES[path.suffix]) for path in paths
    }


@cache
def version() -> str:
    """Return what names these bytes of all files together."""
    tags = "".join(f"{name} {view.etag}\n" for name, view in files().items())
    return hashlib.blake2b(tags.encode(), digest_size=6).hexdigest()


def address(name: str) -> str:
    """Return the address of a file.

    Raises:
        KeyError: unknown file: a template is wrong.
    """
    _ = files()[name]
    return f"/static/{version()}/{name}"


@blueprint.get("/<asked>/<path:name>")
def get_static(asked: str, name: str) -> Response:
    """Show a file."""
    view = files().get(name)
    if view is None:
        raise NotFound("Unknown file. Load the page again: it names the files that this version has.")
    response = answers.conditional(view)
    response.headers["Cache-Control"] = FOR_EVER if asked == version() else BRIEFLY
    return response
