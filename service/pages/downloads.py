"""Send files to be kept: the same bytes as the API sends, for who has a session instead of a token."""

from __future__ import annotations

import re

from flask import Response
from werkzeug.datastructures import Headers

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def download(response: Response, name: str) -> Response:
    """Return the response as a file of this name; characters that file systems read otherwise become `_`."""
    headers: Headers = response.headers
    headers["Content-Disposition"] = f'attachment; filename="{file_name(name)}"'
    return response


def file_name(name: str) -> str:
    """Return a name that every header and file system takes, with other characters as `_`."""
    return (_UNSAFE.sub("_", name).strip("._") or "file")[-100:]
