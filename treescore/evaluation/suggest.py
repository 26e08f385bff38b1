"""Suggestions: which format a text is in, by its first lines, and what it can be scored with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import treescore.formats  # noqa: F401 - it tells the registry where to look
from treescore.core.params import Json
from treescore.core.registry import FORMATS, Format
from treescore.core.signs import CERTAIN, LIKELY, Head, Scored

CERTAINTIES = ("certain", "likely", "possible")
"""How sure a suggestion is, the surest first."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A format that a text may be in.

    Attributes:
        name: of the format.
        options: of the format.
        certainty: one of CERTAINTIES.
        why: what was seen, in sentences.
        metrics: to score it with, the best first, each with its reason.
    """

    name: str
    options: Mapping[str, Json]
    certainty: str
    why: Sequence[str]
    metrics: Sequence[Scored]

    @property
    def format(self) -> Json:
        """The format as a request names it."""
        return {"name": self.name, **self.options} if self.options else self.name

    def document(self) -> dict[str, Json]:
        """Return the suggestion as the API shows it."""
        return {
            "format": self.format,
            "certainty": self.certainty,
            "why": list(self.why),
            "metrics": [{"metric": scored.metric, "why": scored.why} for scored in self.metrics],
        }


def suggestions(text: bytes) -> list[Suggestion]:
    """Return the formats that the first lines of a text may be in, the likeliest first; none where nothing fits."""
    head = Head.of(text)
    found = []
    for name in sorted(FORMATS):
        signs = FORMATS[name].signs(head) if head.filled else None
        if signs is not None:
            metrics = signs.metrics or _usual(FORMATS[name])
            suggestion = Suggestion(name, signs.options, _certainty(signs.strength), signs.why, metrics)
            found.append((-signs.strength, suggestion))
    found.sort(key=lambda pair: pair[0])
    return [suggestion for _, suggestion in found]


def _certainty(strength: float) -> str:
    return CERTAINTIES[0 if strength >= CERTAIN else 1 if strength >= LIKELY else 2]


def _usual(format_: type[Format]) -> Sequence[Scored]:
    if not format_.usual_metric:
        return ()
    return [Scored(format_.usual_metric, "The usual metric of this format.")]
