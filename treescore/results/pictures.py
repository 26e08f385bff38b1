"""Pictures of comparisons, for notebooks and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from treescore.core.params import Json
from treescore.core.suggestions import did_you_mean
from treescore.errors import InputError, Problem

SUFFIX = ".svg"
PAIRS, DOTS, INTERVALS, POWER, AGAINST = "pairs", "dots", "intervals", "power", "against"
KINDS = (PAIRS, DOTS, INTERVALS, POWER, AGAINST)
"""A heat map of pairs, pairs as dots, scores with intervals, detectable differences, one system against all others."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture of a comparison: a notebook shows it, `save` writes it.

    Attributes:
        svg: the picture.
    """

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the picture to a file.

        Args:
            path: ends in `.svg`.

        Raises:
            InputError: another suffix.
            OSError: the file cannot be written.
        """
        check_suffix(path)
        Path(path).write_text(self.svg, encoding="utf-8")


def check_suffix(path: str | Path) -> None:
    """Check that a picture can be written to a file of this name.

    Raises:
        InputError: another suffix than `.svg`.
    """
    if Path(path).suffix.lower() != SUFFIX:
        detail = (
            f"Pictures are SVG only, and {str(path)!r} has another suffix. Name a file that ends in {SUFFIX}; "
            "to convert it, open it in a browser or a drawing program."
        )
        raise InputError(Problem("bad-parameter", detail, pointer="/path"))


def drawn(
    documents: Sequence[Mapping[str, Json]], kind: str, shares: frozenset[str], system: str | None = None
) -> Picture:
    """Draw comparisons.

    Args:
        documents: of the comparisons; every kind but `pairs` takes one.
        kind: one of KINDS.
        shares: the scores that are shown in percent.
        system: for `against` the one that is compared, for `dots` the one whose pairs are darker.

    Raises:
        InputError: an unknown kind or system, a kind of picture without a system, or of several comparisons.
    """
    if kind not in KINDS:
        raise _refused(f"Unknown kind of picture {kind!r}.{did_you_mean(kind, KINDS)}", KINDS, "/kind")
    if kind == PAIRS:
        from treescore.render.comparisons import render_comparisons  # noqa: PLC0415 - scores alone are not drawn

        return Picture(render_comparisons(documents, "svg", None, shares).content.decode())
    if len(documents) != 1:
        scores = [str(document["score"]) for document in documents]
        raise _refused(
            f"A picture of kind {kind!r} shows one score: compare with `scores` naming one.", scores, "/kind"
        )
    names = [system_["name"] for system_ in documents[0]["systems"]]
    if system not in names and (system is not None or kind == AGAINST):
        given = "Name the system." if system is None else f"Unknown system {system!r}.{did_you_mean(system, names)}"
        raise _refused(given, names, "/system")
    return Picture(_one(documents[0], kind, shares, system))


def _one(document: Mapping[str, Json], kind: str, shares: frozenset[str], system: str | None) -> str:
    from treescore.render.against import against_svg  # noqa: PLC0415 - as above
    from treescore.render.intervals import intervals_svg  # noqa: PLC0415 - as above
    from treescore.render.pairs import pairs_svg  # noqa: PLC0415 - as above
    from treescore.render.power import power_svg  # noqa: PLC0415 - as above

    if system is not None and kind == AGAINST:
        return against_svg(document, system, shares)
    if kind == DOTS:
        return pairs_svg(document, system, shares)
    return (intervals_svg if kind == INTERVALS else power_svg)(document, shares)


def _refused(words: str, known: Sequence[str], pointer: str) -> InputError:
    return InputError(Problem("bad-parameter", f"{words} Choose one of: {', '.join(known)}.", pointer=pointer))
