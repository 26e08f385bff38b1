"""Texts that are scored: real ones where they are, and raw text with multiword tokens made from any CoNLL-U file."""

from __future__ import annotations

import random
from functools import cache
from typing import NamedTuple

from dependency import generated
from table import DATA

FORM, LEMMA, HEAD, RELATION, DEPS, MISC = 1, 2, 6, 7, 8, 9
EVERY = 12
"""One place in so many words gets a multiword token or another tokenization."""

Row = list[str]


class Pair(NamedTuple):
    """Gold and an output, with the words of the output."""

    name: str
    gold: bytes
    system: bytes

    @property
    def words(self) -> int:
        """Return how many words the output has."""
        return words_of(self.system)


def words_of(text: bytes) -> int:
    """Return how many words a CoNLL-U text has: no ranges, no empty nodes."""
    return sum(line.split(b"\t", 1)[0].isdigit() for line in text.splitlines())


@cache
def english() -> Pair:
    """Return English EWT on gold tokens, or generated trees."""
    folder = DATA / "ud_en_ewt" / "gold_tokens"
    if folder.is_dir():
        gold, system = ((folder / f"{name}.conllu").read_bytes() for name in ("gold", "dev-swap-it3"))
        return Pair("English EWT, gold tokens", gold, system)
    gold_text, system_text = generated(2_000)
    return Pair("generated trees", gold_text.encode(), system_text.encode())


@cache
def raw_text(seed: int = 1) -> Pair:
    """Return `english()` as if parsed from raw text: multiword tokens on both sides, another tokenization, wrong heads.

    The places are drawn with a fixed seed. At each, two words of gold become a multiword token; the output has the same
    token with other words, or one word instead; elsewhere it splits a word.
    """
    rng = random.Random(seed)  # noqa: S311 - no secret
    given = english()
    sentences = [_retokenized(rows, rng) for rows in _sentences(given.gold)]
    gold, system = ("".join(side).encode() for side in zip(*sentences, strict=True))
    return Pair(f"{given.name}, as from raw text with multiword tokens", gold, system)


def numbered(text: bytes, number: int) -> bytes:
    """Return a CoNLL-U text that differs in a comment, so that no digest is known."""
    return b"# copy = %d\n" % number + text


def _sentences(text: bytes) -> list[list[Row]]:
    """Return the words of each sentence, without comments, ranges and empty nodes."""
    found: list[list[Row]] = []
    for block in text.decode().strip().split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
        words = [row for row in rows if row[0].isdigit()]
        for row in words:
            row[DEPS] = row[MISC] = "_"
        found.append(words)
    return found


def _retokenized(words: list[Row], rng: random.Random) -> tuple[str, str]:
    """Return one sentence of gold and of the output."""
    gold: list[str] = []
    system: list[tuple[Row, int]] = []  # a word, and the word of gold that others attach to
    ranges: dict[int, tuple[int, str]] = {}  # first word of the output -> words, form
    at = 0
    while at < len(words):
        row = words[at]
        chosen = rng.randrange(EVERY)
        if chosen == 0 and at + 1 < len(words):
            pair = words[at : at + 2]
            form = "".join(each[FORM] for each in pair)
            gold.append(_line([f"{at + 1}-{at + 2}", form, *"_" * 8]))
            gold += map(_line, pair)
            if rng.random() < 0.5:
                ranges[len(system)] = 2, form
                system += [(_renamed(pair[0], pair[0][FORM] + "h"), at + 1), (pair[1], at + 2)]
            else:
                upper = at + 1 if _passes(words, at, at + 2) else at
                system += [(_renamed(words[upper], form), at + 1), (["", "", "", *"_" * 7], at + 2)]
            at += 2
            continue
        gold.append(_line(row))
        if chosen == 1 and len(row[FORM]) > 3:
            system += [(_renamed(row, row[FORM][:2]), at + 1)]
            tail = _renamed(row, row[FORM][2:])
            tail[HEAD], tail[RELATION] = row[0], "goeswith"
            system.append((tail, 0))
        else:
            system.append((row, at + 1))
        at += 1
    return "\n".join(gold) + "\n\n", _numbered_again(system, ranges, rng)


def _numbered_again(system: list[tuple[Row, int]], ranges: dict[int, tuple[int, str]], rng: random.Random) -> str:
    """Write the output's words with identifiers of their own; a word without a form has joined the one before."""
    identifiers: dict[str, int] = {"0": 0}
    number = 0
    for row, source in system:
        number += bool(row[FORM])
        if source:
            identifiers[str(source)] = number
    lines: list[str] = []
    number = 0
    for place, (row, _) in enumerate(system):
        if not row[FORM]:
            continue
        number += 1
        if place in ranges:
            size, form = ranges[place]
            lines.append(_line([f"{number}-{number + size - 1}", form, *"_" * 8]))
        changed = [str(number), *row[1:]]
        changed[HEAD] = str(identifiers[row[HEAD]])
        if row[HEAD] != "0" and rng.random() < 1 / 8:
            changed[RELATION] = "dep"
        lines.append(_line(changed))
    return "\n".join(lines) + "\n\n"


def _passes(words: list[Row], start: int, through: int) -> bool:
    """Return whether the path from a word (position from 0) to the root passes a word (number from 1)."""
    head = int(words[start][HEAD])
    while head:
        if head == through:
            return True
        head = int(words[head - 1][HEAD])
    return False


def _renamed(row: Row, form: str) -> Row:
    return [row[0], form, *row[2:]]


def _line(row: Row) -> str:
    return "\t".join(row)
