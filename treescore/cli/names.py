"""Names of formats, metrics and transforms for the completion of a shell, from the names of their modules.

A shell asks at each press of a key: nothing is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

FORMATS, METRICS, TRANSFORMS = "formats", "metrics", "transforms"
_SHARED = "shared"


def known_names(kind: str) -> list[str]:
    """Return the names of one kind, sorted."""
    folder = Path(__file__).parents[1] / kind
    names = {path.name.removesuffix(".py") for path in folder.iterdir() if not path.name.startswith(("_", "."))}
    if kind != METRICS:
        names = {name.replace("_", "-") for name in names}
    return sorted(names - {_SHARED})


def completer(kind: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return a function that completes a name of this kind, as click asks for it."""

    def complete(_ctx: click.Context, _option: click.Parameter, begun: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in known_names(kind) if name.startswith(begun)]

    return complete
