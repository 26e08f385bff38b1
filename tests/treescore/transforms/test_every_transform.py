"""Properties that hold of every registered transform, tried on the formats' examples and on odd sentences."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

import treescore.formats
import treescore.transforms  # noqa: F401 - importing the packages registers their classes
from treescore.core.registry import FORMATS, TRANSFORMS, make_format, make_transform
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import ConstituentTreebank, DependencyTreebank, Vocabulary

ODD_SENTENCES = (
    "\n"
    "(X x)\n"
    "( (S (X x)))\n"
    "(S)\n"
    "(S (NP (NP (NP (X x)))) bare (VP))\n"
    "(NP (-NONE- *))\n"
    "(. .)\n"
    "(NP (X a)) (VP (X b))\n"
    "(S (NP (NP (DT the) (NN dog)) (SBAR (WHNP (-NONE- 0)) (S (VP (VBZ is) (VP (VBG sleeping)))))) (, ,) (CC and))\n"
)

every_transform = pytest.mark.parametrize("name", sorted(TRANSFORMS))


def made(name: str) -> Any:
    return make_transform(name, TRANSFORMS[name].example)


def treebanks(name: str, vocabulary: Vocabulary) -> list[Any]:
    """What the transform reads of the formats' examples, and odd constituent trees."""
    reads = TRANSFORMS[name].reads
    forms = [(make_format(each, {}), kind.example) for each, kind in FORMATS.items() if issubclass(kind.yields, reads)]
    if ConstituentTreebank in reads:
        forms.append((make_format("bracketed", {"layout": "lines"}), ODD_SENTENCES.encode()))
    assert forms
    return [form.read(text, vocabulary, DEFAULT_LIMITS) for form, text in forms]


def content(value: Any) -> Any:
    """A treebank as plain data, without its vocabulary."""
    if is_dataclass(value):
        return {each.name: content(getattr(value, each.name)) for each in fields(value) if each.name != "vocabulary"}
    return value.tolist() if isinstance(value, np.ndarray) else value


def words(treebank: Any) -> list[int]:
    forms = treebank.words if isinstance(treebank, ConstituentTreebank) else treebank.forms
    return [*forms.tolist(), *treebank.word_offsets.tolist()]


def one_sentence(treebank: ConstituentTreebank, number: int) -> ConstituentTreebank:
    nodes = slice(*treebank.node_offsets[number : number + 2].tolist())
    tokens = slice(*treebank.word_offsets[number : number + 2].tolist())
    return replace(
        treebank,
        labels=treebank.labels[nodes],
        starts=treebank.starts[nodes],
        ends=treebank.ends[nodes],
        node_offsets=np.array([0, nodes.stop - nodes.start]),
        words=treebank.words[tokens],
        tags=treebank.tags[tokens],
        word_offsets=np.array([0, tokens.stop - tokens.start]),
        lines=treebank.lines[number : number + 1],
    )


def assert_well_formed(treebank: Any) -> None:
    """Offsets begin at 0, never fall and end at the columns' length; spans lie inside their sentences."""
    offsets = [treebank.word_offsets]
    if isinstance(treebank, ConstituentTreebank):
        offsets.append(treebank.node_offsets)
        owners = np.repeat(np.arange(len(treebank)), np.diff(treebank.node_offsets))
        lengths = np.diff(treebank.word_offsets)[owners]
        assert len(treebank.labels) == len(treebank.starts) == len(treebank.ends) == treebank.node_offsets[-1]
        assert ((treebank.starts >= 0) & (treebank.starts <= treebank.ends) & (treebank.ends <= lengths)).all()
        assert len(treebank.words) == len(treebank.tags) == treebank.word_offsets[-1]
    else:
        assert len(treebank.forms) == len(treebank.heads) == len(treebank.deprels) == treebank.word_offsets[-1]
        lengths = np.repeat(np.diff(treebank.word_offsets), np.diff(treebank.word_offsets))
        assert (treebank.heads <= lengths).all()
    for each in offsets:
        assert each[0] == 0
        assert (np.diff(each) >= 0).all()


@every_transform
def test_it_keeps_the_sentences_leaves_its_argument_alone_and_makes_what_it_promises(name: str) -> None:
    transform, vocabulary = made(name), Vocabulary()
    for treebank in treebanks(name, vocabulary):
        before = content(treebank)
        found = transform.apply(treebank, treebank)
        assert content(treebank) == before
        assert isinstance(found, transform.yields(type(treebank)))
        assert len(found) == len(treebank)
        assert_well_formed(found)


@every_transform
def test_a_second_time_changes_nothing(name: str) -> None:
    transform, vocabulary = made(name), Vocabulary()
    for treebank in treebanks(name, vocabulary):
        once = transform.apply(treebank, treebank)
        assert content(transform.apply(once, once)) == content(once)


@every_transform
def test_it_does_something(name: str) -> None:
    transform, vocabulary = made(name), Vocabulary()
    changed = [content(transform.apply(each, each)) != content(each) for each in treebanks(name, vocabulary)]
    assert any(changed)


@every_transform
def test_each_sentence_is_transformed_by_itself(name: str) -> None:
    transform, vocabulary = made(name), Vocabulary()
    for treebank in treebanks(name, vocabulary):
        if not isinstance(treebank, ConstituentTreebank):
            continue
        whole = transform.apply(treebank, treebank)
        kept: list[int] = []
        for number in range(len(treebank)):
            alone = one_sentence(treebank, number)
            found = transform.apply(alone, alone)
            kept += found.words.tolist() if isinstance(found, ConstituentTreebank) else found.heads.tolist()
        assert kept == (whole.words if isinstance(whole, ConstituentTreebank) else whole.heads).tolist()


@every_transform
def test_where_gold_decides_a_system_keeps_the_words_that_gold_keeps(name: str) -> None:
    transform, vocabulary = made(name), Vocabulary()
    for gold in treebanks(name, vocabulary):
        if isinstance(gold, DependencyTreebank):
            continue
        # null elements stay: gold has them and systems have none, so that each side's own tags decide on them
        changed = (gold.tags >= 0) & (gold.tags != vocabulary.number("-NONE-"))
        system = replace(gold, tags=np.where(changed, vocabulary.number("OTHER"), gold.tags))
        found = words(transform.apply(system, gold))
        if transform.guided:
            assert found == words(transform.apply(gold, gold))
        else:
            assert found == words(transform.apply(system, system))
