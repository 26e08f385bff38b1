"""What a metric lets a participant see of gold at feedback level `items`; the default shows nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Fields:
    """The members that are shown of an object, or of each object in a list.

    Attributes:
        shown: name of a member -> the name under which it is shown.
        perfect: name of a score -> the name under which it is shown whether that score is 1.
        required: the member without which an object is left out of its list; empty: none is left out.
    """

    shown: Mapping[str, str]
    perfect: Mapping[str, str] = field(default_factory=dict)
    required: str = ""


def fields(*names: str) -> Fields:
    """Show these members under their own names."""
    return Fields({name: name for name in names})


@dataclass(frozen=True, slots=True)
class SliceFields:
    """The counts and scores that are shown of the rows of a grouping.

    Attributes:
        counts: the first counts what the output itself has: rows where it is 0 are not shown, and it orders the rest.
        scores: scores of the same rows.
    """

    counts: tuple[str, ...]
    scores: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What a metric shows of an output's own errors without showing gold's annotation (feedback level `items`).

    Everything here lists what is shown, so that a metric that declares nothing shows nothing.

    Attributes:
        members: members of an item that are shown whole: they describe the output alone.
        fields: members of an item that are shown in part.
        scores: scores of a sentence that say only which of the output's own words, brackets or links are wrong.
        counts: counts of a sentence, by the same rule.
        slices: groupings by properties of the output itself -> what their rows show.
        output_sentences: whether items are regrouped by the output's own sentences. A metric that scores the division
            into sentences must not show gold's. Each object of the member `words` then has a member `sentence`.
    """

    members: tuple[str, ...] = ()
    fields: Mapping[str, Fields] = field(default_factory=dict)
    scores: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    slices: Mapping[str, SliceFields] = field(default_factory=dict)
    output_sentences: bool = False


NOTHING = Disclosure()
