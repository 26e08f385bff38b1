# ruff: noqa: S311 - trees are drawn anew in the same way
"""The preset `unsupervised` against the definition of PRPN and C-PCFG, written out over sets of spans."""

import random
from itertools import pairwise

import pytest

from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

PUNCTUATION = (",", ".")


def tree(draw: random.Random, words: list[tuple[str, str]]) -> str:
    """A random tree with unary chains and several branches over words of (tag, form)."""
    if len(words) == 1 and draw.random() < 0.7:
        return f"({words[0][0]} {words[0][1]})"
    label = draw.choice("ABC.")  # a label is none of a word
    if len(words) == 1 or draw.random() < 0.2:
        return f"({label} {tree(draw, words) if len(words) > 1 else f'({words[0][0]} {words[0][1]})'})"
    cuts = sorted({0, len(words), *draw.sample(range(1, len(words)), min(len(words) - 1, draw.choice([1, 1, 2])))})
    return f"({label} {' '.join(tree(draw, words[a:b]) for a, b in pairwise(cuts))})"


def spans_of(text: str, *, kept: list[bool]) -> set[tuple[int, int]]:
    """The spans of several kept words, but not of all."""
    before, stack, found = [0], [], set()
    for piece in text.replace("(", " ( ").replace(")", " ) ").split():
        if piece == "(":
            stack.append([len(before) - 1, 0])
        elif piece == ")":
            start = before[stack.pop()[0]]
            if before[-1] - start > 1:
                found.add((start, before[-1]))
        else:
            stack[-1][1] += 1
            if stack[-1][1] == 2:
                before.append(before[-1] + kept[len(before) - 1])
    return found - {(0, before[-1])}


def reference(pairs: list[tuple[set[tuple[int, int]], set[tuple[int, int]]]]) -> tuple[float, float]:
    """F1 as the mean over sentences, and over the corpus, as those programs compute them."""
    f1s, sums = [], [0, 0, 0]
    for gold, system in pairs:
        overlap = len(gold & system)
        sums = [total + number for total, number in zip(sums, (overlap, len(gold), len(system)), strict=True)]
        precision, recall = overlap / (len(system) + 1e-8), overlap / (len(gold) + 1e-8)
        if not gold:
            recall = 1.0
            if not system:
                precision = 1.0
        f1s.append(2 * precision * recall / (precision + recall + 1e-8))
    return sum(f1s) / len(f1s), 2 * sums[0] / (sums[1] + sums[2])


def lines(trees: list[str]) -> bytes:
    return "".join(f"{tree}\n" for tree in trees).encode()


def scored(gold: list[str], system: list[str], **params):
    request = {"format": "bracketed", "metrics": [{"name": "parseval", "params": {"preset": "unsupervised", **params}}]}
    spec = parse_spec(request)
    outcome = Evaluation(spec, lines(gold)).score(lines(system))[0]["parseval"]
    return {name: float(value) for name, value in spec.entries[0].metric.table.values(outcome.totals).items()}, outcome


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("removed", [False, True])
def test_random_trees_score_as_in_the_reference(seed, removed):
    draw = random.Random(seed)
    golds, systems, pairs = [], [], []
    for _ in range(40):
        tags = [draw.choice(["X", "X", "X", *PUNCTUATION]) for _ in range(draw.randint(0, 9))] + ["X"]
        words = [(tag, f"w{place}") for place, tag in enumerate(tags)]
        kept = [tag == "X" for tag in tags]
        golds.append(tree(draw, words))
        # the output's own tags say nothing
        own = [("X", form) for (_, form), keep in zip(words, kept, strict=True) if keep or not removed]
        systems.append(tree(draw, own))
        own_kept = [True] * len(own) if removed else kept
        pairs.append((spans_of(golds[-1], kept=kept), spans_of(systems[-1], kept=own_kept)))
    values, outcome = scored(golds, systems)
    assert (outcome.status == 0).all()
    sentence_f1, corpus_f1 = reference(pairs)
    assert values["sentence_f1"] == pytest.approx(sentence_f1, abs=1e-6)
    assert values["unlabelled_f1"] == pytest.approx(corpus_f1, abs=1e-12)


def test_sentences_without_spans_count_as_asked():
    gold = ["(S (X a))", "(S (X a) (X b))", "(S (X a) (X b) (X c))", "(S (A (X a) (X b)) (X c))"]
    system = ["(S (X a))", "(S (X a) (X b))", "(S (A (X a) (X b)) (X c))", "(S (A (X a) (X b)) (X c))"]
    found = {name: scored(gold, system, spanless=name)[0]["sentence_f1"]
             for name in ("count", "leave-out-words", "leave-out")}  # fmt: skip
    assert found == {"count": 3 / 4, "leave-out-words": pytest.approx(2 / 3), "leave-out": 1}


def test_punctuation_is_kept_where_no_label_is_deleted():
    gold, system = ["(S (A (X a) (X b)) (. .))"], ["(S (X a) (A (X b) (. .)))"]
    assert scored(gold, system)[0]["sentence_f1"] == 1
    assert scored(gold, system, delete_labels=[])[0]["sentence_f1"] == 0


def test_a_sentence_without_a_parse_scores_nothing_where_errors_are_charged():
    gold, system = ["(S (A (X a) (X b)) (X c))"] * 2, ["(S (A (X a) (X b)) (X c))", ""]
    assert scored(gold, system)[0]["sentence_f1"] == 1
    assert scored(gold, system, errors="zero")[0]["sentence_f1"] == 0.5
    assert scored(gold, system, unparsed="miss")[0]["sentence_f1"] == 0.5


@pytest.mark.parametrize("params", [{"labelled": True}, {"preset": "evalb", "spanless": "leave-out"}])
def test_choices_without_effect_are_refused(params):
    with pytest.raises(InputError, match="no effect"):
        scored(["(X a)"], ["(X a)"], **params)
