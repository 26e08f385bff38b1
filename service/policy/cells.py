"""Small cells: figures over so few sentences, or differences of figures, that they tell about single ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from service.requests import POOLED
from service.store.revisions import Digests

LEAST = 10
"""Sentences from which on figures are shown at the levels `rounded` and `scores`."""
SUMS = 2
"""Figures over all parts, `macro` and `pooled`: with as many hidden parts, both together would give each of them."""

Gold = Mapping[str, Digests]
"""The digests of a revision's gold, by part."""


def hidden_parts(sizes: Mapping[str, int | None]) -> frozenset[str]:
    """Return the parts whose figures are hidden, among them POOLED where it would give a hidden one.

    All sentences of a benchmark together are no cell. What is hidden must not follow from what is shown: the hidden
    parts together have at least LEAST sentences, and are more than the sums over all parts that are shown; the
    smallest of the other parts are hidden with them.

    Args:
        sizes: part -> its number of sentences; None, unknown, counts as 0.
    """
    if len(sizes) < 2:
        return frozenset()
    by_size = sorted(sizes, key=lambda name: (sizes[name] or 0, name))
    hidden: list[str] = []
    together = 0
    for name in by_size:
        size = sizes[name] or 0
        if size >= LEAST and (not hidden or (together >= LEAST and len(hidden) > SUMS)):
            break
        hidden.append(name)
        together += size
    pooled = [POOLED] if 0 < len(hidden) <= SUMS else []
    return frozenset([*hidden, *pooled])


def hidden_tracks(hidden: Collection[str], tracks: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return the tracks whose means are hidden: with the parts that are shown they would give hidden ones.

    A track that has all hidden parts tells of them what `macro` tells. One that has some of them would tell their sum,
    and with `macro` that of the others.

    Args:
        hidden: parts.
        tracks: name -> its parts.
    """
    small = {*hidden} - {POOLED}
    return frozenset(name for name, parts in tracks.items() if small.intersection(parts) not in (set(), small))


def small_parts(sizes: Mapping[str, int | None]) -> list[str]:
    """Return the parts with fewer than LEAST sentences, which the organisers are warned of; unknown sizes are not."""
    return [name for name, size in sizes.items() if size is not None and size < LEAST]


def hidden_revisions(active: int, golds: Mapping[int, Gold]) -> frozenset[int]:
    """Return the superseded revisions whose figures are hidden: with those shown they would tell single sentences.

    Newer ones are shown rather than older ones.

    Args:
        active: number of the active revision, which is always shown.
        golds: number of a revision -> its gold.
    """
    shown = [active]
    hidden: list[int] = []
    for number in sorted(set(golds) - {active}, reverse=True):
        near = any(small_difference(golds[number], golds[each]) for each in shown if each in golds)
        (hidden if near else shown).append(number)
    return frozenset(hidden)


def small_difference(one: Gold, other: Gold) -> bool:
    """Return whether figures of two revisions together tell about few sentences.

    They do where gold differs in some column in 1 to LEAST - 1 sentences, or it is not known in how many. They do too
    where one has parts that the other lacks and either hides parts: its sums over all parts would give those.

    Columns are looked at one by one: a change of all comments or lemmas must not cover one of a single head.
    """
    counts = differing(one, other)
    if counts is None or any(0 < count < LEAST for count in counts):
        return True
    return set(one) != set(other) and any(hidden_parts(_sizes(gold)) for gold in (one, other))


def _sizes(gold: Gold) -> dict[str, int | None]:
    return {name: None if part.sentences is None else len(part.sentences[0]) for name, part in gold.items()}


def differing(one: Gold, other: Gold) -> Sequence[int] | None:
    """Return in how many sentences each column differs; None where a part has no digests of its sentences.

    The sentences of a part that only one of them has differ all.
    """
    counts: Counter[int] = Counter()
    for name in {**one, **other}:
        sides = [gold[name] for gold in (one, other) if name in gold]
        if len(sides) == 2 and sides[0].gold_key is not None and sides[0].gold_key == sides[1].gold_key:
            continue
        known = [side.sentences for side in sides if side.sentences is not None]
        if len(known) < len(sides) or len({len(columns) for columns in known}) > 1:
            return None
        for column in range(len(known[0])):
            first = Counter(known[0][column])
            second = Counter(known[1][column] if len(known) == 2 else ())
            counts[column] += max((first - second).total(), (second - first).total())
    return list(counts.values())
