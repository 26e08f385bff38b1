"""Show the methods of the client as callers see them: they are written as coroutines and asynchronous iterators."""

from __future__ import annotations

import inspect

from sphinx.application import Sphinx

from treescore import client
from treescore.client import resources, work
from treescore.client.session import method


def unwrap(owner: type) -> None:
    """Replace the methods of a class by plain functions that are annotated with what callers get."""
    for name, value in list(vars(owner).items()):
        if isinstance(value, method):

            def plain() -> None:
                """Stand for a method."""

            written = value.__wrapped__
            answer = written.__annotations__["return"].replace("documents.", "").replace("AsyncIterator", "Iterator")
            plain.__signature__ = inspect.signature(written).replace(return_annotation=answer)  # type: ignore[attr-defined]
            plain.__doc__ = written.__doc__
            setattr(owner, name, plain)


def setup(app: Sphinx) -> dict[str, bool]:
    """Unwrap all before pages are read."""
    del app
    for module in (resources, work, client):
        for _, owner in inspect.getmembers(module, inspect.isclass):
            unwrap(owner)
    return {"parallel_read_safe": True}
