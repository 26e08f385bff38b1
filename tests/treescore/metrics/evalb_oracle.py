"""EVALB told again in the plainest way, for one pair of lines: what the compiled comparison is held against.

Lists and nested loops, as the original program counts; no bound on anything. Written from its description.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

SPACE = " \t\v\f\r"


@dataclass
class Settings:
    """What a parameter file can say."""

    delete: Sequence[str] = ()
    for_length: Sequence[str] = ()
    equal: Sequence[Sequence[str]] = ()
    equal_words: Sequence[Sequence[str]] = ()
    quotes: Sequence[str] = ()
    labelled: bool = True


@dataclass
class Quote:
    """A word that may be a quote: where it stood, and which brackets were open."""

    word: str
    tag: str
    place: int
    bracket: int
    open: list[int]


@dataclass
class Side:
    """One line read: words [form, tag], brackets [start, end, label]."""

    words: list[list[str]] = field(default_factory=list)
    brackets: list[list[int | str]] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)
    length: int = 0
    balanced: bool = True


def alike(first: str, second: str, pairs: Sequence[Sequence[str]]) -> bool:
    return first == second or any((first, second) in ((a, b), (b, a)) for a, b in pairs)


def read(line: str, settings: Settings) -> Side:
    """Read a line without text outside brackets (at such text the original stops)."""
    side, stack, at = Side(), [], 0

    def token(at: int) -> int:
        while at < len(line) and line[at] not in SPACE + "()":
            at += 1
        return at

    while at < len(line):
        if line[at] in SPACE:
            at += 1
        elif line[at] == "(":
            stop = token(at + 1)
            label, at = line[at + 1 : stop], stop
            word_at = stop
            while word_at < len(line) and line[word_at] in SPACE:
                word_at += 1
            word_stop = token(word_at)
            if word_at > stop and line[word_stop : word_stop + 1] == ")":
                word, at = line[word_at:word_stop], word_stop + 1
                side.length += label not in settings.for_length
                if label in settings.quotes and word in ("'", '"', "/"):
                    side.quotes.append(Quote(word, label, len(side.words), len(side.brackets), list(stack)))
                if label not in settings.delete:
                    side.words.append([word, label])
                continue
            stack.append(len(side.brackets))
            side.brackets.append([len(side.words), -1, label])
        else:
            assert line[at] == ")"
            at += 1
            if stack:
                side.brackets[stack.pop()][1] = len(side.words)
            else:
                side.balanced = False
    side.balanced = side.balanced and not stack
    return side


def put_back(side: Side, number: int) -> None:
    quote = side.quotes[number]
    side.words.insert(quote.place, [quote.word, quote.tag])
    for bracket in side.brackets[quote.bracket :]:
        bracket[0] += 1  # type: ignore[operator]
        bracket[1] += 1  # type: ignore[operator]
    for bracket in quote.open:
        side.brackets[bracket][1] += 1  # type: ignore[operator]
    for later in side.quotes[number:]:
        later.place += 1


def repair(gold: Side, system: Side, delete: Sequence[str]) -> None:
    for number, quote in enumerate(system.quotes):
        place = quote.place
        for other_number, other in enumerate(gold.quotes):
            if other.place == place and other.tag != quote.tag:
                if other.tag in delete and quote.tag not in delete:
                    put_back(gold, other_number)
                elif quote.tag in delete and other.tag not in delete:
                    put_back(system, number)


def compared(side: Side, settings: Settings) -> list[tuple[int, int, str]]:
    kept = []
    for start, end, label in side.brackets:
        cut = str(label).replace("=", "-").split("-")[0]
        if start != end and not any(alike(cut, deleted, settings.equal) for deleted in settings.delete):
            kept.append((int(start), int(end), cut))
    return kept


def row(gold_line: str, system_line: str, settings: Settings) -> list[int]:
    """Length, status, matched, gold, system, crossing, words, correct tags."""
    gold, system = read(gold_line, settings), read(system_line, settings)
    status = 0 if gold.balanced and system.balanced else 1
    if not system.words:
        return [gold.length, 2, 0, 0, 0, 0, 0, 0]
    if len(gold.words) != len(system.words):
        repair(gold, system, settings.delete)
    if len(gold.words) != len(system.words) or not all(
        alike(a[0], b[0], settings.equal_words) for a, b in zip(gold.words, system.words, strict=True)
    ):
        return [gold.length, 1, 0, 0, 0, 0, 0, 0]
    golds, systems = compared(gold, settings), compared(system, settings)
    left = list(systems)
    matched = 0
    for start, end, label in golds:
        for candidate in left:
            if candidate[:2] == (start, end) and (not settings.labelled or alike(label, candidate[2], settings.equal)):
                left.remove(candidate)
                matched += 1
                break
    crossing = sum(any(a < c < b < d or c < a < d < b for a, b, _ in golds) for c, d, _ in systems)
    tags = sum(alike(a[1], b[1], settings.equal) for a, b in zip(gold.words, system.words, strict=True))
    return [gold.length, status, matched, len(golds), len(systems), crossing, len(gold.words), tags]
