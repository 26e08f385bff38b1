"""How many sentences of gold have a scored output."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from service.store.revisions import Part


@dataclass(frozen=True, slots=True)
class Coverage:
    """The sentences that a submission covers, of all in gold."""

    scored: int
    total: int

    @property
    def complete(self) -> bool:
        """Return whether every sentence has a scored output."""
        return self.scored == self.total

    def __str__(self) -> str:
        """Return it as rows of a board show it: `59/60`."""
        return f"{self.scored}/{self.total}"


def coverage_of(
    covered: Sequence[int] | None, parts: Sequence[Part], chosen: Collection[str] | None = None
) -> Coverage | None:
    """Return the coverage of some parts, or of all.

    Args:
        covered: sentences with a scored output in each part; None without a score record.
        parts: of the revision, in the same order.
        chosen: names of parts; None for all.
    """
    if covered is None:
        return None
    sizes = [
        (scored, part.sentences or 0)
        for part, scored in zip(parts, covered, strict=True)
        if chosen is None or part.name in chosen
    ]
    return Coverage(sum(scored for scored, _ in sizes), sum(total for _, total in sizes))
