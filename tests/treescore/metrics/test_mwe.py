"""Multiword expressions: PARSEME's own figures, every subset against a plain count, problems, and hostile sizes."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.treescore.metrics.mwe_oracle import Sentence, counts, expressions, tables
from treescore.core.registry import Outcome
from treescore.core.scores import with_values
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.errors import InputError, LimitError
from treescore.evaluation.document import item_details, signature_document
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import Entry, parse_spec
from treescore.formats.cupt import HEADER
from treescore.metrics.mwe import kernel, metric

GOLDEN = json.loads((ROOT / "tests" / "golden" / "field_mwe.json").read_bytes())["cases"]
COUNTS = ("correct", "gold", "system", "token_correct", "token_gold", "token_system")


def text(sentences: list[Sentence]) -> str:
    lines = [HEADER]
    for sentence in sentences:
        for number, (form, lemma, codes) in enumerate(sentence, 1):
            lines.append("\t".join([str(number), form, lemma, *"_______", codes]))
        lines.append("")
    return "\n".join(lines) + "\n"


def spaced(*sentences: str) -> str:
    """A text of sentences of words `form/codes`."""
    words = [[word.partition("/") for word in sentence.split()] for sentence in sentences]
    return text([[(form, form.lower(), codes or "*") for form, _, codes in sentence] for sentence in words])


def scored(gold: str, system: str, limits: Limits = DEFAULT_LIMITS, **params: Any) -> tuple[Entry, Outcome]:
    spec = parse_spec({"format": "cupt", "metrics": [{"name": "mwe", "params": params}]})
    return spec.entries[0], Evaluation(spec, gold.encode(), limits=limits).score(system.encode())[0]["mwe"]


def slices(outcome: Outcome, *names: str) -> dict[tuple[str, str], list[int]]:
    return {
        (name, row["value"]): [row["counts"][count] for count in COUNTS]
        for name in names
        for row in outcome.slices()[name]
    }


@pytest.mark.parametrize("name", [name for name, case in GOLDEN.items() if case["stdout"] is not None])
def test_the_report_is_that_of_the_original_program(name):
    case = GOLDEN[name]
    for compat in (False, True):
        entry, outcome = scored(case["gold"], case["system"], train=case["train"], compat=compat)
        assert entry.metric.report("parseme", outcome) == case["stdout"]
        counts = dict(zip(entry.metric.table.count_names, outcome.totals.tolist(), strict=True))
        assert f"P={counts['correct']}/{counts['system']}=" in case["stdout"].splitlines()[1]


def test_what_the_original_program_refuses_is_refused():
    case = GOLDEN["missing_sentence"]
    with pytest.raises(InputError) as caught:
        scored(case["gold"], case["system"])
    assert [problem.code for problem in caught.value.problems] == ["sentence-count-mismatch"]


def test_what_the_original_program_reads_is_read_with_a_warning():
    good = spaced("a/1:VID b/1", "c")
    row = good.splitlines()[1]
    cases = {
        good.replace(HEADER, HEADER + HEADER): [("cupt-header-twice", 1)],
        good.replace("\t1\n\n", "\t1 \n \t\n"): [("cupt-blanks-at-line-end", 3), ("cupt-blanks-at-line-end", 4)],
        good.replace(row, f" {row}\t"): [("cupt-blanks-at-line-end", 2)],
        good.replace(row, "1\ta\ta\t_\t_\t_\t77\t_\t_\t_\t1:VID"): [("conllu-head-out-of-range", 2)],
        good.replace(row, "1\ta\ta\t_\t_\t_\tx\t_\t_\t_\t1:VID"): [("conllu-bad-head", 2)],
        good.replace(row, f"1-2\tab{'_'.join(9 * [chr(9)])}1:VID\n{row}").replace("1:VID\n2", "*\n2"): [
            ("cupt-code-at-range", 2)
        ],
    }
    spec = parse_spec({"format": "cupt", "metrics": ["mwe"]})
    for text_, expected in cases.items():
        gold = Evaluation(spec, text_.encode())
        outcomes, warnings = Evaluation(spec, good.encode()).score(text_.encode())
        for found in (gold.gold.sentences.warnings, warnings):
            assert [(warning.code, warning.line) for warning in found] == expected
        assert outcomes["mwe"].totals.tolist() == [1, 1, 1, 2, 2, 2]
    both = parse_spec({"format": "cupt", "metrics": ["mwe", "attachment"]})
    with pytest.raises(InputError):
        Evaluation(both, good.replace(row, row.replace("\t_\t_\t_\t_\t1", "\t77\t_\t_\t_\t1")).encode())


def test_other_numbers_of_words_and_other_words_are_errors():
    for system, code in (("a/1:X b/1 c", "word-count-mismatch"), ("a/1:X d/1", "word-mismatch")):
        with pytest.raises(InputError) as caught:
            scored(spaced("e", "a/1:X b/1"), spaced("e", system))
        [problem] = caught.value.problems
        assert (problem.code, problem.sentence) == (code, 2)
        assert "'b'" not in problem.detail


def drawn(random_: random.Random, sentences: int) -> list[list[tuple[str, str]]]:
    return [
        [(random_.choice("abcdAB"), random_.choice("abc_")) for _ in range(random_.randint(1, 8))]
        for _ in range(sentences)
    ]


def annotated(random_: random.Random, words: list[list[tuple[str, str]]]) -> list[Sentence]:
    """The words with up to five expressions a sentence; some have no category, some are the same."""
    found = []
    for sentence in words:
        codes: list[list[str]] = [[] for _ in sentence]
        for number in range(1, random_.randint(0, 5) + 1):
            chosen = sorted(random_.sample(range(len(sentence)), random_.randint(1, min(4, len(sentence)))))
            category = random_.choice(["", ":VID", ":LVC.full", ":NONE", ":IRV"])
            for place, word in enumerate(chosen):
                codes[word].append(f"{number}{category if not place else ''}")
        found.append([(*word, ";".join(own) or "*") for word, own in zip(sentence, codes, strict=True)])
    return found


@pytest.mark.parametrize("seed", range(40))
def test_every_count_and_subset_is_that_of_a_plain_count(seed):
    random_ = random.Random(seed)  # noqa: S311 - test data
    words = drawn(random_, 6)
    gold, system, train = annotated(random_, words), annotated(random_, words), annotated(random_, drawn(random_, 12))
    compat = seed % 2 == 0
    _, outcome = scored(text(gold), text(system), train=text(train), compat=compat)
    pairs = zip(gold, system, strict=True)
    assert [tuple(row[:6]) for row in outcome.rows.tolist()] == [counts(*map(expressions, pair)) for pair in pairs]
    found = slices(outcome, "category", "continuity", "tokens", "seen", "variant")
    expected = {(name, value): list(row) for name, value, row in tables(gold, system, train, compat=compat)}
    assert {key: row for key, row in found.items() if any(row)} == expected
    halves = [found["seen", value][:3] for value in ("seen", "unseen")]
    assert outcome.totals.tolist()[6:] == [*halves[0], *halves[1]]


def test_without_a_training_text_there_is_no_slice_by_it_and_no_score():
    entry, outcome = scored(spaced("a/1:X"), spaced("a/1:X"))
    assert [score.name for score in entry.metric.table.scores][::3] == ["f1", "token_f1"]
    assert {"category", "continuity", "tokens"} <= set(outcome.slices())
    assert not {"seen", "variant"} & set(outcome.slices())


def test_an_attribute_of_sentences_does_not_stand_for_a_subset_in_the_report():
    gold = spaced("a/1:X").replace("\n1\t", "\n# seen = x\n1\t")
    entry, outcome = scored(gold, gold)
    assert "seen" in outcome.slices()
    assert "in train" not in entry.metric.report("parseme", outcome)


def test_codes_at_multiword_tokens_of_the_training_text_count_unless_compat():
    gold = spaced("da/1:VID la/1 parte/1")
    words = spaced("da la parte").replace("\n1\t", f"\n1-2\tdalla{chr(9)}{chr(9).join('_' * 8)}\t1:VID\n1\t")
    train = words.replace("\t*\n", "\t1\n").replace("\t1\n", "\t*\n", 2)
    for compat, row in ((False, "seen"), (True, "unseen")):
        _, outcome = scored(gold, gold, train=train, compat=compat)
        assert slices(outcome, "seen")["seen", row] == [1, 1, 1, 3, 3, 3]


def test_an_empty_node_between_the_words_is_a_gap():
    node = f"1.1\tx{chr(9)}{chr(9).join('_' * 8)}\t*\n2\t"
    gold = spaced("a/1:X b/1").replace("2\t", node)
    _, outcome = scored(gold, spaced("a/1:X b/1"), train=spaced("a/1:X b/1"))
    found = slices(outcome, "continuity", "variant")
    assert found["continuity", "discontinuous"][:3] == [0, 1, 0]
    assert found["continuity", "continuous"][:3] == [0, 0, 1]
    assert found["variant", "variant"][:3] == [0, 1, 0]


def test_items_show_what_differs_and_its_partner():
    gold = spaced("He took/1:LVC.full a long walk/1 up/2:VID there/2", "a/1:X")
    system = spaced("He took/1:VID a long/1 walk/1 up there", "a/1:X")
    entry, outcome = scored(gold, system)
    evaluation = Evaluation(parse_spec({"format": "cupt", "metrics": ["mwe"]}), gold.encode())
    items = list(with_values(entry.metric.table, outcome.rows, item_details(outcome, evaluation.gold, 0, 2)))
    assert items[0]["expressions"] == [
        {
            "gold_words": [2, 5], "gold_form": "took walk", "gold_category": "LVC.full",
            "system_words": [2, 4, 5], "system_form": "took long walk", "system_category": "VID", "common": 2,
        },
        {
            "gold_words": [6, 7], "gold_form": "up there", "gold_category": "VID",
            "system_words": None, "system_form": None, "system_category": None, "common": 0,
        },
    ]  # fmt: skip
    assert items[1]["expressions"] == []
    assert [row["kind"] for row in entry.metric.errors_of(items[0], evaluation.gold)] == ["other words", "missed"]
    assert [row["error"] for row in entry.metric.beside_gold(items[0], evaluation.gold)] == ["other words", "missed"]
    [same] = entry.metric.beside_gold(items[1], evaluation.gold)
    assert (same["gold_words"], same["system_words"], same["error"]) == ("1", "=", "")
    assert outcome.tokens["recall"].bits.tolist() == [False, False, True]
    assert outcome.tokens["recall"].offsets.tolist() == [0, 2, 3]


def test_the_training_text_is_named_by_its_digest_and_bounded():
    train = spaced("a/1:X b/1")
    entry, _ = scored(train, train, train=train)
    spec = parse_spec({"format": "cupt", "metrics": [{"name": "mwe", "params": {"train": train}}]})
    signature = signature_document(entry, spec.format, spec.format, "gold", "output")
    assert signature["params"]["train"].startswith("sha256:")
    assert '"train":"@TRAIN"' in signature["command"]
    named = {"format": "cupt", "metrics": [{"name": "mwe", "params": signature["params"]}]}
    assert parse_spec(named).entries[0].metric.table.by_name["unseen.f1"].is_share
    with pytest.raises(InputError) as refused:
        scored(train, train, **signature["params"])
    assert refused.value.problems[0].pointer == "/metrics/0/params/train"
    with pytest.raises(LimitError) as caught:
        scored(train, train, train=train, limits=Limits(max_training_bytes=10))
    [problem] = caught.value.problems
    assert (problem.code, problem.pointer) == ("training-text-too-large", "/metrics/0/params/train")


def test_a_training_text_that_cannot_be_read_is_refused_at_its_place():
    with pytest.raises(InputError) as caught:
        parse_spec({"format": "cupt", "metrics": [{"name": "mwe", "params": {"train": "train.cupt"}}]})
    assert [(each.code, each.pointer) for each in caught.value.problems] == [
        ("cupt-no-columns", "/metrics/0/params/train")
    ]
    gold = spaced("a/1:X")
    with pytest.raises(InputError) as caught:
        scored(gold, gold, train=spaced("a", "b/x"))
    assert [(each.code, each.pointer, each.line) for each in caught.value.problems] == [
        ("cupt-bad-code", "/metrics/0/params/train", 4)
    ]


def chain(size: int, step: int) -> str:
    """A sentence in which expression i has the words i and i + step."""
    codes: list[list[str]] = [[] for _ in range(size + step)]
    for number in range(size):
        codes[number].append(f"{number + 1}:X")
        codes[number + step].append(str(number + 1))
    return spaced(" ".join(f"w/{';'.join(own)}" if own else "w" for own in codes))


def test_thousands_of_overlapping_expressions_are_paired():
    size = 3_000
    gold, system = chain(size, 2), chain(size, 3).replace(f"\n{size + 3}\tw\tw", "\n#")
    system = "\n".join(line for line in system.split("\n") if not line.startswith("#") or "global" in line)
    _, outcome = scored(gold, system)
    correct, golds, systems, *tokens = outcome.totals.tolist()
    assert (correct, golds) == (0, size)
    assert systems >= size - 1
    assert tokens[0] >= size - 3


def test_expressions_of_ten_thousand_words_are_compared():
    size = 10_000
    gold = spaced(" ".join(["w/1:X", *["w/1"] * (size - 1)]))
    system = spaced(" ".join(["w", "w/1:X", *["w/1"] * (size - 2)]))
    assert scored(gold, system)[1].totals.tolist() == [0, 1, 1, size - 1, size, size - 1]


def star(size: int, shift: int) -> str:
    """A sentence in which all expressions have the first word, and expression i another one."""
    codes = [[f"{number + 1}:X" for number in range(size)]]
    codes += [[str(number + 1)] for number in range(size)]
    codes[1:1] = [[] for _ in range(shift)]
    codes += [[] for _ in range(size - shift)]
    return spaced("a", " ".join(f"w/{';'.join(own)}" if own else "w" for own in codes))


@pytest.mark.slow
def test_ten_thousand_expressions_that_all_overlap_are_refused_with_their_place():
    size = 10_000
    for gold, system in ((size, 1), (1, size)):
        with pytest.raises(LimitError) as caught:
            scored(star(gold, 0), star(system, gold))
        assert [(each.code, each.sentence) for each in caught.value.problems] == [("too-many-overlaps", 2)]
    assert scored(star(1000, 0), star(1000, 1000))[1].totals.tolist()[3] == 1000


def test_a_search_that_takes_too_long_leaves_the_rest_alone(monkeypatch):
    # an error would tell of gold's expressions
    sides = spaced("x", "a/1:X b/1 c/1;2:X d/2 e/2"), spaced("x", "a/1:X b/1;2:X c/2 d/1 e/2")
    found = [scored(*sides)[1].totals.tolist()]
    monkeypatch.setattr(kernel, "MAX_STEPS", 1)
    found.append(scored(*sides)[1].totals.tolist())
    assert [each[3:] for each in found] == [[4, 6, 6], [2, 6, 6]]


def test_expressions_that_stretch_over_too_many_words_are_refused(monkeypatch):
    long, short = spaced("a/1:X b/1", "a/1:X b c d/1;2:Y e/2"), spaced("a/1:X b/1", "a b c d e")
    monkeypatch.setattr(metric, "MAX_COVERED", 8)
    scored(long, short, train=long)
    monkeypatch.setattr(metric, "MAX_COVERED", 7)
    scored(short, short, train=short)
    for gold, system, train in ((long, short, short), (short, long, short), (short, short, long)):
        with pytest.raises(LimitError) as caught:
            scored(gold, system, train=train)
        assert [(each.code, each.sentence) for each in caught.value.problems] == [("too-long-expressions", 2)]
