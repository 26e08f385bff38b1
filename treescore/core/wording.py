"""Words for people: numbers of things, names on one line, the known name that was meant, figures.

Scores are written in percent with two decimals, as the field prints them, or as fractions. Of a name on one line no
character moves the cursor, hides or turns others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import product
from typing import Any, Literal
from unicodedata import name, normalize


def counted(number: int, word: str, plural: str = "") -> str:
    """Return a number with its noun: `1 pair`, `2 pairs`; `plural` where it is not the noun with an s."""
    return f"{number} {word if number == 1 else plural or word + 's'}"


def listed(words: Sequence[str], most: int, between: str = "; ", more: str = "; and {} more") -> str:
    """Return the first words of a list, and how many more there are."""
    return between.join(words[:most]) + (more.format(len(words) - most) if len(words) > most else "")


def unit_word(unit: str) -> str:
    """Return the unit of a test in one word: gold's blocks are documents."""
    return "document" if unit == "block" else unit


def unit_words(unit: str, *, mixed: bool) -> tuple[str, str]:
    """Return what one unit and several are called; where some parts have no documents, `mixed`, both are named."""
    if mixed and unit == "block":
        return "document or sentence", "documents and sentences"
    return unit_word(unit), f"{unit_word(unit)}s"


def units_of(comparison: Mapping[str, Any]) -> tuple[str, str]:
    """Return what one unit of a comparison and several are called."""
    return unit_words(comparison["units"], mixed=bool(comparison.get("parts_by_sentence")))


TINY = "p below 2.2e-308 is shown as that; log10_p holds it."


def notes_of_views(comparison: Mapping[str, Any]) -> list[str]:
    """Return the notes of a comparison, without that of `log10_p`, which views of it lack."""
    return [each for each in comparison["notes"] if each != TINY]


MAX_NAME = 200
"""Most characters of a name that tables show."""
NAME_RULE = f"A name has 1 to {MAX_NAME} printable characters, not all of them spaces."


def is_name(name: str) -> bool:
    """Tell whether tables can show a name."""
    return bool(name.strip()) and len(name) <= MAX_NAME and name.isprintable()


def one_line(name: str) -> str:
    """Return a name on one line, without control characters."""
    if name.isprintable():  # the only space that counts as printable is the plain one
        return name
    return "".join(
        " " if character.isspace() else character
        for character in name
        if character.isprintable() or character.isspace()
    )


_LONGEST_NAME = 60
"""Characters of a name that are compared: longer ones are no slips of the keyboard."""
_LEAST_LIKENESS = 0.6


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return `" Did you mean 'x'?"` for the known name that is most like this one; `""` where none is like it."""
    close = closest(name, known)
    return "" if close is None else f" Did you mean {close!r}?"


def closest(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that is most like this one, ignoring case; None where none is like it.

    Of an address (`ud.las_f1`) the last step alone is enough: `las_f1`, or its beginning, `las`.
    """
    if not isinstance(name, str) or not name or len(name) > _LONGEST_NAME:
        return None
    wanted = name.casefold()
    best, likeness = None, 0.0
    for candidate in known:
        found = _likeness(wanted, candidate.casefold())
        if found > likeness:
            best, likeness = candidate, found
    return best


def _likeness(wanted: str, candidate: str) -> float:
    """Return how much two names are alike, 0 to 2; 0 where they are too little so."""
    if wanted == candidate or _plain_name(wanted) == _plain_name(candidate):
        return 2.0
    last = candidate.rpartition(".")[2]
    if last != candidate and wanted == last:
        return 1.9
    if last != candidate and last.startswith(f"{wanted}_"):
        # `las` is meant to be `las_f1` rather than `las_precision`.
        return 1.5 + 0.25 * last.endswith("_f1")
    ratio = SequenceMatcher(None, wanted, candidate, autojunk=False).ratio()
    return ratio if ratio >= _LEAST_LIKENESS else 0.0


def _plain_name(name: str) -> str:
    return name.replace("-", "").replace("_", "").replace(" ", "")


DIFFERENT_SENTENCES = "The outputs are scored on different sentences"
"""How the warning begins that a comparison has where outputs left out sentences, and not the same ones."""
P_FLOOR = 1e-4
"""The smallest p that is written as a number."""


def p_words(p: float | None) -> str:
    """Return a p-value with two digits that count: `.83`, `.024`, `.0021`, `< .0001`; nothing where there is none."""
    if p is None:
        return ""
    if p <= P_FLOOR:
        return "< .0001"
    if p >= 0.995:
        return "1.00"
    p = float(f"{p:.1e}")
    decimals = 2 if p >= 0.1 else 1 - math.floor(math.log10(p))
    return f"{p:.{min(decimals, 4)}f}".removeprefix("0")


def p_figure(p: float | None) -> str:
    """Return a p-value as plain text has it: `0.024`, `< .0001`; a dash where there is none."""
    words = p_words(p)
    return f"0{words}" if words.startswith(".") else words or UNDEFINED


def p_equals(p: float) -> str:
    """Return `p = 0.024`, `p < .0001`."""
    words = p_figure(p)
    return f"p {words}" if words.startswith("<") else f"p = {words}"


_CORRECTIONS = {
    "holm": "Holm", "hochberg": "Hochberg", "bh": "Benjamini-Hochberg", "by": "Benjamini-Yekutieli",
    "bonferroni": "Bonferroni", "none": "uncorrected",
}  # fmt: skip


def correction_name(correction: str) -> str:
    """Return what a correction for the number of pairs is called."""
    return _CORRECTIONS.get(correction, correction)


_LONGEST_SPELLING = 4
"""Characters that may spell what others spell in another way: a letter and its marks."""
_TOLD_BY_SIGHT = ("CJK UNIFIED", "HANGUL SYLLABLE")
"""How the names of characters begin that look like no other."""


def told_apart(found: str, gold: str) -> str:
    """Say how the words of an output and of gold differ at the first difference, `""` where it is plain to see."""
    start = next((at for at, (own, other) in enumerate(zip(found, gold, strict=False)) if own != other), None)
    start = min(len(found), len(gold)) if start is None else start
    own, other = (text[start : start + _LONGEST_SPELLING] for text in (found, gold))
    for form in ("NFC", "NFKC"):
        if normalize(form, own)[:1] != normalize(form, other)[:1]:
            continue  # soon found: there may be a million words that differ
        for size, size_of_gold in product(range(1, len(own) + 1), range(1, len(other) + 1)):
            spelt = own[:size], other[:size_of_gold]
            if normalize(form, spelt[0]) == normalize(form, spelt[1]):
                shown = f"The output has {_code_points(spelt[0])}, gold {_code_points(spelt[1])}"
                return f" {shown}: equal after {form}, but words are compared as they are."
    both = own[:1] + other[:1]
    if (both.isascii() and both.isprintable()) or all(name(each, "?").startswith(_TOLD_BY_SIGHT) for each in both):
        return ""
    return f" The output has {_code_points(own[:1])}, gold {_code_points(other[:1])}."


def _code_points(characters: str) -> str:
    """Return characters by number and name: `U+00E9 (LATIN SMALL LETTER E WITH ACUTE)`."""
    return " ".join(f"U+{ord(each):04X} ({name(each, 'without a name')})" for each in characters) or "nothing there"


BOUND_DIGITS = 3
"""Significant digits of the bounds of intervals where figures are rounded before they are shown."""
Unit = Literal["percent", "fraction"]
PERCENT: Unit = "percent"
FRACTION: Unit = "fraction"
UNITS: tuple[Unit, ...] = (PERCENT, FRACTION)
UNDEFINED = "-"


def ends(low: float | None, high: float | None) -> tuple[float, float]:
    """Return the ends of an interval, infinite where there is none."""
    return -math.inf if low is None else low, math.inf if high is None else high


@dataclass(frozen=True, slots=True)
class Figures:
    """Writes the figures of one score.

    Attributes:
        factor: by which they are multiplied.
        decimals: that are shown.
        rounded: whether bounds of intervals have BOUND_DIGITS, so that no further ones are shown.
    """

    factor: float = 1.0
    decimals: int = 4
    rounded: bool = False

    @property
    def in_percent(self) -> bool:
        """Whether scores are shown in percent."""
        return self.factor != 1.0

    def value(self, value: float | None) -> str:
        """Return a score; a dash where it is undefined."""
        return UNDEFINED if value is None else f"{self.factor * value:z.{self.decimals}f}"

    def signed(self, value: float) -> str:
        """Return a difference with its sign, 0 without; one that would be rounded to 0 with its first digit."""
        if value == 0:
            return self.value(value)
        shown = f"{self.factor * value:+.{self.decimals}f}"
        return shown if float(shown) != 0 else f"{self.factor * value:+.1g}"

    def of_bound(self, bound: float) -> Figures:
        """Return how a bound of an interval is written."""
        shown = self.factor * bound
        if not self.rounded or shown == 0 or not math.isfinite(shown):
            return self
        exponent = int(f"{shown:.{BOUND_DIGITS - 1}e}".partition("e")[2])
        return replace(self, decimals=min(self.decimals, max(0, BOUND_DIGITS - 1 - exponent)))

    def interval(self, low: float | None, high: float | None) -> str:
        """Return an interval in brackets, `[-0.3, inf]` where it has one end; a dash where it has none."""
        return UNDEFINED if low is None and high is None else f"[{', '.join(map(self._bound, ends(low, high)))}]"

    def _bound(self, bound: float) -> str:
        """Return an end of an interval; one near 0 with its first digit, so that print leaves out 0 too."""
        shown = self.of_bound(bound).value(bound)
        return shown if bound == 0 or float(shown) != 0 else f"{self.factor * bound:.1g}"


IN_FRACTIONS = Figures()
_IN_PERCENT = Figures(100.0, 2)
_PLAIN = Figures(1.0, 2)


def figures_of(unit: Unit, *, share: bool) -> Figures:
    """Return how the figures of a score are written.

    Args:
        unit: asked for.
        share: whether the score's range is 0 to 1; others are never shown in percent.
    """
    if unit == FRACTION:
        return IN_FRACTIONS
    return _IN_PERCENT if share else _PLAIN
