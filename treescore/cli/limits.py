"""The bounds on texts, as the environment sets them for the command line."""

from __future__ import annotations

import os
from dataclasses import fields

import click

from treescore.core.heads import plain_number
from treescore.core.limits import Limits

PREFIX = "TREESCORE_"


def read_limits() -> Limits:
    """Return the limits that `TREESCORE_MAX_...` variables set, defaults for the others.

    Raises:
        click.UsageError: a variable is not a whole number.
    """
    given = {}
    for field in fields(Limits):
        variable = PREFIX + field.name.upper()
        if variable in os.environ:
            value = plain_number(os.environ[variable])
            if value is None:
                raise click.UsageError(f"{variable} is {os.environ[variable]!r}. Set it to a whole number, as 1000.")
            given[field.name] = value
    return Limits(**given)
