"""PARSEME's scores counted one sentence and one subset at a time, with every pairing tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import permutations
from typing import NamedTuple

Sentence = list[tuple[str, str, str]]
"""Words: form, lemma, codes."""
Counts = tuple[int, int, int, int, int, int]


class Expression(NamedTuple):
    """A category, None for none, and positions from 0."""

    category: str | None
    words: tuple[int, ...]


def expressions(sentence: Sentence) -> list[Expression]:
    found: dict[str, tuple[str | None, list[int]]] = {}
    for position, (_, _, codes) in enumerate(sentence):
        for code in sorted(set(codes.split(";"))) if codes != "*" else ():
            number, _, category = code.partition(":")
            found.setdefault(number, (category or None, []))[1].append(position)
    return [Expression(category, tuple(sorted(set(words)))) for category, words in found.values()]


def counts(golds: Iterable[Expression], systems: Iterable[Expression]) -> Counts:
    gold, system = ({frozenset(each.words) for each in side} for side in (golds, systems))
    few, many = sorted((list(gold), list(system)), key=len)
    best = max(sum(len(a & b) for a, b in zip(few, order, strict=False)) for order in permutations(many))
    return (
        len(gold & system), len(gold), len(system),
        best, sum(map(len, gold)), sum(map(len, system)),
    )  # fmt: skip


class Seen:
    """What a training text has."""

    def __init__(self, train: list[Sentence]) -> None:
        known = [(sentence, each) for sentence in train for each in expressions(sentence)]
        self.lemmas = [
            Counter(form if lemma == "_" else lemma for form, lemma, _ in (sentence[word] for word in each.words))
            for sentence, each in known
        ]
        self.spans = [span(sentence, each) for sentence, each in known]

    def seen(self, sentence: Sentence, each: Expression, *, compat: bool) -> bool:
        words = [sentence[word] for word in each.words]
        return Counter(lemma if compat or lemma != "_" else form for form, lemma, _ in words) in self.lemmas


def span(sentence: Sentence, each: Expression) -> list[str]:
    return [form for form, _, _ in sentence[each.words[0] : each.words[-1] + 1]]


def subsets(train: Seen, *, compat: bool) -> Mapping[str, Callable[[Sentence, Expression], str | None]]:
    def variant(sentence: Sentence, each: Expression) -> str | None:
        if not train.seen(sentence, each, compat=compat):
            return None
        return "identical" if span(sentence, each) in train.spans else "variant"

    return {
        "category": lambda _, each: each.category or "<unlabeled>",
        "continuity": lambda _, each: "dis" * (each.words[-1] - each.words[0] >= len(each.words)) + "continuous",
        "tokens": lambda _, each: "multi-token" if len(each.words) > 1 else "single-token",
        "seen": lambda sentence, each: "seen" if train.seen(sentence, each, compat=compat) else "unseen",
        "variant": variant,
    }


def tables(
    gold: list[Sentence], system: list[Sentence], train: list[Sentence], *, compat: bool
) -> Iterator[tuple[str, str, Counts]]:
    """Yield grouping, value and counts of every subset that is not empty on both sides."""
    for name, value_of in subsets(Seen(train), compat=compat).items():
        totals: dict[str, list[int]] = {}
        for sentences in zip(gold, system, strict=True):
            sides = [[(value_of(sentence, each), each) for each in expressions(sentence)] for sentence in sentences]
            for value in {value for side in sides for value, _ in side if value is not None}:
                found = counts(*([each for mine, each in side if mine == value] for side in sides))
                totals[value] = [a + b for a, b in zip(totals.get(value, [0] * 6), found, strict=True)]
        yield from ((name, value, tuple(total)) for value, total in totals.items())  # type: ignore[misc]
