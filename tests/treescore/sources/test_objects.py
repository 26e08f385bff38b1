"""Parsed sentences as texts, with stand-ins of the attributes that are used; `test_libraries` has the real ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore import InputError, score
from treescore.sources.texts import format_choice, format_of, named_outputs, read_source

SENTENCE = "1\tGo\t_\tX\t_\t_\t0\troot\t_\t_\n2\thome\t_\tX\t_\t_\t1\tadvmod\t_\tSpaceAfter=No\n\n"


class Tree(list):
    """As `nltk.Tree`: a list of trees and words with a label."""

    def __init__(self, label: object, children: list[object]) -> None:
        super().__init__(children)
        self._label = label

    def label(self) -> object:
        return self._label

    def leaves(self) -> list[object]:
        return list(self)

    def subtrees(self) -> Iterator[Tree]:
        yield self


class TokenList(list):
    """As `conllu.TokenList`: a list of tokens that writes itself."""

    metadata: dict[str, str]

    def __init__(self, text: str) -> None:
        super().__init__(text.splitlines())
        self.metadata, self.text = {}, text

    def serialize(self) -> str:
        return self.text


@dataclass
class Token:
    """As `spacy.tokens.Token`."""

    i: int
    text: str
    dep_: str
    doc: Doc
    to: int
    lemma_: str = ""
    pos_: str = "X"
    tag_: str = ""
    morph: str = ""
    whitespace_: str = " "

    @property
    def head(self) -> Token:
        return self.doc.tokens[self.to]

    def nbor(self) -> Token:
        return self.doc.tokens[self.i + 1]


@dataclass
class Doc:
    """As `spacy.tokens.Doc`."""

    vocab: object = None
    tokens: list[Token] = field(default_factory=list)
    bounds: tuple[int, ...] = ()
    parsed: bool = True

    def has_annotation(self, name: str) -> bool:
        return self.parsed and name == "DEP"

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def sents(self) -> list[list[Token]]:
        ends = [*self.bounds, len(self.tokens)]
        return [self.tokens[start:end] for start, end in zip([0, *self.bounds], ends, strict=True)]


class StanzaSentence:
    """As `stanza.models.common.doc.Sentence`."""

    def __init__(self, text: str, head: int | None = 0) -> None:
        self.words, self.text = [SimpleNamespace(head=head)], text

    def to_dict(self) -> list[object]:
        return []

    def __format__(self, spec: str) -> str:
        return self.text.rstrip("\n") if spec == "C" else "?"


def doc(*words: tuple[str, int, str], bounds: tuple[int, ...] = (), parsed: bool = True) -> Doc:
    made = Doc(bounds=bounds, parsed=parsed)
    made.tokens = [Token(i, text, dep, made, head) for i, (text, head, dep) in enumerate(words)]
    return made


def stanza(*sentences: StanzaSentence) -> SimpleNamespace:
    return SimpleNamespace(sentences=list(sentences), to_dict=list)


def udapi(text: str, *zones: str) -> SimpleNamespace:
    trees = [SimpleNamespace(zone=zone) for zone in zones]
    return SimpleNamespace(bundles=[], trees=trees, to_conllu_string=lambda: text)


def text_of(source: object, name: str = "conllu") -> str:
    text = read_source(source, format_choice(name, "/format"), "/gold").text
    assert isinstance(text, bytes)
    return text.decode()


def said(source: object, name: str = "conllu") -> str:
    with pytest.raises(InputError) as caught:
        text_of(source, name)
    assert caught.value.problems[0].pointer == "/gold"
    return caught.value.problems[0].detail


def test_trees_are_brackets_whose_brackets_in_words_are_escaped() -> None:
    tree = Tree("S", [Tree("-LRB-", ["("]), Tree("NP", [("a(b)", "NN"), "bare"]), Tree("", [Tree("X", ["x"])])])
    assert text_of(tree, "bracketed") == "(S (-LRB- -LRB-) (NP (NN a-LRB-b-RRB-) bare) ( (X x)))\n"
    assert text_of([tree, tree], "bracketed").count("\n") == 2
    assert format_of(tree) == format_of([tree]) == "bracketed"


@pytest.mark.parametrize(
    ("tree", "why"),
    [
        (Tree("S", [Tree("NN", ["two words"])]), "white space"),
        (Tree("S", [Tree("NN", [""])]), "empty"),
        (Tree("S", [Tree("NN", [5])]), "int"),
        (Tree("S", [("x", None)]), "NoneType"),
        (Tree("N(N", ["x"]), "holds a bracket"),
        (Tree("N N", ["x"]), "white space"),
        (Tree(None, ["x"]), "NoneType"),
    ],
)
def test_trees_that_brackets_cannot_say_are_refused(tree: Tree, why: str) -> None:
    assert why in said([Tree("S", [Tree("NN", ["x"])]), tree], "bracketed")
    assert "Object 2 of NLTK trees" in said([Tree("S", ["x"]), tree], "bracketed")


def test_a_deep_tree_is_written() -> None:
    tree: Tree = Tree("NN", ["x"])
    for _ in range(2_000):
        tree = Tree("S", [tree])
    assert text_of(tree, "bracketed").count("(S") == 2_000


@given(st.recursive(st.text("ab(-)[]'é", min_size=1, max_size=3), lambda kids: st.lists(kids, min_size=1, max_size=3)))
def test_every_tree_scores_perfectly_against_itself(shape) -> None:
    def tree(node: object) -> Tree:
        return Tree("X", [tree(child) for child in node]) if isinstance(node, list) else Tree("W", [node])

    gold = Tree("S", [tree(shape), Tree("W", ["end"])])
    assert score(gold, {"A": gold}, "leaf_ancestor")["A"]["leaf_ancestor"] == 1.0


def test_docs_are_conllu_without_white_space_and_with_root_as_ud_writes_it() -> None:
    document = doc(
        ("Go", 0, "ROOT"), ("\n", 0, "dep"), ("home", 1, "obl"), (" ", 3, "ROOT"), ("Yes", 3, ""), bounds=(3,)
    )
    document.tokens[2].whitespace_ = document.tokens[4].whitespace_ = ""
    assert text_of(document) == (
        "1\tGo\t_\tX\t_\t_\t0\troot\t_\t_\n2\thome\t_\tX\t_\t_\t1\tobl\t_\t_\n\n1\tYes\t_\tX\t_\t_\t0\t_\t_\t_\n\n"
    )
    glued = doc(("a", 1, "x"), ("b", 1, "ROOT"))
    glued.tokens[0].whitespace_ = ""
    assert "2\tx\t_\tSpaceAfter=No" in text_of(glued)


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (doc(("x", 0, "ROOT"), parsed=False), "no dependency parse"),
        (doc(("a\tb", 0, "ROOT")), "a tab or a line break"),
        (doc(("a", 1, "x"), ("b", 1, "ROOT"), bounds=(1,)), "in another sentence"),
    ],
)
def test_docs_that_conllu_cannot_say_are_refused(document: Doc, why: str) -> None:
    assert why in said(document)


@pytest.mark.parametrize(
    "source",
    [
        TokenList(SENTENCE),
        [TokenList(SENTENCE), TokenList(SENTENCE.rstrip("\n"))],
        udapi(SENTENCE, "", ""),
        [udapi(SENTENCE.rstrip("\n"), "en")],
        stanza(StanzaSentence(SENTENCE)),
        [stanza(StanzaSentence(SENTENCE)), stanza(StanzaSentence(SENTENCE))],
        StanzaSentence(SENTENCE),
    ],
)
def test_who_writes_conllu_is_asked_for_it(source: object) -> None:
    count = len(source) if type(source) is list else 1
    assert text_of(source) == SENTENCE * count
    assert format_of(source) == "conllu"
    assert [name for name, _, _ in named_outputs(source)] == ["1"]
    assert [run_of for _, _, run_of in named_outputs({"A": source})] == [None]
    assert score(SENTENCE * count, source, format="conllu")["1"]["ud"] == 1.0


def test_what_their_writers_cannot_write_is_refused() -> None:
    assert "zones a, b" in said(udapi(SENTENCE, "a", "b"))
    assert "no dependency parse" in said(stanza(StanzaSentence(SENTENCE, head=None)))
    assert "Install version" in said(stanza(StanzaSentence("no columns")))


def test_objects_are_of_one_kind_and_in_their_own_format() -> None:
    assert "handed over in the format 'conllu', not 'bracketed'" in said(TokenList(SENTENCE), "bracketed")
    assert "an object of type list (of " in said([TokenList(SENTENCE), Tree("S", ["x"])])


def test_lists_of_lists_are_several_outputs_or_runs() -> None:
    sentences = [TokenList(SENTENCE)]
    assert [name for name, _, _ in named_outputs([sentences, sentences])] == ["1", "2"]
    assert [run_of for _, _, run_of in named_outputs({"A": [sentences, sentences]})] == [None, "A"]
