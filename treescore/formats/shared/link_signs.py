"""Signs of the formats of word alignments."""

from __future__ import annotations

import re

from treescore.core.signs import CERTAIN, LIKELY, POSSIBLE, Head, Signs, found_in, share
from treescore.formats.shared.base_check import FEWEST_PAIRS

_LEAST = 0.8
_LINK = re.compile(r"([0-9]+)[-pP?]([0-9]+)")
_NUMBER = re.compile(r"[0-9]+")


def line_signs(head: Head, base: int) -> Signs | None:
    """Return the signs of a format with links like `0-0` on a line, for words counted from `base`: 0 or 1."""
    lines = [line.rpartition("||| ")[2].split() for line in head.filled]
    links = [[match for token in tokens if (match := _LINK.fullmatch(token))] for tokens in lines]
    found = sum(len(made) == len(tokens) for made, tokens in zip(links, lines, strict=True))
    if share(found, len(lines)) < _LEAST:
        return None
    why = [found_in(found, len(lines), "Only links of two word numbers")]
    numbers = {int(number) for made in links for match in made for number in match.groups()}
    if not numbers:
        return Signs(POSSIBLE, why)
    if any(match[1] == match[2] == "0" for made in links for match in made):
        # Counted from 1, it would link NULL with NULL.
        return Signs(LIKELY, [*why, "0-0 occurs: words are counted from 0."]) if base == 0 else None
    if 0 in numbers:
        return Signs(POSSIBLE, [*why, "0 occurs: it is the first word (pharaoh), or NULL (talp)."])
    why.append("0 does not occur: words are probably counted from 1.")
    if base == 1:
        return Signs(LIKELY, why)
    # Of many lines the reader, too, says so, and asks for the base.
    return Signs(POSSIBLE, why, options={"base": 1} if len(lines) >= FEWEST_PAIRS else {})


def giza_signs(head: Head) -> Signs | None:
    """Return the signs of a format with three lines a pair, of which the first says so."""
    headings = [line for line in head.lines[::3] if line]
    found = sum(line.startswith("# Sentence pair (") for line in headings)
    if share(found, len(headings)) < _LEAST:
        return None
    return Signs(CERTAIN, [found_in(found, len(headings), "# Sentence pair (1) at the head of three lines")])


def naacl_signs(head: Head) -> Signs | None:
    """Return the signs of a format with a link a line, which begins with the number of its sentence."""
    rows = [
        row for row in head.rows
        if 3 <= len(row) <= 5 and all(map(_NUMBER.fullmatch, row[:3])) and row[3:4] in ([], ["S"], ["P"], ["s"], ["p"])
    ]  # fmt: skip
    if share(len(rows), len(head.rows)) < _LEAST:
        return None
    why = [found_in(len(rows), len(head.rows), "Three numbers: sentence, source word, target word")]
    marked = sum(len(row) > 3 for row in rows)
    if marked:
        why.append(found_in(marked, len(rows), "S or P"))
    return Signs(CERTAIN if marked else LIKELY, why)
