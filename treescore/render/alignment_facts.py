"""What the picture of an aligned pair shows, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from treescore.core.counting import counted
from treescore.render.sentence_shapes import AGREED, MISSED, WRONG, AlignmentSentence, Facts, Link
from treescore.render.sentence_text import shown_form

MOST_ALIGNED_WORDS = 300
"""Words of a side that are drawn; the picture says if there are more."""
MOST_LINKS = 3000
"""Links that are drawn, errors before others; the picture says if there are more."""
NULL = "\u2205"
"""Stands for the missing word of a link."""
_LISTED = 40
"""Links of a kind that the description names."""


def drawn_alignment(sentence: AlignmentSentence) -> AlignmentSentence:
    """Return the pair with what is drawn of it; links in the order of their words."""
    source, target = sentence.source[:MOST_ALIGNED_WORDS], sentence.target[:MOST_ALIGNED_WORDS]
    links = sorted(
        _between(sentence, len(source), len(target)), key=lambda link: (not _error(link), *_link_place(link))
    )
    kept = tuple(sorted(links[:MOST_LINKS], key=_link_place))
    return replace(sentence, source=source, target=target, links=kept)


def links_left_out(sentence: AlignmentSentence) -> str:
    """Return the sentence that says how much of a large pair is drawn; empty if all is."""
    words = max(len(sentence.source), len(sentence.target))
    links = len(_between(sentence, MOST_ALIGNED_WORDS, MOST_ALIGNED_WORDS))
    parts = []
    if words > MOST_ALIGNED_WORDS:
        parts.append(f"first {MOST_ALIGNED_WORDS:,} of {words:,} words")
    if links > MOST_LINKS:
        parts.append(f"{MOST_LINKS:,} of {links:,} links, errors first")
    said = ", ".join(parts)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def alignment_facts(sentence: AlignmentSentence, *, every_link: bool = False) -> Facts:
    """Return the wrong links and the missed sure ones.

    Args:
        sentence: what is drawn.
        every_link: list the others too.
    """
    note, sentence = links_left_out(sentence), drawn_alignment(sentence)
    rows = [_link_row(sentence, link) for link in sentence.links if every_link or _error(link)]
    return Facts(("No.", "Source", "No.", "Target", "Link", "Wrong"), tuple(rows), note)


def alignment_described(sentence: AlignmentSentence, note: str) -> str:
    """Return the description of the picture for those who cannot see it.

    Args:
        sentence: what is drawn, no more than that.
        note: what the picture says below.
    """
    parts = ["Source on the left, target on the right.", *_listed_links(sentence, WRONG, "Not in gold")]
    parts += _listed_links(sentence, MISSED, "Missed")
    if len(parts) == 1:
        parts.append("No link is wrong.")
    return " ".join([*parts, note] if note else parts)


def _listed_links(sentence: AlignmentSentence, mark: str, head: str) -> Iterator[str]:
    rows = [_link_row(sentence, link) for link in sentence.links if _error(link) and link.mark == mark]
    named = [" ".join(filter(None, (source, at, "-", target, to))) for at, source, to, target, *_ in rows[:_LISTED]]
    more = [f"and {counted(len(rows) - _LISTED, 'other')}"] if len(rows) > _LISTED else []
    if named:
        yield f"{head}: {'; '.join([*named, *more])}."


def _link_row(sentence: AlignmentSentence, link: Link) -> tuple[str, ...]:
    kind = "" if link.mark == WRONG else "sure" if link.sure else "possible"
    wrong = link.mark if _error(link) else ""
    return (*_word(sentence.source, link.source), *_word(sentence.target, link.target), kind, wrong)


def _word(words: Sequence[str], index: int | None) -> tuple[str, str]:
    return ("", NULL) if index is None else (str(index + 1), shown_form(words[index]))


def _error(link: Link) -> bool:
    return link.mark != AGREED and (link.sure or link.mark == WRONG)


def _link_place(link: Link) -> tuple[int, int]:
    return (-1 if link.source is None else link.source, -1 if link.target is None else link.target)


def _between(sentence: AlignmentSentence, source: int, target: int) -> list[Link]:
    """Return the links between words of the sentence that are drawn; a link needs a word on one side."""
    above, below = range(min(source, len(sentence.source))), range(min(target, len(sentence.target)))
    return [
        link
        for link in sentence.links
        if (link.source is None or link.source in above)
        and (link.target is None or link.target in below)
        and (link.source, link.target) != (None, None)
    ]
