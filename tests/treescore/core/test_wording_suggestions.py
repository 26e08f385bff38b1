"""Which known name is suggested for an unknown one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore import InputError, score
from treescore.core.wording import closest, did_you_mean

SENTENCE = "1\tGo\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
SCORES = ["ud.las_precision", "ud.las_f1", "ud.uas_f1", "attachment.las"]


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("conlu", ["conllu", "conllx"], "conllu"),
        ("LAS", ["las"], "las"),
        ("drop_traces", ["drop-traces", "drop-empty"], "drop-traces"),
        ("las", SCORES, "attachment.las"),
        ("las", SCORES[:3], "ud.las_f1"),
        ("uas_f1", SCORES, "ud.uas_f1"),
        ("ud.las", SCORES, "ud.las_f1"),
        ("xyz", SCORES, None),
        ("", SCORES, None),
        (5, SCORES, None),
        ("x" * 1000, ["x" * 999], None),
    ],
)
def test_the_name_that_is_most_alike_is_meant(name, known, meant) -> None:
    assert closest(name, known) == meant
    assert did_you_mean(name, known) == ("" if meant is None else f" Did you mean {meant!r}?")


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=8), st.data())
def test_a_known_name_is_meant_by_itself(known: list[str], data) -> None:
    name = data.draw(st.sampled_from(known))
    found = closest(name, known)
    assert found is not None
    assert found == name or found.casefold().replace("-", "").replace("_", "").replace(" ", "") == (
        name.casefold().replace("-", "").replace("_", "").replace(" ", "")
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metric": "las"}, "'las' is a score of attachment and ud: name the metric, and as the score attachment.las"),
        ({"metric": "LAS"}, "Unknown metric 'LAS'. 'las' is a score of attachment and ud: name the metric"),
        ({"metric": "LAS F1"}, "'las_f1' is a score of ud: name the metric"),
        ({"metric": "labelled-f1"}, "'labelled_f1' is a score of parseval"),
        ({"metric": "ud.las_f1"}, "'ud.las_f1' is a score of ud"),
        ({"metric": "atachment"}, "Did you mean 'attachment'?"),
        ({"format": "conlu"}, "Did you mean 'conllu'?"),
        ({"transforms": ["flaten"]}, "Did you mean 'flatten'?"),
        ({"metric": {"name": "ud", "params": {"treebank": "x"}}}, "Unknown parameter 'treebank' of metric ud."),
        ({"metric": {"name": "attachment", "params": {"punct": True}}}, "Did you mean 'punctuation'?"),
        ({"metric": {"name": "parseval", "params": {"preset": "evlab"}}}, "Did you mean 'evalb'?"),
        ({"significance": {"scores": ["LASS"]}}, "Did you mean 'ud.las_f1'?"),
        ({"significance": {"scores": ["ud.la"]}}, "Did you mean 'ud."),
        ({"significance": {"score": "x"}}, "Did you mean 'scores'?"),
        ({"significance": {"test": "permutations"}}, "Did you mean 'permutation'?"),
        ({"items": {"block": ["x"]}}, "Did you mean 'blocks'?"),
        ({"items": 5}, 'as in {"blocks":'),
    ],
)
def test_errors_of_unknown_names_say_which_was_meant(options, said) -> None:
    with pytest.raises(InputError) as caught:
        score(SENTENCE, {"A": SENTENCE, "B": SENTENCE}, **{"metric": "ud", "format": "conllu", **options})
    assert said in caught.value.problems[0].detail
