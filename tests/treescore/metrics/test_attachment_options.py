"""Options of attachment: relations without subtypes, excluded relations, other words, the table of confusions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import Metric, Outcome
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.shared import attachment_slices

SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "subtypes_cut": {"subtypes": False},
    "punct_excluded": {"exclude_relations": ["punct"]},
    "subtypes_cut_punct_excluded": {"subtypes": False, "exclude_relations": ["punct"]},
}
RELATIONS = ("nsubj", "nsubj:pass", "punct", "punct:x", ":x", "_")
ROWS = st.lists(
    st.lists(st.tuples(*[st.integers(0, 3)] * 2, *[st.sampled_from(RELATIONS)] * 2), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


def scored(gold: str, system: str, **params: Any) -> tuple[Metric, Outcome]:
    spec = parse_spec({"format": "conllx", "metrics": [{"name": "attachment", "params": params}]})
    return spec.entries[0].metric, Evaluation(spec, gold.encode()).score(system.encode())[0]["attachment"]


def text(sentences: Any, side: int) -> str:
    """Write one side of generated sentences: word, head, relation."""
    rows = (
        "".join(f"{n}\tw\t_\tX\t_\t_\t{row[side]}\t{row[2 + side]}\n" for n, row in enumerate(sentence, 1)) + "\n"
        for sentence in sentences
    )
    return "".join(rows)


@pytest.mark.parametrize("setting", list(SETTINGS))
def test_eval07_counts_and_warns_the_same(golden: Any, setting: str) -> None:
    for name, case in golden("field_dependencies")["attachment"].items():
        reference = case["reference"][setting]
        metric, outcome = scored(case["gold"], case["system"], words="warn", **SETTINGS[setting])
        counts = dict(zip(metric.table.count_names, outcome.totals.tolist(), strict=True))
        found = {"las": "correct_both", "uas": "correct_head", "label_accuracy": "correct_label"}
        for score, count in found.items():
            assert [counts[count], counts["tokens"]] == reference[score], (name, score)
        warned = [problem for problem in outcome.warnings if problem.code == "other-words"]
        assert len(warned) == reference["warned"], name


def test_confusions_are_those_counted_by_hand(golden: Any) -> None:
    for case in golden("field_dependencies")["attachment"].values():
        _, outcome = scored(case["gold"], case["system"], words="warn", confusion=True)
        rows = outcome.extra()["confusion"]
        found = {
            f"{row['gold']} > {row['system']}": {
                "count": row["count"],
                "with_head": row["with_head"],
                "places": [[example["item"], example["word"]] for example in row["examples"]],
            }
            for row in rows
        }
        assert found == case["confusion"]
        assert rows == sorted(rows, key=lambda row: (-row["count"], row["gold"], row["system"]))


@given(ROWS)
def test_subtypes_and_exclusions_equal_texts_that_were_changed_before(sentences: Any) -> None:
    cut = [[(a, b, c.partition(":")[0] or "_", d.partition(":")[0] or "_") for a, b, c, d in one] for one in sentences]
    kept = [[(a, b, c if c != ":x" else "_", d if d != ":x" else "_") for a, b, c, d in one] for one in sentences]
    _, outcome = scored(text(kept, 0), text(kept, 1), subtypes=False)
    _, changed = scored(text(cut, 0), text(cut, 1))
    assert outcome.rows.tolist() == changed.rows.tolist()
    _, excluded = scored(text(kept, 0), text(kept, 1), exclude_relations=["punct"])
    expected = [
        sum(1 for head, other, relation, wrong in one if relation != "punct" and (head, relation) == (other, wrong))
        for one in kept
    ]
    assert excluded.rows[:, 3].tolist() == expected


@given(ROWS)
def test_the_table_sums_to_the_scoring_words(sentences: Any) -> None:
    metric, outcome = scored(text(sentences, 0), text(sentences, 1), confusion=True, exclude_relations=["punct"])
    counts = dict(zip(metric.table.count_names, outcome.totals.tolist(), strict=True))
    rows = outcome.extra()["confusion"]
    pairs = Counter((row[2], row[3]) for one in sentences for row in one if row[2] != "punct")
    assert {(row["gold"], row["system"]): row["count"] for row in rows} == pairs
    assert sum(row["with_head"] for row in rows) == counts["correct_head"]
    assert sum(row["with_head"] for row in rows if row["gold"] == row["system"]) == counts["correct_both"]


def test_the_table_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachment_slices, "MAX_ROWS", 2)
    gold = "".join(f"{n}\tw\t_\tX\t_\t_\t0\t{relation}\n" for n, relation in enumerate("aaabbcd", 1)) + "\n"
    _, outcome = scored(gold, gold, confusion=True)
    rows = outcome.extra()["confusion"]
    assert [(row["gold"], row["count"]) for row in rows] == [("a", 3), ("b", 2), (None, 2)]
    assert rows[-1]["with_head"] == 2


def test_the_table_prints_with_places(golden: Any) -> None:
    case = golden("field_dependencies")["attachment"]["punct_relation_on_words"]
    metric, outcome = scored(case["gold"], case["system"], confusion=True)
    assert metric.report("confusion", outcome).splitlines() == [
        "count  with head  gold   system     sentence:word",
        "    2          0  punct  discourse  1:1 1:5",
        "    2          2  root   root       1:3 2:1",
        "    1          1  nsubj  nsubj      1:2",
        "    1          0  punct  punct      1:4",
    ]
    metric, outcome = scored(case["gold"], case["system"])
    with pytest.raises(KeyError):
        metric.report("confusion", outcome)


def test_a_row_names_at_most_twenty_words() -> None:
    gold = "1\tw\t_\tX\t_\t_\t0\troot\n\n" * 30
    _, outcome = scored(gold, gold, confusion=True)
    [row] = outcome.extra()["confusion"]
    assert row["examples"] == [{"item": item, "word": 1} for item in range(1, 21)]


def test_excluded_words_are_in_no_item_no_slice_and_no_test_of_words() -> None:
    gold = "1\ta\t_\tX\t_\t_\t0\troot\n2\t,\t_\tY\t_\t_\t1\tpunct:x\n\n"
    system = gold.replace("\t1\tpunct:x", "\t0\tdep")
    _, outcome = scored(gold, system, subtypes=False, exclude_relations=["punct"])
    assert outcome.details(0, 1).documents(0, 1)[0]["words"] == []
    assert [row["value"] for row in outcome.slices()["upos"]] == ["X"]
    assert len(outcome.tokens["las"].bits) == 1


def test_other_lengths_are_an_error_whatever_words_is() -> None:
    gold = "1\ta\t_\tX\t_\t_\t0\troot\n\n"
    with pytest.raises(InputError) as raised:
        scored(gold, gold + gold, words="warn")
    assert raised.value.problems[0].code == "sentence-count-mismatch"
    with pytest.raises(InputError, match="word") as raised:
        scored(gold, gold.replace("\n\n", "\n2\tb\t_\tX\t_\t_\t1\tdep\n\n"), words="warn")
    assert raised.value.problems[0].code == "word-count-mismatch"


def test_words_are_checked_unless_asked_otherwise() -> None:
    gold = "1\ta\t_\tX\t_\t_\t0\troot\n\n"
    with pytest.raises(InputError) as raised:
        scored(gold, gold.replace("\ta\t", "\tb\t"))
    assert raised.value.problems[0].code == "word-mismatch"
    _, outcome = scored(gold, gold.replace("\ta\t", "\tb\t"), words="warn")
    [problem] = outcome.warnings
    assert (problem.code, problem.sentence, problem.line, problem.column) == ("other-words", 1, 1, 2)


@given(ROWS)
def test_slices_of_relations_without_subtypes_are_those_of_texts_cut_before(sentences: Any) -> None:
    cut = [
        [(*row[:2], *(relation.partition(":")[0] or "EMPTY" for relation in row[2:])) for row in one]
        for one in sentences
    ]
    _, whole = scored(text(sentences, 0), text(sentences, 1))
    _, before = scored(text(cut, 0), text(cut, 1))
    found, expected = (
        {row["value"] or "EMPTY": [row["counts"][name] for name in ("gold", "system", "correct")] for row in rows}
        for rows in (whole.slices()["udeprel"], before.slices()["deprel"])
    )
    assert found == expected


def test_long_relations_do_not_widen_the_printed_confusion() -> None:
    sentences = [[(0, 0, "r" * 100_000, "r" * 100_000)], *([(0, 0, f"s{n}", f"s{n}")] for n in range(50))]
    metric, outcome = scored(text(sentences, 0), text(sentences, 1), confusion=True)
    assert len(metric.report("confusion", outcome)) < 20_000


def test_relations_beside_gold_are_shown_as_compared() -> None:
    sentences = [[(0, 0, "x:y", "x:z"), (0, 1, "p:q", "p")]]
    gold = text(sentences, 0)
    spec = parse_spec({"format": "conllx", "metrics": [{"name": "attachment", "params": {"subtypes": False}}]})
    evaluation = Evaluation(spec, gold.encode())
    outcome = evaluation.score(text(sentences, 1).encode())[0]["attachment"]
    beside = spec.entries[0].metric.beside_gold({"item": 1, **outcome.item(0)}, evaluation.gold)
    assert [(row["gold_deprel"], row["system_deprel"]) for row in beside] == [("x", "="), ("p", "p")]


def test_other_words_name_their_place_to_who_has_gold_alone() -> None:
    gold = text([[(0, 0, "a", "a")], [(0, 0, "a", "a"), (1, 1, "b", "b")]], 0)
    _, outcome = scored(gold, gold.replace("2\tw", "2\tv"), words="warn")
    [warning] = outcome.warnings
    assert (warning.code, warning.sentence, warning.line) == ("other-words", 2, 4)
    assert "at 1 word, first at word 2 of sentence 2." in (warning.gold_detail or "")
    assert warning.detail.startswith("Words differ from gold in form or part of speech. All words are scored")


@pytest.mark.parametrize("value", ["punct", [1], [None], {"punct": True}])
def test_what_is_no_list_of_relations_is_refused(value: Any) -> None:
    with pytest.raises(InputError) as caught:
        scored("1\tw\t_\tX\t_\t_\t0\ta\n\n", "1\tw\t_\tX\t_\t_\t0\ta\n\n", exclude_relations=value)
    assert caught.value.problems[0].pointer.startswith("/metrics/0/params/exclude_relations")


def test_long_lists_of_relations_repeat_and_name_what_no_text_has() -> None:
    sentences = [[(0, 0, "ñ:ß", "x"), (0, 0, "b", "b")]]
    names = ["ñ:ß", "ñ:ß", *(f"none{n}" for n in range(10_000))]
    assert scored(text(sentences, 0), text(sentences, 1), exclude_relations=names)[1].totals.tolist()[0] == 1
    assert scored(text(sentences, 0), text(sentences, 1), exclude_relations=[])[1].totals.tolist()[0] == 2


@pytest.mark.parametrize(
    ("params", "tokens"),
    [
        ({}, 4),
        ({"preset": "ptb"}, 2),
        ({"exclude_tags": ["NN"]}, 3),
        ({"preset": "ptb", "exclude_tags": ["NN"]}, 3),
        ({"preset": "ptb", "exclude_tags": []}, 4),
        ({"exclude_tags": []}, 4),
    ],
)
def test_words_of_excluded_tags_in_gold_do_not_score(params, tokens):
    # The first tag stands in POSTAG, the second in CPOSTAG alone; what the output calls a word plays no part.
    gold = b"1 dogs _ N NN _ 2 a\n2 bark _ V VB _ 0 r\n3 , _ , , _ 2 p\n4 ! _ . _ _ 2 p\n"
    system = gold.replace(b"V VB", b", ,").replace(b". _ _", b"N NN _")
    spec = parse_spec({"format": "conllx", "metrics": [{"name": "attachment", "params": params}]})
    outcome = Evaluation(spec, gold).score(system)[0]["attachment"]
    assert outcome.rows[0, 0] == tokens
