"""Options that choose errors: `--deprel`, `--upos`, `--label`, `--length`, `--sentence`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypedDict, TypeVar

import click

from treescore.cli.arguments import Asked
from treescore.cli.forms import TEXT, is_terminal
from treescore.cli.values import Lengths, WholeNumber

if TYPE_CHECKING:
    from pathlib import Path

    from treescore.results.filters import Filters

_Function = TypeVar("_Function", bound=Callable[..., object])
ON_A_TERMINAL = 50
"""Rows of a view that a terminal shows unless `--limit` says otherwise."""


class AskedFilters(TypedDict):
    """The values of these options, as click hands them over."""

    deprel: Sequence[str]
    upos: Sequence[str]
    label: Sequence[str]
    length: str | None
    sentence: Sequence[str]


class AskedErrors(Asked, AskedFilters):
    """All options of a command that lists errors but those of its form."""


def filter_options(function: _Function) -> _Function:
    """Add the options."""
    for option in (
        click.option(
            "--limit", type=WholeNumber(0, 10), metavar="N",
            help=f"Rows of each report; 0 for all. {ON_A_TERMINAL} on a terminal, else all.",
        ),
        click.option(
            "--sentence", multiple=True, metavar="N|SENT_ID",
            help="Only in these sentences, by number from 1 or by name. Repeatable.",
        ),
        click.option("--length", type=Lengths(), help="Only in sentences of so many words, as 12, 10-20 or 40-."),
        click.option(
            "--label", multiple=True, metavar="LABEL",
            help="Only brackets of this label; NP stands for NP-SBJ too. Repeatable.",
        ),
        click.option("--upos", multiple=True, metavar="TAG", help="Only words of this part of speech. Repeatable."),
        click.option(
            "--deprel", multiple=True, metavar="RELATION",
            help="Only this relation, of gold or of the output; obl stands for obl:tmod too. Repeatable.",
        ),
    ):  # fmt: skip
        function = option(function)
    return function


def filters_of(asked: AskedFilters) -> Filters:
    """Return the filters that were asked for."""
    given: Filters = {}
    for name in ("deprel", "upos", "label", "sentence"):
        if asked[name]:
            given[name] = list(asked[name])
    if asked["length"] is not None:
        given["length"] = asked["length"]
    return given


def limit_of(limit: int | None, form: str, output: Path | None) -> int:
    """Return how many rows are shown; 0 for all."""
    if limit is not None:
        return limit
    return ON_A_TERMINAL if form == TEXT and output is None and is_terminal() else 0
