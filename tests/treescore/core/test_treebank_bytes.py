"""What is made of bytes again is what was read, for every format; and every metric finds the same in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import FORMATS, METRICS, Example, Outcome, make_format
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.treebank_bytes import flat_bytes, treebanks_of
from treescore.core.trees import NO_HEAD, DependencyTreebank, Sentences, Vocabulary
from treescore.evaluation.document import item_details, outcome_document
from treescore.evaluation.evaluate import Evaluation, ReadGold
from treescore.evaluation.spec import parse_spec

EXAMPLES = [
    pytest.param(name, example, id=f"{name}-{number}")
    for name, metric in sorted(METRICS.items())
    for number, example in enumerate(metric.examples)
]
INT64 = st.integers(-(2**63), 2**63 - 1)


def plain(value: Any) -> Any:
    """A value as lists and dicts, with the types of its arrays; a vocabulary as its strings."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.flags.writeable, value.tolist()
    if isinstance(value, Vocabulary):
        return value.strings, [value.get(string) for string in value.strings]
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value) if field.compare}
    if isinstance(value, Mapping):
        return [(key, plain(member)) for key, member in value.items()]
    return type(value)(map(plain, value)) if isinstance(value, list | tuple) else value


def again(read: ReadGold) -> ReadGold:
    """Gold from the bytes of itself."""
    return ReadGold(*treebanks_of(flat_bytes(read.vocabulary, read.treebanks)))


def found(outcome: Outcome, evaluation: Evaluation) -> Any:
    """All that an outcome says."""
    arrays = (outcome.rows, outcome.status, outcome.answered, outcome.tokens, outcome.problems, outcome.warnings)
    documents = item_details(outcome, evaluation.gold, 0, len(outcome.rows))
    return [plain(each) for each in arrays], documents, plain(outcome.slices()), plain(outcome.extra())


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_what_a_format_reads_comes_back(name: str) -> None:
    vocabulary = Vocabulary()
    treebank = make_format(name, {}).read(FORMATS[name].example, vocabulary, DEFAULT_LIMITS)
    own, [same] = treebanks_of(flat_bytes(vocabulary, [treebank]))
    assert type(same) is type(treebank)
    assert (plain(own), plain(same)) == (plain(vocabulary), plain(treebank))


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("conllu", {}, b"\n\n# newdoc\n# s = \xc3\xa9\n1\ta" + b"\t_" * 8 + b"\n\n\n# a = b\n1\tb" + b"\t_" * 8),
        ("bracketed", {"unreadable": "sentence", "layout": "lines"}, b"(S (X x))\n(S (X x)\n(S (X x)))\n"),
        ("bracketed", {}, b"(S (X x)\r(Y y))\n"),
    ],
)
def test_warnings_attributes_and_what_could_not_be_read_come_back(name: str, options: Any, text: bytes) -> None:
    vocabulary = Vocabulary()
    treebank = make_format(name, options).read(text, vocabulary, DEFAULT_LIMITS)
    assert treebank.sentences.warnings or treebank.sentences.unreadable
    assert plain(treebanks_of(flat_bytes(vocabulary, [treebank]))[1][0]) == plain(treebank)


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_every_metric_finds_the_same_in_gold_that_was_not_read_again(name: str, example: Example) -> None:
    request = example.request(name)
    spec = parse_spec(request)
    read = Evaluation(spec, example.gold()).read_gold
    assert plain(again(read)) == plain(read)
    for output in (example.output(), example.gold()):
        fresh = Evaluation(spec, example.gold())
        loaded = Evaluation(parse_spec(request), again(read))
        (expected, problems), (outcomes, warnings) = fresh.score(output), loaded.score(output)
        assert found(outcomes[name], loaded) == found(expected[name], fresh)
        assert plain(warnings) == plain(problems)
        entry = spec.entries[0]
        assert outcome_document(entry, outcomes[name]) == outcome_document(entry, expected[name])
        assert plain(loaded.absent(loaded.spec.entries[0])) == plain(fresh.absent(entry))


def test_what_gold_alone_decides_of_a_comparison_comes_back() -> None:
    example = METRICS["ud"].examples[0]
    read = Evaluation(parse_spec(example.request("ud")), example.gold()).read_gold
    (gold,), (same,) = read.treebanks, again(read).treebanks
    assert plain(gold.kept) == plain(same.kept)
    assert [*same.kept] == ["surface_of", "columns_compared"]
    assert same.kept["columns_compared"].upos is same.upos


def test_stages_that_entries_share_are_kept_once() -> None:
    steps = ["drop-traces", {"name": "strip-functions", "on": "system"}]
    request = {"format": "bracketed", "transforms": steps, "metrics": ["parseval", "leaf_ancestor"]}
    gold = b"(S (NP-SBJ (-NONE- *)) (VP (V go)))\n"
    read = Evaluation(parse_spec(request), gold).read_gold
    kept = again(read).treebanks
    assert len(read.treebanks) == len(kept) == 3
    assert kept[0] is not kept[1]
    assert kept[1] is kept[2]
    loaded, fresh = Evaluation(parse_spec(request), again(read)), Evaluation(parse_spec(request), gold)
    (outcomes, _), (expected, _) = loaded.score(gold), fresh.score(gold)
    for key in expected:
        assert found(outcomes[key], loaded) == found(expected[key], fresh)


def test_gold_is_neither_read_nor_checked_nor_transformed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = parse_spec({"format": "bracketed", "transforms": ["drop-traces"], "metrics": ["parseval"]})
    read = Evaluation(spec, b"(S (X x))\n").read_gold
    [entry] = spec.entries
    for owner, method in (
        (spec.format.format, "read"),
        (entry.metric, "check_gold"),
        (entry.steps[0].transform, "apply"),
    ):
        monkeypatch.setattr(type(owner), method, None)
    assert Evaluation(spec, read).read_gold.treebanks[1] is not None


@given(
    numbers=st.lists(INT64, max_size=5),
    strings=st.lists(st.text(), max_size=6, unique=True),
    names=st.lists(st.one_of(st.none(), st.text()), max_size=4),
)
def test_any_numbers_and_strings_come_back(numbers: list[int], strings: list[str], names: list[str | None]) -> None:
    vocabulary = Vocabulary()
    vocabulary.numbers(strings)
    heads = np.array(numbers, np.int64)
    forms = np.full(len(heads), NO_HEAD)
    sentences = Sentences(sent_ids=names, attributes={"\n\0": names[:1]})
    treebank = DependencyTreebank.of_columns(
        vocabulary, np.array([0, len(heads)]), forms=forms, heads=heads, deprels=forms, sentences=sentences
    )
    other = replace(treebank, heads=forms)
    own, both = treebanks_of(flat_bytes(vocabulary, [treebank, other]))
    assert (plain(own), plain(both)) == (plain(vocabulary), plain([treebank, other]))


def test_numbers_are_kept_small_and_once() -> None:
    column = np.arange(100)
    treebank = DependencyTreebank.of_columns(
        Vocabulary(), np.array([0, 100]), forms=column, heads=column, deprels=column, lemmas=column
    )
    one, two = (len(flat_bytes(treebank.vocabulary, [treebank] * copies)) for copies in (1, 2))
    assert two - one < 20
    assert one < 2000
