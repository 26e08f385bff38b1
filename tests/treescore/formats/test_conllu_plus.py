"""CoNLL-U Plus: columns in any order, one that is missing named, places those of the text; and Malt-TAB."""

import pytest

from treescore.core.scores import score_values
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec, suggestions
from treescore.metrics.ud import TABLE

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


BARE = b"# global.columns = ID FORM HEAD DEPREL\n1\tdogs\t2\tnsubj\n2\tbark\t0\troot\n\n"
TAGGED = b"# global.columns = ID UPOS FORM HEAD DEPREL\n1\tNOUN\tdogs\t2\tnsubj\n2\tVERB\tbark\t0\troot\n\n"

ENHANCED = (
    BARE.replace(b"DEPREL", b"DEPREL DEPS").replace(b"nsubj", b"nsubj\t2:nsubj").replace(b"root", b"root\t0:root")
)


def outcome_of(name, metric, gold, system):
    evaluation = Evaluation(parse_spec({"format": name, "metrics": [metric]}), gold)
    return evaluation.score(system)[0][evaluation.spec.entries[0].key]


@pytest.mark.parametrize(
    ("name", "gold", "system", "undefined"),
    [
        ("conllu-plus", BARE, BARE, "LEMMA, UPOS, XPOS, FEATS"),
        ("conllu-plus", TAGGED, TAGGED, "LEMMA, XPOS, FEATS"),
        ("conllu-plus", BARE, TAGGED, "LEMMA, UPOS, XPOS, FEATS"),
        ("malt-tab", MALT, MALT, "LEMMA, UPOS, FEATS"),
    ],
)
def test_scores_of_columns_that_gold_lacks_are_undefined_and_said(name, gold, system, undefined):
    outcome = outcome_of(name, "ud", gold, system)
    scores = score_values(TABLE, outcome.totals)[0]
    known = {"upos": "UPOS", "xpos": "XPOS", "ufeats": "FEATS", "lemmas": "LEMMA"}
    for row, column in known.items():
        assert scores[f"{row}_f1"] == (None if column in undefined else 1.0), row
    assert scores["mlas_f1"] is scores["blex_f1"] is scores["alltags_f1"] is None
    assert scores["las_f1"] == scores["clas_f1"] == scores["words_f1"] == 1.0
    [warning] = outcome.warnings
    assert warning.code == "column-missing"
    assert f"Gold has no column {undefined}:" in warning.detail


def test_a_column_that_the_output_alone_lacks_is_wrong_and_said():
    outcome = outcome_of("conllu-plus", "ud", TAGGED, BARE)
    scores = score_values(TABLE, outcome.totals)[0]
    assert (scores["upos_f1"], scores["las_f1"], scores["lemmas_f1"]) == (0.0, 1.0, None)
    of_gold, of_output = outcome.warnings
    assert "Gold has no column LEMMA, XPOS, FEATS:" in of_gold.detail
    assert "The output has no column UPOS:" in of_output.detail
    assert {of_gold.code, of_output.code} == {"column-missing"}


@pytest.mark.parametrize("place", [0, 1])
def test_a_word_of_malt_tab_may_begin_with_a_hash(place):
    words = [b"one\tCD\t2\tnummod\n", b"dogs\tNNS\t0\troot\n"]
    words[place] = b"#" + words[place]
    outcome = outcome_of("malt-tab", "attachment", b"# a comment\n" + b"".join(words) + b"\n", b"".join(words) + b"\n")
    assert outcome.rows[0, :3].tolist() == [2, 2, 2]


def test_a_comment_of_several_words_is_none_of_malt_tab():
    """Where the others have tabs; else `# sent_id = 1` is a word with its tag, head and relation."""
    outcome = outcome_of("malt-tab", "attachment", b"# sent_id = 1\n" + MALT, MALT)
    assert outcome.rows[0, :3].tolist() == [2, 2, 2]


@pytest.mark.parametrize("numbered", [b"1\tdogs\tNNS\t2\tnsubj\n2\tbark\tVBP\t0\troot\n\n", b"dogs\tNNS\tx\tnsubj\n\n"])
def test_a_head_of_malt_tab_is_a_number(numbered):
    with pytest.raises(InputError, match=r"HEAD is .*FORM POSTAG HEAD DEPREL") as caught:
        Evaluation(SPEC["malt-tab"], numbered)
    assert (caught.value.problems[0].line, caught.value.problems[0].column) == (1, 3)


def test_a_text_with_other_columns_than_conllu_names_the_format():
    with pytest.raises(InputError, match="are read by the format conllu-plus"):
        Evaluation(parse_spec({"format": "conllu", "metrics": ["ud"]}), PLUS)


@pytest.mark.parametrize("head", [b"_", b"Num=Sg"])
def test_gold_without_any_head_is_refused_by_attachment(head):
    text = b"1\tdogs\t_\tN\tN\t_\t%s\t2\n2\tbark\t_\tV\tV\t_\t%s\t0\n\n" % (head, head)
    with pytest.raises(InputError, match="No word of gold has a plain number as HEAD"):
        Evaluation(parse_spec({"format": "conllx", "metrics": ["attachment"]}), text)


@pytest.mark.parametrize(
    ("metric", "gold", "system", "column"),
    [
        ("enhanced", BARE, BARE, "DEPS"),
        ("enhanced", ENHANCED, BARE, "DEPS"),
        ({"name": "attachment", "params": {"preset": "ptb"}}, BARE, BARE, "UPOS"),
    ],
)  # fmt: skip
def test_a_metric_that_needs_a_missing_column_is_refused(metric, gold, system, column):
    with pytest.raises(InputError, match=f"has no column {column}") as caught:
        outcome_of("conllu-plus", metric, gold, system)
    assert caught.value.problems[0].code == "column-missing"


def test_tags_in_one_of_both_columns_choose_words():
    metric = {"name": "attachment", "params": {"preset": "ptb"}}
    assert outcome_of("conllu-plus", metric, TAGGED, TAGGED).rows[0, 0] == 2
    assert outcome_of("malt-tab", metric, MALT, MALT).rows[0, 0] == 2
