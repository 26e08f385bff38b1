"""Problems of an input, and warnings, as lines on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from treescore.cli.exits import NOT_INSTALLED, WRONG_INPUT
from treescore.errors import ScoringError
from treescore.evaluation.warnings import problem_line, warning_lines

if TYPE_CHECKING:
    from treescore.results import Result

MISSING_EXTRA = "missing-extra"
"""Code of the problem that a package is not installed."""


def ended(error: ScoringError) -> SystemExit:
    """Print the problems of an input, one line each, and return the end of the command with its status."""
    for problem in error.problems:
        click.echo(problem_line(problem), err=True)
    if error.total > len(error.problems):
        click.echo(f"... and {error.total - len(error.problems)} more", err=True)
    missing = all(problem.code == MISSING_EXTRA for problem in error.problems)
    return SystemExit(NOT_INSTALLED if missing else WRONG_INPUT)


def warn_of(result: Result) -> None:
    """Print the warnings of a result, beside an output that does not show them to people."""
    for line in warning_lines(result.warnings):
        click.echo(f"Warning: {line}", err=True)
