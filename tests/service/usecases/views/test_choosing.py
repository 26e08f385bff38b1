"""Chosen sentences are those that a look at all documents finds."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from service.config import load_config
from service.context import Context
from service.contract.jobs import JobRequest, JobTreesQuery
from service.errors import NotFound, Unprocessable
from service.usecases.jobs import job_trees, submit_job
from service.usecases.views import choosing
from tests.fixtures.contexts import ORGANISER, opened, work_of
from tests.fixtures.gap_metric import NAME
from tests.fixtures.requests import loaded
from tests.fixtures.servers import Valkey
from tests.treescore.core.test_discontinuity import random_text
from treescore.metrics.shared.examples import sdp

Tree = dict[str, Any]
RELATIONS = ("nsubj", "nmod", "nmod:poss", "obj")
WORDS = ("ab", "cd", "Ef", "gh")
LABELS = ("NP", "VP", "X")
LACKING = ("word", "span", "link")


def sentence(rng: random.Random, words: list[str]) -> str:
    """A random tree over these words."""
    root = rng.randrange(len(words)) + 1
    lines = []
    for place, form in enumerate(words, 1):
        head = 0 if place == root else root
        relation = "root" if place == root else rng.choice(RELATIONS)
        lines.append(f"{place}\t{form}\t_\t_\t_\t_\t{head}\t{relation}\t_\t_\n")
    return "".join(lines) + "\n"


def dependencies(rng: random.Random) -> tuple[str, str, list[str]]:
    """Gold and an output that joins some words, and some sentences."""
    gold, output = "", ""
    carried: list[str] = []
    for _ in range(40):
        words = [rng.choice(WORDS) for _ in range(rng.randrange(1, 6))]
        gold += sentence(rng, words)
        if len(words) > 1 and rng.random() < 0.3:
            words = [words[0] + words[1], *words[2:]]
        carried += words
        if rng.random() < 0.7:
            output += sentence(rng, carried)
            carried = []
    return gold, output + (sentence(rng, carried) if carried else ""), ["ud"]


def constituents(rng: random.Random) -> tuple[str, str, list[str]]:
    """Gold and an output over the same words."""

    def tree(words: list[str]) -> str:
        if len(words) == 1:
            return f"({rng.choice(LABELS)} {words[0]})"
        cut = rng.randrange(1, len(words))
        return f"({rng.choice(LABELS)} {tree(words[:cut])} {tree(words[cut:])})"

    texts = [[rng.choice(WORDS) for _ in range(rng.randrange(1, 7))] for _ in range(40)]
    gold, output = ("".join(tree(words) + "\n" for words in texts) for _ in range(2))
    return gold, output, ["parseval"]


def discontinuous(rng: random.Random) -> tuple[str, str, list[str]]:
    """The same with gaps."""
    lengths = [rng.randrange(1, 7) for _ in range(40)]
    words = {f"{at}=w": rng.choice(WORDS) for at in range(7)}

    def text() -> str:
        found = random_text(rng, lengths)
        for leaf, word in words.items():
            found = found.replace(leaf, leaf[:-1] + word)
        return found.replace("(A", "(NP").replace("(B", "(VP")

    return text(), text(), [NAME]


def graphs(rng: random.Random) -> tuple[str, str, list[str]]:
    """Gold and an output over the same words."""
    texts = [[rng.choice(WORDS) for _ in range(rng.randrange(1, 7))] for _ in range(40)]

    def graph(words: list[str]) -> str:
        flags = [rng.choice("+-") for _ in words]
        roles = [[rng.choice(("_", *LABELS)) for flag in flags if flag == "+"] for _ in words]
        rows = zip(words, flags, roles, strict=True)
        return sdp(*(" ".join([word, rng.choice("+-"), flag, *cells]) for word, flag, cells in rows))

    gold, output = ("".join(map(graph, texts)) for _ in range(2))
    return gold, output, ["semantic_dependencies"]


def enhanced(rng: random.Random) -> tuple[str, str, list[str]]:
    """Dependencies with enhanced edges from anywhere in the sentence."""

    def with_edges(text: str) -> str:
        sentences = []
        for lines in map(str.splitlines, text.split("\n\n")):
            ends = [range(len(lines) + 1)] * 2
            edges = ["|".join(f"{rng.choice(each)}:{rng.choice(RELATIONS)}" for each in ends) for _ in lines]
            pairs = zip(lines, edges, strict=True)
            sentences.append("".join(f"{line[:-3]}{rng.choice((found, '_'))}\t_\n" for line, found in pairs))
        return "\n".join(sentences)

    gold, output, _ = dependencies(rng)
    return with_edges(gold), with_edges(output), ["enhanced"]


MADE = {
    "sdp": graphs, "conllu": dependencies, "bracketed": constituents, "discbracket": discontinuous,
    "enhanced": enhanced,
}  # fmt: skip


@pytest.fixture(scope="module", params=sorted(MADE))
def trees(
    request: pytest.FixtureRequest, valkey: Valkey, tmp_path_factory: pytest.TempPathFactory, gap_metric: str
) -> Iterator[Callable[..., list[Tree]]]:
    """The trees of a job over two systems, asked page by page."""
    gold, output, metrics = MADE[request.param](random.Random(7))  # noqa: S311 - chooses test data
    systems = [{"name": "A", "output": output}, {"name": "gold", "output": gold}]
    form = "conllu" if request.param == "enhanced" else request.param
    job = {"format": form, "gold": gold, "systems": systems, "metrics": metrics}
    config = load_config(
        {"TREESCORE_DATA_DIR": str(tmp_path_factory.mktemp("trees")), "TREESCORE_REDIS_URL": valkey.url}
    )
    with opened(config) as context:
        job_id = submit_job(context, ORGANISER, loaded(JobRequest, job))[0]
        work_of(context)()
        yield partial(asked_by_page, context, job_id)


def asked_by_page(context: Context, job_id: str, limit: int = 7, **asked: Any) -> list[Tree]:
    """The trees of a job."""
    found: list[Tree] = []
    cursor = None
    while True:
        page = job_trees(
            context, ORGANISER, job_id, JobTreesQuery(**{"system": "A", "limit": limit, "cursor": cursor, **asked})
        )
        found += [dict(item) for item in page.items]
        cursor = page.next
        if cursor is None:
            return found


def errors(tree: Tree) -> int:
    """All errors of both sides, those that both show once."""
    return sum(each is not None for each in tree["wrong"]) + sum(each in LACKING for each in tree["missed"])


def marks(tree: Tree) -> set[str | None]:
    """All marks of both sides."""
    return {*tree["wrong"], *tree["missed"]}


def labelled(tree: Tree, side: str, found: str) -> Iterator[tuple[str, str | None]]:
    """Labels of a side with their marks."""
    for row, mark in zip(tree[side], tree[found], strict=True):
        yield row.get("deprel") or row.get("label"), mark


def test_all_trees_come_in_order_whatever_the_page(trees: Callable[..., list[Tree]], monkeypatch: Any) -> None:
    found = trees(limit=1000)
    assert [tree["item"] for tree in found] == list(range(1, 41))
    assert trees(limit=7) == found
    monkeypatch.setattr(choosing, "ROWS_PER_ANSWER", 20)
    assert trees(limit=999) == found
    assert [trees(item=number)[0] for number in (1, 3, 4, 40)] == [found[0], found[2], found[3], found[39]]
    with pytest.raises(NotFound):
        trees(item=41)


def test_words_of_the_output_are_each_shown_once(trees: Callable[..., list[Tree]]) -> None:
    for tree in trees():
        joined = ["".join(word["form"] for word in tree[name] or tree["words"]) for name in ("words", "gold_words")]
        if tree["pairs" if "pairs" in tree else "gold_words"] is None:
            assert joined[0] == joined[1]
        for own, of_gold in tree.get("pairs") or ():
            assert tree["words"][own]["form"] == tree["gold_words"][of_gold]["form"]
    forms = "".join(word["form"] for tree in trees() for word in tree["words"])
    assert forms == "".join(word["form"] for tree in trees(system="gold") for word in tree["words"])


def test_sentences_are_chosen_by_kinds_of_errors(trees: Callable[..., list[Tree]]) -> None:
    found = trees(limit=1000)
    assert trees(wrong="any") == [tree for tree in found if errors(tree)]
    for kind, other in (("head", "both"), ("label", "both"), ("span", "crossing")):
        assert trees(wrong=kind) == [tree for tree in found if marks(tree) & {kind, other}]


def test_sentences_are_chosen_by_labels(trees: Callable[..., list[Tree]]) -> None:
    found = trees(limit=1000)
    for label in ("nmod", "nsubj", "NP", "nm"):
        for wrong in (None, "any"):
            expected = [
                tree
                for tree in found
                if any(
                    (name == label or name.startswith(label + ":")) and (wrong is None or mark)
                    for sides in (("system", "wrong"), ("gold", "missed"))
                    for name, mark in labelled(tree, *sides)
                )
            ]
            assert trees(label=label, wrong=wrong) == expected


def test_sentences_are_chosen_by_words_and_ordered_by_errors(trees: Callable[..., list[Tree]]) -> None:
    found = trees(limit=1000)
    texts = [" ".join(word["form"] for word in tree["gold_words"] or tree["words"]).casefold() for tree in found]
    for asked in ("EF", "b", "ab cd", "d  e", "none"):
        wanted = " ".join(asked.casefold().split())
        assert trees(q=asked) == [tree for tree, text in zip(found, texts, strict=True) if wanted in text]
    assert trees(order="-errors") == sorted(found, key=lambda tree: -errors(tree))


def test_two_systems_differ_where_one_is_wrong_and_the_other_is_gold(trees: Callable[..., list[Tree]]) -> None:
    found = trees(limit=1000)
    assert trees(differs_from="gold") == [tree for tree in found if errors(tree)]
    assert trees(differs_from="A") == []
    with pytest.raises(Unprocessable):
        trees(differs_from="gold", cursor="3")
