"""Formats as callers name them: by name, or with options."""

from __future__ import annotations

from treescore.core.params import Json
from treescore.errors import placed
from treescore.evaluation.spec import FormatChoice, parse_format
from treescore.shapes import check_format


def format_choice(value: Json, pointer: str) -> FormatChoice:
    """Return a format from its name, or from an object with a name and options.

    Raises:
        InputError: the value has another shape, or the format or an option is unknown.
    """
    check_format(value, pointer)
    with placed(pointer):
        return parse_format(value)
