"""Lin's precision and recall over dependencies: his examples, selection, other tokenization, tables."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import SKIP, Outcome
from treescore.errors import InputError, Problem
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_format, parse_items, parse_spec
from treescore.metrics.dependency_relations import TABLE


def scored(
    key: str,
    answer: str,
    key_format: str = "minipar",
    answer_format: str | None = None,
    items: dict[str, Any] | None = None,
    **params: Any,
) -> Outcome:
    spec = parse_spec({"format": key_format, "metrics": [{"name": "dependency_relations", "params": params}]})
    evaluation = Evaluation(spec, key.encode(), parse_items(items))
    choice = parse_format(answer_format) if answer_format else None
    return evaluation.score(answer.encode(), choice, name="A")[0]["dependency_relations"]


def problems(*args: Any, **options: Any) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        scored(*args, **options)
    return caught.value.problems


def scores(outcome: Outcome) -> dict[str, float]:
    return {name: float(value) for name, value in TABLE.values(outcome.totals).items()}


def tuples(*lines: str) -> str:
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def example(golden: Any) -> tuple[str, str]:
    case = golden("dependency_relations")["cases"][0]
    return tuples(*case["key"]), tuples(*case["answer"])


def test_the_papers_examples(golden: Any) -> None:
    for case in golden("dependency_relations")["cases"]:
        select = {"relations": case["select"]} if case["select"] else None
        outcome = scored(tuples(*case["key"]), tuples(*case["answer"]), labelled=case["labelled"], select=select)
        answer, key, correct, found = outcome.totals.tolist()
        assert Fraction(correct, answer) == Fraction(case["precision"]), case["name"]
        assert Fraction(found, key) == Fraction(case["recall"]), case["name"]
        values = scores(outcome)
        assert values["precision"] == pytest.approx(float(Fraction(case["precision"])))
        assert values["recall"] == pytest.approx(float(Fraction(case["recall"])))


def test_a_head_is_the_nth_word_of_that_form(golden: Any) -> None:
    """Lin's "<< is": the sixth word of the sentence, which a key in CoNLL-U names by its number."""
    place = golden("dependency_relations")["head_position"]
    words = place["sentence"].split()
    key = "".join(f"{n}\t{word}\t_\tX\t_\t_\t{6 * (n != 6)}\tdep\t_\t_\n" for n, word in enumerate(words, start=1))
    field = {place["modifier"]: f" {place['head_field']}"}
    answer = "".join(f"({word} X{field.get(word, '')})\n" for word in words)
    for text, right in ((answer, 1), (answer.replace("<<", "<"), 0)):
        assert scored(f"{key}\n", text, "conllu", "minipar").totals.tolist() == [1, 13, right, right]


def test_a_selection_is_looked_up_in_the_whole_of_the_other_side(example: tuple[str, str]) -> None:
    """The answer calls the head of "Alex" a subject, wrongly; the key calls bring-promised obj2, the answer obj1."""
    outcome = scored(*example, select={"relations": ["obj1"]})
    assert outcome.totals.tolist() == [2, 2, 2, 1]  # two right answers out of a key of two, of which one was found


def test_5_a_dangling_reference_counts_as_a_wrong_dependency_of_an_answer_and_is_an_error_in_a_key() -> None:
    key, answer = tuples("(a X < b r)", "(b X)"), tuples("(a X << b r)", "(b X)")
    assert scored(key, answer).totals.tolist() == [1, 1, 0, 0]
    (found,) = problems(answer, key)
    assert (found.code, found.pointer, found.line, found.sentence) == ("key-not-a-tree", "/gold", 1, 1)


def test_6_resolved_positions_are_compared_not_indicators() -> None:
    """Where tokens differ, `<` and `<<` may name the same word."""
    key = tuples("(t X < go r)", "(xgo X > t r)", "(go X)")
    answer = tuples("(t X << go r)", "(x X < go r)", "(go X)", "(go X)")
    assert scored(key, answer).totals.tolist() == [2, 2, 1, 1]


def test_a_head_with_leading_zeros_is_the_number_it_writes() -> None:
    key, answer = (
        f"1\ta\t_\t_\t_\t_\t0{zero}\t_\t_\t_\n2\tb\t_\t_\t_\t_\t{zero}1\tobj\t_\t_\n\n" for zero in ("0", "")
    )
    for texts in ((key, answer), (answer, key)):
        assert scored(*texts, key_format="conllu").totals.tolist() == [1, 1, 1, 1]


def test_7_other_tokens_are_aligned_by_their_characters() -> None:
    """can|not against cannot: the answer's two words cover no word of the key; the rest is compared."""
    key = tuples("(We N < cannot subj)", "(cannot V)", "(go V > cannot comp)", "(home N > go mod)")
    answer = tuples("(We N < can subj)", "(can V)", "(not A > can neg)", "(go V > can comp)", "(home N > go mod)")
    assert scored(key, answer).totals.tolist() == [4, 3, 1, 1]
    shown = scored(key, answer).item(0)
    assert [word["form"] for word in shown["words"]] == ["We", "not", "go"]
    assert [word["gold_form"] for word in shown["missed"]] == ["We", "go"]
    (found,) = problems(key, tuples("(We N)", "(cant V)"))
    assert (found.code, found.sentence, found.line) == ("text-mismatch", 1, 2)
    assert "notgo" not in found.detail
    assert "notgo" in (found.gold_detail or "")


def test_sentences_may_be_cut_otherwise_and_count_where_the_modifier_begins() -> None:
    """Fragments as sentences of their own: the dependency across the cut is missed, the others are found."""
    key = tuples("(a X < b r)", "(b X)", "(c X > b r)", "(d X > c r)") + "\n" + tuples("(e X < f r)", "(f X)")
    answer = tuples("(a X < b r)", "(b X)", "", "(c X)", "(d X > c r)", "(e X < f r)", "(f X)")
    assert scored(key, answer).rows.tolist() == [[2, 3, 2, 2], [1, 1, 1, 1]]
    assert [word["gold_form"] for word in scored(key, answer).item(0)["missed"]] == ["c"]


def test_an_output_without_words_is_refused() -> None:
    assert problems(tuples("(a X)"), "\n")[0].code == "text-mismatch"


def test_8_the_category_is_never_scored(example: tuple[str, str]) -> None:
    key, answer = example
    assert scored(key, answer.replace(" N ", " V ")).totals.tolist() == scored(key, answer).totals.tolist()


def test_11_a_selected_dependency_is_right_where_its_label_is_the_keys(example: tuple[str, str]) -> None:
    """The paper's "same label as the head" reads "as the key": verb-object dependencies, 50 and 33.3 per cent."""
    objects = scored(*example, labelled=True, select={"relations": ["obj1", "obj2"]})
    assert objects.totals.tolist() == [2, 3, 1, 1]


def test_9_punctuation_is_nothing_special() -> None:
    key = tuples("(a X)", "(. Punct > a p)")
    assert scored(key, tuples("(a X)", "(. Punct)")).totals.tolist() == [0, 1, 0, 0]


def test_10_equivalent_labels_are_made_one_on_both_sides_first(example: tuple[str, str]) -> None:
    plain = scored(*example, labelled=True)
    assert plain.totals.tolist() == [6, 6, 4, 4]
    for equivalent in ({"obj1": "obj", "obj2": "obj"}, [["obj", "obj1", "obj2"]]):
        outcome = scored(*example, labelled=True, equivalent_labels=equivalent)
        assert outcome.totals.tolist() == [6, 6, 5, 5]
        selected = scored(*example, labelled=True, equivalent_labels=equivalent, select={"relations": ["obj"]})
        assert selected.totals.tolist() == [2, 3, 2, 2]


def test_12_nothing_to_divide_by_is_no_score(example: tuple[str, str]) -> None:
    found = scores(scored(*example, select={"relations": ["nowhere"]}))
    assert all(math.isnan(value) for value in found.values())


def test_13_the_key_is_one_tree_and_the_answer_anything() -> None:
    key = tuples("(a X < b r)", "(b X)", "(c X > b r)")
    fragments, cycle = tuples("(a X)", "(b X)", "(c X > b r)"), tuples("(a X < b r)", "(b X > a r)", "(c X > b r)")
    assert scored(key, fragments).totals.tolist() == [1, 2, 1, 1]
    assert scored(key, cycle).totals.tolist() == [3, 2, 2, 2]
    assert [problem.code for problem in problems(fragments, key)] == ["key-not-a-tree"]
    assert [(problem.code, problem.line) for problem in problems(cycle, key)] == [("key-not-a-tree", 1)]


def test_19_prepositions_are_selected_by_the_modifiers_word_and_category() -> None:
    key = tuples("(ate V)", "(of Prep > ate mod)", "(pie N > of pcomp)", "(of X > pie mod)")
    assert scored(key, key, select={"words": ["of"]}).totals.tolist() == [2, 2, 2, 2]
    assert scored(key, key, select={"words": ["of"], "categories": ["Prep"]}).totals.tolist() == [1, 1, 1, 1]


def test_20_a_second_tuple_for_a_token_is_refused() -> None:
    key = tuples("(a X < b r)", "(b X)")
    assert problems(key, tuples("(a X < b r)", "(a X < b s)", "(b X)"))[0].code == "text-mismatch"


def test_sentences_are_selected_by_attribute_and_length(example: tuple[str, str]) -> None:
    key, answer = (side + "\n(a X < b r)\n(b X)\n" for side in example)
    items = {"attributes": {"genre": ["news", "talk"]}}
    chosen = scored(key, answer, items=items, select={"attributes": {"genre": ["talk"]}})
    assert chosen.rows.tolist() == [[0, 0, 0, 0], [1, 1, 1, 1]]
    assert chosen.status.tolist() == [SKIP, 0]
    assert scored(key, answer, select={"length": {"min": 3}}).totals.tolist() == [6, 6, 5, 5]
    assert problems(key, answer, select={"attributes": {"genre": "talk"}})[0].code == "unknown-attribute"


def test_tables_by_relation_and_word_count_each_side_by_its_own_annotation(example: tuple[str, str]) -> None:
    slices = scored(*example).slices()
    rows = {row["value"]: row["counts"] for row in slices["relation"]}
    assert rows["subj"] == {"answer": 2, "key": 1, "answer_correct": 1, "key_found": 1}
    assert rows["obj1"] == {"answer": 2, "key": 2, "answer_correct": 2, "key_found": 1}
    assert rows["obj2"] == {"answer": 0, "key": 1, "answer_correct": 0, "key_found": 1}
    alex = next(row for row in slices["word"] if row["value"] == "Alex")
    assert alex["scores"] == {"f1": 0.0, "precision": 0.0, "recall": 0.0}
    assert sum(row["counts"]["key"] for row in slices["category"]) == 6


def test_tables_by_genre_and_length_tell_sentences_length_and_speed(example: tuple[str, str]) -> None:
    key, answer = (side + "\n(a X < b r)\n(b X)\n" for side in example)
    items = {"attributes": {"genre": ["news", "talk"]}, "seconds": {"A": [0.5, 0.25], "B": [9, 9]}}
    slices = scored(key, answer, items=items).slices()
    assert [
        (row["value"], row["sentences"], row["mean_length"], row["words_per_second"]) for row in slices["genre"]
    ] == [("news", 1, 7.0, 14.0), ("talk", 1, 2.0, 8.0)]
    assert [(row["value"], row["seconds"]) for row in slices["sentence_length"]] == [(2, 0.25), (7, 0.5)]
    assert "seconds" not in scored(key, answer).slices()["sentence_length"][0]


def test_formats_mix_and_multiword_tokens_align_inside_their_characters() -> None:
    gold = (
        "1\tVa\t_\tV\t_\t_\t0\troot\t_\t_\n2-3\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n2\tde\t_\tP\t_\t_\t4\tcase\t_\t_\n"
        "3\tle\t_\tD\t_\t_\t4\tdet\t_\t_\n4\tpain\t_\tN\t_\t_\t1\tobl\t_\t_\n\n"
    )
    assert scored(gold, gold, "conllu").totals.tolist() == [3, 3, 3, 3]
    other = gold.replace("2\tde\t", "2\tDe\t")
    assert scored(gold, other, "conllu").totals.tolist() == [3, 3, 3, 3]
    whole = tuples("(Va V)", "(du P < pain case)", "(pain N > Va obl)")
    assert scored(gold, whole, "conllu", "minipar").totals.tolist() == [2, 3, 1, 1]


def test_on_real_outputs_it_counts_as_ud_does_but_for_the_roots(real_data: Path) -> None:
    """A right head that is no root is a right dependency, when words and sentences differ too."""
    folder = real_data / "ud_en_ewt" / "conll2018"
    spec = parse_spec({"format": "conllu", "metrics": ["ud", "dependency_relations"]})
    evaluation = Evaluation(spec, (folder / "gold.conllu").read_bytes())
    gold = evaluation.gold
    for name in ("Stanford-18", "UDPipe-Future"):
        outcomes = evaluation.score((folder / f"{name}.conllu").read_bytes())[0]
        right_heads = dict(zip(spec.entry("ud").metric.table.count_names, outcomes["ud"].totals.tolist(), strict=True))
        answer, key, correct, found = outcomes["dependency_relations"].totals.tolist()
        assert correct == found
        assert key == len(gold.forms) - (gold.heads == 0).sum()
        assert 0 < right_heads["uas.correct"] - correct <= right_heads["uas.gold"] - key
        assert right_heads["uas.system"] > answer


def test_recall_has_a_bit_for_each_of_the_keys_dependencies(example: tuple[str, str]) -> None:
    bits = scored(*example).tokens["recall"]
    assert (bits.bits.tolist(), bits.offsets.tolist()) == ([True, False, True, True, True, True], [0, 6])


def tree(parents: list[int]) -> str:
    """Word n (from 2) hangs on an earlier word, so that every list is a tree."""
    rows = ["(w1 X)"] + [f"(w{n} X > w{1 + parent % (n - 1)} r{parent % 3})" for n, parent in enumerate(parents, 2)]
    return "\n".join(rows) + "\n\n"


PARENTS = st.lists(st.lists(st.integers(0, 50), max_size=7), min_size=1, max_size=4)


@given(PARENTS, st.randoms(use_true_random=False))
def test_properties(parents: list[list[int]], random: Any) -> None:
    """The two sides' numerators agree where nothing is selected, and change places with the sides."""
    key = [tree(one) for one in parents]
    answer = [tree([random.randrange(50) for _ in one]) for one in parents]
    outcome = scored("".join(key), "".join(answer))
    assert outcome.totals[2] == outcome.totals[3]
    swapped = scored("".join(answer), "".join(key))
    assert swapped.totals[[1, 0, 3, 2]].tolist() == outcome.totals.tolist()
