"""Bracketed trees are read and written."""

from __future__ import annotations

import pytest

from scoring.errors import InputError
from scoring.limits import DEFAULT_LIMITS
from scoring.registry import make_format
from scoring.trees import NO_TAG, ConstituentTreebank
from scoring.vocabulary import Vocabulary


def read(text: str | bytes, **options: object) -> ConstituentTreebank:
    given = text.encode() if isinstance(text, str) else text
    treebank = make_format("bracketed", options).read(given, Vocabulary(), DEFAULT_LIMITS)
    assert isinstance(treebank, ConstituentTreebank)
    return treebank


def nodes(treebank: ConstituentTreebank, sentence: int = 0) -> list[tuple[str, int, int]]:
    part = slice(*treebank.node_offsets[sentence : sentence + 2])
    return [
        (treebank.vocabulary.strings[label], start, end)
        for label, start, end in zip(
            treebank.labels[part].tolist(), treebank.starts[part].tolist(), treebank.ends[part].tolist(), strict=True
        )
    ]


def words(treebank: ConstituentTreebank, sentence: int = 0) -> list[tuple[str, str | None]]:
    part = slice(*treebank.word_offsets[sentence : sentence + 2])
    strings = treebank.vocabulary.strings
    return [
        (strings[form], None if tag == NO_TAG else strings[tag])
        for form, tag in zip(treebank.words[part].tolist(), treebank.tags[part].tolist(), strict=True)
    ]


def test_penn_brackets_give_constituents_in_pre_order_and_tagged_words() -> None:
    tree = read("(S (NP (DT the) (NN dog)) (VP (VBD ran)))\n")
    assert nodes(tree) == [("S", 0, 3), ("NP", 0, 2), ("VP", 2, 3)]
    assert words(tree) == [("the", "DT"), ("dog", "NN"), ("ran", "VBD")]


def test_square_brackets_hold_words_without_tags() -> None:
    tree = read("[S [N1 two [N1 tax revision ] bills ] were passed ]")
    assert nodes(tree) == [("S", 0, 6), ("N1", 0, 4), ("N1", 1, 3)]
    assert words(tree)[:2] == [("two", None), ("tax", None)]


def test_what_is_unbalanced_names_its_place_and_the_mend() -> None:
    with pytest.raises(InputError) as caught:
        read("(S (X x))\n(S (X x)\n(S (X x)))\nNULL\n", layout="lines")
    assert [(p.code, p.sentence, p.line, p.column) for p in caught.value.problems] == [
        ("bracket-unclosed", 2, 2, 1),
        ("bracket-unopened", 3, 3, 10),
        ("text-outside-brackets", 4, 4, 1),
    ]
