"""A bar on standard error with what is done and what is left, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from treescore.api import Progress as Tell
from treescore.api import silent


@contextmanager
def progress_bar() -> Iterator[Tell]:
    """Show a bar while the block runs; yields the function that moves it.

    Lines that are written to standard error stand above the bar. Without a terminal nothing is shown.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console  # noqa: PLC0415 - pipes need no bar
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("passed,"), TimeRemainingColumn(), TextColumn("left"),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as progress:
        task = progress.add_task("starting", total=None)

        def tell(done: int, total: int, step: str) -> None:
            progress.update(task, description=step, completed=done, total=total)

        yield tell
