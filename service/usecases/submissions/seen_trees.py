"""The trees of one part of a submission, as far as a caller may see them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from sqlalchemy import Connection

from service.policy import trees as policy
from service.policy.figures import Release
from service.policy.gate import Level, require
from service.requests import TreeChoice
from service.store.revisions import Part, Revision
from service.store.submissions import Submission
from service.usecases.scoring.config import scoring_config, visibility_key
from service.usecases.trees.documents import Document, Outline
from service.usecases.trees.gold import gold_key
from service.usecases.trees.sentences import OutputTrees
from service.usecases.trees.writing import TreesKey


class VisibleTrees:
    """Trees of a submission for a caller of some level. Below `items` only the output is read."""

    def __init__(
        self, db: Connection, submission: Submission, part: Part, revision: Revision, level: Level, release: Release
    ) -> None:
        key = TreesKey(part.position, revision.number)
        self.trees = OutputTrees(db, submission.id, key, (revision.id, gold_key(part.position)))
        self._revision, self._level, self._release = revision, level, release

    @property
    def beside_gold(self) -> bool:
        """Whether the caller sees gold beside the output; sentences are then gold's, else the output's own."""
        return self._level is Level.GOLD and self.trees.beside_gold

    @cached_property
    def marks(self) -> bool:
        """Whether the caller sees what is wrong."""
        if self._level < Level.ITEMS or self.trees.errors is None:
            return False
        by = self.trees.errors.about["metric"]
        entries = {entry.key: entry for entry in scoring_config(self._revision.scoring).spec.entries}
        listed = by is None or self._release.lists(by)
        return listed and policy.marks_shown(self._level, None if by is None else visibility_key(entries[by]))

    def require_choice(self, choice: TreeChoice) -> None:
        """Check that the caller may choose sentences so.

        Raises:
            Forbidden: the level does not show the errors that are asked.
        """
        if choice.by_errors:
            require_errors(self._level, choice)
            policy.require_marks(self._level, shown=self.marks or self._level is Level.GOLD)

    def document(self, sentence: int) -> Document:
        """Return one sentence, from 0, as the caller may see it."""
        if self.beside_gold:
            return policy.tree_view(self._level, self.trees.both(sentence), marks=True)
        return policy.tree_view(self._level, self.trees.own(sentence, marks=self.marks), marks=self.marks)

    def outline(self, sentence: int) -> Outline:
        """Return what a list shows of a sentence, from 0, as far as the caller may see it."""
        marks = self.beside_gold or self.marks
        found = self.trees.outline(sentence, beside_gold=self.beside_gold, marks=marks)
        return found if found.marks is None else replace(found, marks=policy.marks_view(self._level, found.marks))


def require_errors(level: Level, choice: TreeChoice) -> None:
    """Check that a level lets sentences be chosen by such errors, independent of what is stored.

    Raises:
        Forbidden: it does not.
    """
    if choice.by_errors:
        require(level, Level.ITEMS, "errors of single sentences")
    if choice.wrong is not None:
        policy.require_kind(level, choice.wrong)
