"""CoNLL-U Plus: columns in any order, one that is missing named, places those of the text; and Malt-TAB."""

import pytest

from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec, suggestions

PLUS = b"# global.columns = HEAD ID X:NER FORM DEPREL\n2\t1\tO\tdogs\tnsubj\n0\t2\tO\tbark\troot\n\n"
MALT = b"dogs\tNNS\t2\tnsubj\nbark\tVBP\t0\troot\n\n"
SPEC = {name: parse_spec({"format": name, "metrics": ["attachment"]}) for name in ("conllu-plus", "malt-tab")}


@pytest.mark.parametrize(("name", "gold"), [("conllu-plus", PLUS), ("malt-tab", MALT)])
def test_trees_are_scored_and_suggested(name, gold):
    system = gold.replace(b"nsubj", b"obj")
    assert Evaluation(SPEC[name], gold).score(system)[0]["attachment"].rows[0, :4].tolist() == [2, 2, 1, 1]
    assert suggestions(gold)[0].name == name


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match="does not name DEPREL"):
        Evaluation(SPEC["conllu-plus"], PLUS.replace(b"DEPREL", b"X:REL"))


@pytest.mark.parametrize(
    ("name", "gold", "place"),
    [("conllu-plus", PLUS.replace(b"2\t1", b"x\t1"), (2, 1)), ("malt-tab", MALT.replace(b"\tVBP", b"\t"), (2, 2))],
)
def test_problems_have_the_columns_of_the_text(name, gold, place):
    with pytest.raises(InputError) as caught:
        Evaluation(SPEC[name], gold)
    assert (caught.value.problems[0].line, caught.value.problems[0].column) == place
