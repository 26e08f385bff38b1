"""What answers questions about outputs."""

from __future__ import annotations

from collections.abc import Container

from service.context import Context
from service.usecases.views.asking import Question


class Maker:
    """Makes documents of questions."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def make(self, question: Question) -> object:
        """Return the document that answers a question."""
        raise LookupError(question.kind)

    def forget(self, owners: Container[str] | None) -> None:
        """Drop what is live of these owners, of all for None."""
