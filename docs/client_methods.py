"""Show the methods of the client as callers see them: they are written as plans, which give results when called."""

from __future__ import annotations

import inspect
import re

from sphinx.application import Sphinx

from treescore.client import clients, resources, work
from treescore.client.session import Listing, method

PLAN = re.compile(r"Plan\[(.*)\]")


def unwrap(owner: type) -> None:
    """Replace the plans of a class by functions that are annotated with what callers get."""
    for name, value in list(vars(owner).items()):
        if isinstance(value, method):
            plan = value.__wrapped__
            answer = PLAN.sub(r"\1", plan.__annotations__["return"])
        elif isinstance(value, Listing):
            plan = value.__wrapped__
            answer = f"Iterator[{value._kind.__name__}]"  # noqa: SLF001 - only pages want to know it
        else:
            continue
        plan.__annotations__["return"] = answer.replace("documents.", "")
        setattr(owner, name, plan)


def setup(app: Sphinx) -> dict[str, bool]:
    """Unwrap all before pages are read."""
    del app
    for module in (resources, work, clients):
        for _, owner in inspect.getmembers(module, inspect.isclass):
            unwrap(owner)
    return {"parallel_read_safe": True}
