"""The dependencies of the CoNLL-2008 and CoNLL-2009 formats, as their scorers compare them."""

from __future__ import annotations

import pytest

from treescore.core.registry import FORMATS, make_format
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import Vocabulary
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec


def read(name: str, text: bytes):
    return make_format(name, {}).read(text, Vocabulary(), DEFAULT_LIMITS)


def strings(treebank, column):
    return [treebank.vocabulary.strings[number] for number in getattr(treebank, column).tolist()]


def test_conll09_takes_head_and_deprel_and_keeps_the_predicted_ones_aside():
    treebank = read("conll09", FORMATS["conll09"].example)
    assert treebank.heads.tolist() == [2, 3, 0, 0]
    assert strings(treebank, "deprels") == ["det", "suj", "root", "root"]
    assert strings(treebank, "misc") == ["det", "obj", "root", "root"]
    assert strings(treebank, "forms") == ["Le", "café", "ferme", "Ici"]


def test_conll08_takes_split_forms():
    treebank = read("conll08", FORMATS["conll08"].example)
    assert strings(treebank, "forms") == ["The", "café", "closes", "Here"]
    assert treebank.heads.tolist() == [2, 3, 0, 0]
    assert strings(treebank, "xpos") == ["DT", "NN", "VBZ", "RB"]


def test_a_wrong_head_in_column_nine_costs_what_it_costs_in_conllx():
    gold = FORMATS["conll09"].example
    assert isinstance(gold, bytes)
    spec = parse_spec({"format": "conll09", "metrics": ["attachment"]})
    outcome = Evaluation(spec, gold).score(gold.replace(b"\t3\t3\tsuj", b"\t1\t3\tsuj"))[0]["attachment"]
    assert spec.entries[0].metric.table.values(outcome.totals)["uas"] == 0.75
    same = Evaluation(spec, gold).score(gold.replace(b"\t3\t3\tsuj", b"\t3\t1\tsuj"))[0]["attachment"]
    assert spec.entries[0].metric.table.values(same.totals)["las"] == 1.0


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "column"),
    [
        ("\tsuj\tobj\t_\t_\tA1", "\tsuj", "conllx-column-count", 2, None),
        ("\tsuj\tobj", "\t\tobj", "conllx-empty-field", 2, 11),
        ("\tcafé\tcafé\tcafé", "\t\tcafé\tcafé", "conllx-empty-field", 2, 2),
    ],
)
def test_problems_stand_where_the_text_has_them(old, new, code, line, column):
    text = FORMATS["conll09"].example
    assert isinstance(text, bytes)
    with pytest.raises(InputError) as caught:
        read("conll09", text.decode().replace(old, new).encode())
    [problem] = caught.value.problems
    assert (problem.code, problem.line, problem.column) == (code, line, column)


def test_a_warning_names_the_column_of_the_text():
    text = FORMATS["conll09"].example
    assert isinstance(text, bytes)
    treebank = read("conll09", text.replace(b"\t3\t3\tsuj", b"\tx\t3\tsuj"))
    assert [(each.code, each.line, each.column) for each in treebank.sentences.warnings] == [("conllx-odd-head", 2, 9)]
