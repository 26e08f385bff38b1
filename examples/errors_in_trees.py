"""Constituency trees as lists of brackets, and the errors that parsers make in them.

A tree is its words, their tags, and its brackets in pre-order; a change inserts, removes, moves or renames a
bracket and never lets two brackets cross.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from dice import Dice


@dataclass(eq=False, slots=True)
class Bracket:
    """A labelled span of words, half-open, from 0."""

    start: int
    end: int
    label: str


@dataclass
class Tree:
    """One sentence; the first bracket is TOP."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    brackets: list[Bracket] = field(default_factory=list)

    def parent(self, child: Bracket) -> Bracket:
        """Return the smallest bracket around `child`; TOP is its own."""
        place = self.brackets.index(child)
        return next((above for above in reversed(self.brackets[:place]) if above.end >= child.end), child)

    def children(self, parent: Bracket) -> list[Bracket]:
        """Return the brackets directly inside `parent`, left to right."""
        return [child for child in self.inner() if self.parent(child) is parent]

    def inner(self) -> list[Bracket]:
        """Return all brackets below TOP; a copy, so that a loop over it may change the tree."""
        return self.brackets[1:]

    def free(self, parent: Bracket) -> list[int]:
        """Return the words that stand directly in `parent`."""
        covered = {word for child in self.children(parent) for word in range(child.start, child.end)}
        return [word for word in range(parent.start, parent.end) if word not in covered]

    def insert(self, parent: Bracket, start: int, end: int, label: str) -> None:
        """Put a new bracket inside `parent`, around all that its span holds."""
        place = self.brackets.index(parent) + 1
        while place < len(self.brackets) and self.brackets[place].start < start:
            place += 1
        self.brackets.insert(place, Bracket(start, end, label))

    def remove(self, bracket: Bracket) -> None:
        """Take a bracket away and leave its contents to its parent."""
        self.brackets.remove(bracket)


# ---------------------------------------------------------------- reading and writing

TOKEN = re.compile(r"\(([^\s()]+) ([^\s()]+)\)|\(([^\s()]+)|\)")


def read(line: str) -> Tree:
    """Return one Penn-style tree with preterminals."""
    tree, open_brackets = Tree(), []
    for match in TOKEN.finditer(line):
        tag, word, label = match.groups()
        if tag:
            tree.tags.append(tag)
            tree.words.append(word)
        elif label:
            open_brackets.append(Bracket(len(tree.words), len(tree.words), label))
            tree.brackets.append(open_brackets[-1])
        else:
            open_brackets.pop().end = len(tree.words)
    return tree


def written(tree: Tree) -> str:
    """Return the tree on one line."""
    opening = [""] * len(tree.words)
    closing = [""] * len(tree.words)
    for bracket in tree.brackets:
        opening[bracket.start] += f"({bracket.label} "
        closing[bracket.end - 1] += ")"
    leaves = [
        f"{before}({tag} {word}){after}"
        for before, tag, word, after in zip(opening, tree.tags, tree.words, closing, strict=True)
    ]
    return " ".join(leaves)


# ---------------------------------------------------------------- errors

CONFUSED_LABELS = {
    "ADJP": ("ADVP", "NP", "VP"),
    "ADVP": ("PP", "ADJP", "PRT"),
    "CONJP": ("ADVP",),
    "FRAG": ("NP", "S"),
    "INTJ": ("ADVP", "VP"),
    "NP": ("ADJP", "ADVP", "QP"),
    "NP-TMP": ("NP", "NP", "ADVP"),
    "PP": ("SBAR", "ADVP", "PRT"),
    "PRN": ("S", "VP"),
    "PRT": ("ADVP", "PP"),
    "QP": ("NP", "ADJP"),
    "S": ("SINV", "SBAR", "FRAG"),
    "SBAR": ("S", "PP"),
    "SBARQ": ("S", "SBAR"),
    "SINV": ("S",),
    "SQ": ("S", "SINV"),
    "VP": ("ADJP", "NP", "PP"),
    "WHADVP": ("ADVP", "WHNP"),
    "WHNP": ("NP",),
}
CONFUSED_TAGS = {
    "CD": ("JJ", "NN"),
    "IN": ("RB", "RP"),
    "JJ": ("NN", "VBN", "RB"),
    "JJR": ("RBR",),
    "JJS": ("RBS",),
    "NN": ("JJ", "VB", "NNP"),
    "NNP": ("NN", "JJ"),
    "NNS": ("VBZ", "NN"),
    "RB": ("IN", "JJ", "RP"),
    "RBR": ("JJR",),
    "RP": ("IN", "RB"),
    "VB": ("VBP", "NN"),
    "VBD": ("VBN",),
    "VBG": ("NN", "JJ"),
    "VBN": ("VBD", "JJ"),
    "VBP": ("VB", "NN"),
    "VBZ": ("NNS",),
    "WDT": ("IN",),
}
AUXILIARIES = {"am", "are", "be", "been", "being", "did", "do", "had", "has", "have", "is", "was", "were"}
HANGING = {"PP", "SBAR", "VP"}
"""What may depend on a noun or on its verb."""


def attach_high(tree: Tree, dice: Dice, rate: float) -> None:
    """Raise what modifies a noun to the phrase above: [eat [the soup with beans]] -> [eat [the soup] [with beans]]."""
    for phrase in tree.inner():
        inside = tree.children(phrase)
        if phrase.label != "NP" or len(inside) < 2 or inside[0].label != "NP" or inside[-1].label not in HANGING:
            continue
        if not dice.errs(rate, phrase.start, phrase.end):
            continue
        above = tree.parent(phrase)
        if above.label == "PP" and above.end == phrase.end:
            above.end = inside[-2].end
        tree.remove(phrase)


def attach_low(tree: Tree, dice: Dice, rate: float) -> None:
    """Lower what modifies the verb to the noun before it: [saw [a man] [with a tube]] -> [saw [a man with a tube]]."""
    for phrase in tree.inner():
        inside = tree.children(phrase)
        for left, right in pairwise(inside):
            if (left.label, left.end) != ("NP", right.start) or right.label not in {"PP", "SBAR", "ADVP"}:
                continue
            pronoun = tree.tags[left.end - 1] == "PRP"
            if phrase.label == "VP" and not pronoun and dice.errs(rate, right.start, right.end):
                tree.insert(phrase, left.start, right.end, "NP")
                break


def misread_coordination(tree: Tree, dice: Dice, rate: float) -> None:
    """Lose the conjuncts' own brackets, or bind the last two of a list before the others."""
    for phrase in tree.inner():
        conjuncts = [child for child in tree.children(phrase) if child.label == phrase.label]
        conjunctions = [word for word in tree.free(phrase) if tree.tags[word] == "CC"]
        if len(conjuncts) < 2 or not conjunctions or not dice.errs(rate, phrase.start, phrase.end):
            continue
        if len(conjuncts) > 2:
            tree.insert(phrase, conjuncts[-2].start, conjuncts[-1].end, phrase.label)
        elif phrase.label in {"NP", "ADJP"}:
            for conjunct in conjuncts:
                tree.remove(conjunct)
        elif conjuncts[0].start == phrase.start:
            # The second clause or verb phrase depends on the first instead of standing beside it.
            tree.remove(conjuncts[0])


def misread_noun_phrase(tree: Tree, dice: Dice, rate: float) -> None:
    """Flatten what a noun phrase holds, or bracket words inside a flat one."""
    for phrase in tree.inner():
        nominal = phrase.label.startswith("NP") and phrase in tree.brackets
        if not nominal or not dice.errs(rate, phrase.start, phrase.end):
            continue
        inside = tree.children(phrase)
        if inside and inside[0].label in {"NP", "QP", "ADJP"}:
            tree.remove(inside[0])
        elif not inside and phrase.end - phrase.start >= 3:
            at = next((word for word in range(phrase.start + 1, phrase.end - 1) if tree.tags[word][0] in "JNV"), None)
            if at is not None and tree.tags[at].startswith("JJ"):
                tree.insert(phrase, at, at + 1, "ADJP")
            else:
                tree.insert(phrase, phrase.start, phrase.end - 1, "NP")


def move_boundary(tree: Tree, dice: Dice, rate: float) -> None:
    """End a phrase one word too early or too late."""
    for phrase in tree.inner():
        if not dice.errs(rate, phrase.start, phrase.end, phrase.label):
            continue
        above = tree.parent(phrase)
        if phrase.end in tree.free(above) and phrase.end + 1 < above.end:
            phrase.end += 1
        elif phrase.end - phrase.start > 2 and phrase.end - 1 in tree.free(phrase) and above.end > phrase.end:
            phrase.end -= 1


def drop_or_add_unary(tree: Tree, dice: Dice, rate: float) -> None:
    """Lose the upper of two brackets over the same words or a bracket over one word; set one over a lone adverb."""
    for phrase in tree.inner():
        above = tree.parent(phrase)
        single = phrase.end - phrase.start == 1 and phrase.label in {"ADVP", "ADJP", "PRT", "WHNP"}
        repeated = (above.start, above.end) == (phrase.start, phrase.end) and above is not tree.brackets[0]
        if (single or repeated) and dice.errs(rate, phrase.start, phrase.label):
            tree.remove(above if repeated else phrase)
    for phrase in tree.inner():
        for word in tree.free(phrase):
            tag = tree.tags[word]
            if tag in {"RB", "RBR", "NNP"} and phrase.end - phrase.start > 1 and dice.errs(rate / 2, "add", word):
                tree.insert(phrase, word, word + 1, "NP" if tag == "NNP" else "ADVP")


def confuse_labels(tree: Tree, dice: Dice, rate: float) -> None:
    """Give a bracket a label that is often mistaken for its own."""
    for phrase in tree.inner():
        first = tree.tags[phrase.start]
        plain_noun_phrase = phrase.label == "NP" and (phrase.end - phrase.start == 1 or first in {"DT", "PRP$"})
        deep = any(child.label == "VP" for child in tree.children(phrase))
        plain_verb_phrase = phrase.label == "VP" and (deep or first not in {"VBN", "VBG"})
        if phrase.label not in CONFUSED_LABELS or plain_noun_phrase or plain_verb_phrase:
            continue
        if dice.errs(rate, phrase.start, phrase.end):
            phrase.label = dice.pick(CONFUSED_LABELS[phrase.label], phrase.start, phrase.end)


def confuse_tags(tree: Tree, dice: Dice, rate: float) -> None:
    """Give a word a part of speech that is often mistaken for its own."""
    for place, tag in enumerate(tree.tags):
        if tag in CONFUSED_TAGS and tree.words[place] not in AUXILIARIES and dice.errs(rate, place):
            tree.tags[place] = dice.pick(CONFUSED_TAGS[tag], place)


# ---------------------------------------------------------------- baselines


def right_branching(tree: Tree) -> Tree:
    """Every word opens a phrase to the sentence's end, labelled by its tag; the last stop stands outside."""
    end = len(tree.words) - (tree.tags[-1] == ".")
    labels = ["S"] + [_phrase(tag) for tag in tree.tags[1 : max(end - 1, 1)]]
    brackets = [Bracket(0, len(tree.words), "TOP"), Bracket(0, len(tree.words), labels[0])]
    brackets += [Bracket(start, end, label) for start, label in enumerate(labels[1:], start=1)]
    return Tree(tree.words, tree.tags, brackets)


def _phrase(tag: str) -> str:
    """Return the label that a phrase headed or begun by a tag most often has."""
    if tag[0] == "V" or tag in {"MD", "TO"}:
        return "VP"
    return {"IN": "PP", "RB": "ADVP", "WP": "SBAR", "WDT": "SBAR", "WRB": "SBAR", "CC": "S", ",": "S"}.get(tag, "NP")


def chunks(tree: Tree) -> Tree:
    """Flat noun phrases, prepositional phrases around them, and nothing deeper: precise, and far from complete."""
    brackets = [Bracket(0, len(tree.words), "TOP"), Bracket(0, len(tree.words), "S")]
    nominal = ("DT", "PDT", "PRP", "PRP$", "JJ", "JJR", "JJS", "CD", "NN", "NNS", "NNP", "POS", "EX")
    begins = ("DT", "PDT", "PRP", "PRP$", "EX")
    start = 0
    while start < len(tree.words):
        first = start + (tree.tags[start] == "IN")
        end = first
        while end < len(tree.words) and tree.tags[end] in nominal and (end == first or _goes_on(tree, end, begins)):
            end += 1
        if end > first and any(tag[0] in "NPDEC" for tag in tree.tags[first:end]):
            brackets += [Bracket(start, end, "PP")] if first > start else []
            brackets.append(Bracket(first, end, "NP"))
        start = max(end, start + 1)
    return Tree(tree.words, tree.tags, brackets)


def _goes_on(tree: Tree, word: int, begins: Sequence[str]) -> bool:
    """Return whether a word can stand inside a noun phrase: nothing that begins one, but for `all the`."""
    return tree.tags[word] not in begins or tree.tags[word - 1] == "PDT"
