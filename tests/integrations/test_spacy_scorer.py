"""The scorer `treescore.las.v1` in pipelines of spaCy."""

from __future__ import annotations

import pytest

from treescore import InputError
from treescore.spacy_scorer import make_las_scorer, score_examples

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("default")]

WORDS = ["She", "saw", " ", "the", "dog", "."]
SPACES = [True, False, False, True, False, False]
TAGS = ["PRON", "VERB", "SPACE", "DET", "NOUN", "PUNCT"]
GOLD = ([1, 1, 1, 4, 1, 1], ["nsubj", "ROOT", "dep", "det", "obj", "punct"])
WRONG = ([1, 1, 1, 4, 1, 4], ["nsubj", "ROOT", "dep", "det", "obl", "punct"])


@pytest.fixture
def spacy():
    return pytest.importorskip("spacy", reason="spaCy is not installed (make libraries)")


@pytest.fixture
def example(spacy):
    """Makes an example from the heads and relations of both sides."""
    nlp = spacy.blank("en")

    def make(predicted, reference):
        sides = [
            spacy.tokens.Doc(
                nlp.vocab, words=WORDS, spaces=SPACES, pos=TAGS, heads=side and side[0], deps=side and side[1]
            )
            for side in (predicted, reference)
        ]
        return spacy.training.Example(*sides)

    return make


def test_spacy_finds_it_by_its_name(spacy) -> None:
    assert spacy.registry.scorers.get("treescore.las.v1") is make_las_scorer


def test_it_counts_every_token_and_gives_the_names_that_spacy_looks_for(example) -> None:
    found = score_examples([example(WRONG, GOLD), example(GOLD, GOLD)])
    assert (found["dep_las"], found["dep_uas"]) == (pytest.approx(0.8), pytest.approx(0.9))
    assert found["dep_las_per_type"]["obj"] == {"p": 1.0, "r": 0.5, "f": pytest.approx(2 / 3)}
    assert found["dep_las_per_type"]["obl"] == {"p": 0.0, "r": 0.0, "f": 0.0}
    assert found["ud_words_f1"] == 1.0
    assert 0 < found["ud_mlas_f1"] < 1


def test_references_without_dependencies_are_left_out(example) -> None:
    found = score_examples([example(GOLD, None), example(WRONG, GOLD)])
    assert found["dep_las"] == pytest.approx(0.6)
    nothing = score_examples([example(GOLD, None)])
    assert set(nothing) == set(found)
    assert set(nothing.values()) == {None}


def test_a_prediction_without_dependencies_is_an_error_that_says_so(example) -> None:
    with pytest.raises(InputError, match="has no dependency parse"):
        score_examples([example(None, GOLD)])


def test_a_pipeline_is_evaluated_with_it(spacy, example) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("parser", config={"scorer": {"@scorers": "treescore.las.v1"}})
    assert nlp.config["components"]["parser"]["scorer"] == {"@scorers": "treescore.las.v1"}
    examples = [example(GOLD, GOLD)]
    nlp.initialize(lambda: examples)
    scores = nlp.evaluate(examples)
    assert 0 <= scores["dep_las"] <= 1
    assert set(scores) >= {"dep_uas", "dep_las_per_type", "ud_clas_f1"}
    again = spacy.blank("en").from_config(nlp.config)
    assert again.get_pipe("parser").scorer is score_examples
