"""Objects of the libraries that people parse with, as texts; each test needs its library."""

from __future__ import annotations

from pathlib import Path

import pytest

from treescore import InputError, score
from treescore.sources.texts import format_choice, format_of, read_source

pytestmark = pytest.mark.libraries

CONLLU = (
    "# newdoc id = d\n# sent_id = s1\n# text = vámonos al mar.\n"
    "1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tvamos\tir\tVERB\tV\tMood=Ind|Number=Plur\t0\troot\t0:root\t_\n"
    "2\tnos\tnosotros\tPRON\tP\tCase=Acc\t1\tobj\t1:obj|4:nsubj\t_\n"
    "2.1\tfue\tir\tVERB\tV\t_\t_\t_\t0:root\t_\n"
    "3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "3\ta\ta\tADP\tA\t_\t5\tcase\t5:case\t_\n"
    "4\tel\tel\tDET\tD\tDefinite=Def\t5\tdet\t5:det\t_\n"
    "5\tmar\tmar\tNOUN\tN\t_\t1\tobl\t1:obl:a\tSpaceAfter=No\n"
    "6\t.\t.\tPUNCT\tF\t_\t1\tpunct\t1:punct\t_\n\n"
    "# sent_id = s2\n# text = Sí\n1\tSí\tsí\tINTJ\tI\t_\t0\troot\t0:root\t_\n\n"
)
TREES = "(S (NP (DT the) (NN dog)) (VP (VBD ran)))\n(S (NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-)) (VP (VBD ran)))\n"


def text_of(source: object, name: str = "conllu") -> str:
    text = read_source(source, format_choice(name, "/format"), "/gold").text
    assert isinstance(text, bytes)
    return text.decode()


def columns(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines() if "\t" in line]


def test_nltk_trees_are_bracketed() -> None:
    nltk = pytest.importorskip("nltk", reason="nltk is not installed")
    trees = [nltk.Tree.fromstring(line) for line in TREES.splitlines()]
    assert text_of(trees, "bracketed") == TREES
    assert text_of(nltk.ImmutableTree.convert(trees[0]), "bracketed") == TREES.splitlines()[0] + "\n"
    assert text_of(nltk.ParentedTree.convert(trees[0]), "bracketed") == TREES.splitlines()[0] + "\n"
    assert format_of(trees) == format_of(trees[0]) == "bracketed"
    flat = nltk.Tree("S", [nltk.Tree("NP", [("the", "DT"), ("dog", "NN")]), ("(", "-LRB-")])
    assert text_of(flat, "bracketed") == "(S (NP (DT the) (NN dog)) (-LRB- -LRB-))\n"
    assert score(TREES, {"A": trees}, "parseval", format="bracketed")["A"]["parseval.labelled_f1"] == 1.0
    assert score(trees, {"A": trees})["A"]["parseval.labelled_f1"] == 1.0


def test_conllu_token_lists_keep_multiword_tokens_and_empty_nodes() -> None:
    conllu = pytest.importorskip("conllu", reason="conllu is not installed")
    sentences = conllu.parse(CONLLU)
    assert columns(text_of(sentences)) == columns(CONLLU)
    assert text_of(list(sentences)) == CONLLU
    assert columns(text_of(sentences[1])) == columns(CONLLU)[-1:]
    assert columns(text_of(conllu.parse_tree(CONLLU)[1])) == columns(CONLLU)[-1:]
    result = score(CONLLU, {"A": sentences}, ["ud", "enhanced"], format="conllu")
    assert (result["A"]["ud"], result["A"]["enhanced"]) == (1.0, 1.0)


def test_udapi_documents_keep_multiword_tokens_and_empty_nodes() -> None:
    pytest.importorskip("udapi", reason="udapi is not installed")
    from udapi.core.document import Document  # noqa: PLC0415 - only where it is installed

    document = Document()
    document.from_conllu_string(CONLLU)
    assert columns(text_of(document)) == columns(CONLLU)
    result = score(CONLLU, {"A": document}, ["ud", "enhanced"], format="conllu")
    assert (result["A"]["ud"], result["A"]["enhanced"]) == (1.0, 1.0)
    document.bundles[0].create_tree("other").create_child(form="x", deprel="root")
    with pytest.raises(InputError, match="a document for each zone"):
        text_of(document)


def test_spacy_docs_are_conllu() -> None:
    pytest.importorskip("spacy", reason="spacy is not installed")
    from spacy.tokens import Doc  # noqa: PLC0415 - only where it is installed
    from spacy.vocab import Vocab  # noqa: PLC0415

    words = ["Dogs", "\n", "bark", ".", " ", "Yes"]
    document = Doc(
        Vocab(), words=words, spaces=[True, False, False, True, False, False], heads=[2, 0, 2, 2, 5, 5],
        deps=["nsubj", "dep", "ROOT", "punct", "dep", "ROOT"], pos=["NOUN", "SPACE", "VERB", "PUNCT", "SPACE", "INTJ"],
        tags=["N", "_SP", "V", "F", "_SP", ""], lemmas=["dog", "", "bark", ".", "", "yes"],
        morphs=["Number=Plur", "", "", "", "", ""], sent_starts=[True, False, False, False, True, False],
    )  # fmt: skip
    expected = (
        "1\tDogs\tdog\tNOUN\tN\tNumber=Plur\t2\tnsubj\t_\t_\n"
        "2\tbark\tbark\tVERB\tV\t_\t0\troot\t_\tSpaceAfter=No\n3\t.\t.\tPUNCT\tF\t_\t2\tpunct\t_\t_\n\n"
        "1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_\n\n"
    )
    assert text_of(document) == text_of(list(document.sents)) == expected
    assert text_of([document, document]) == expected * 2
    assert score(document, {"A": document})["A"]["ud"] == 1.0
    with pytest.raises(InputError, match="no dependency parse"):
        text_of(Doc(Vocab(), words=["x"]))
    with pytest.raises(InputError, match="handed over in the format 'conllu'"):
        text_of(document, "conllx")


@pytest.mark.real
def test_a_treebank_in_spacy_has_the_scores_of_its_file(real_data: Path) -> None:
    pytest.importorskip("spacy", reason="spacy is not installed")
    from spacy.training.converters import conllu_to_docs  # noqa: PLC0415 - only where it is installed

    gold = real_data / "ud_en_ewt" / "gold_tokens" / "gold.conllu"
    output = real_data / "ud_en_ewt" / "gold_tokens" / "dev-swap-it3.conllu"
    documents = list(conllu_to_docs(output.read_text(encoding="utf-8"), n_sents=1, no_print=True))
    from_file = score(gold, {"A": output}, "attachment")["A"]
    from_docs = score(gold, {"A": documents}, "attachment")["A"]
    assert dict(from_docs) == dict(from_file)


def test_stanza_documents_keep_multiword_tokens_and_empty_nodes() -> None:
    pytest.importorskip("stanza", reason="stanza (with torch) is not installed")
    from stanza.utils.conll import CoNLL  # noqa: PLC0415 - only where it is installed

    document = CoNLL.conll2doc(input_str=CONLLU, ignore_gapping=False)
    assert [row[:8] for row in columns(text_of(document))] == [row[:8] for row in columns(CONLLU)]
    assert columns(text_of(document.sentences[1]))[0][:8] == columns(CONLLU)[-1][:8]
    result = score(CONLLU, {"A": document}, ["ud", "enhanced"], format="conllu")
    assert (result["A"]["ud"], result["A"]["enhanced"]) == (1.0, 1.0)
    document.sentences[1].words[0].head = None
    with pytest.raises(InputError, match="no dependency parse"):
        text_of(document)
