"""Sentences whose enhanced edges are compared: over HTTP and as pages."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from tests.service.pages.reading import Page


def sentence(*words: str) -> str:
    """A sentence of words `id form head deps`."""
    rows = [each.split() for each in words]
    return "".join(f"{at}\t{form}\t_\t_\t_\t_\t{head}\tdep\t{deps}\t_\n" for at, form, head, deps in rows) + "\n"


WORDS = ("1 Ann 2 2:nsubj", "2 sang 0 0:root", "3 and 4 4:cc", "4 danced 2 2:conj")
GOLD = sentence("1 Ann 2 2:nsubj|4:nsubj", *WORDS[1:])
LACKING = sentence(*WORDS)
OTHER_HEAD = GOLD.replace("_\t4\tdep\t4:cc", "_\t2\tdep\t4:cc")
OTHER_EDGES = sentence("1 Ann 2 2:nsubj|4:obj", "2 sang 0 0:root", "3 and 4 2:cc", "4 danced 2 2:conj")
GAPPED = sentence("1 Bo 2 2:nsubj", "2 won 0 0:root", "3 Al 2 3.1:nsubj", "3.1 lost _ 2:conj").replace(
    "\t_\tdep\t2:conj", "\t_\t_\t2:conj"
)


def job(stage: Stage, gold: str, output: str, *metrics: str, form: str = "conllu") -> str:
    systems = [{"name": "A", "output": output}]
    return stage.job(format=form, metrics=list(metrics or ["enhanced"]), gold=gold, systems=systems)


def page_of(address: str, query: str = "") -> str:
    pages = address.replace("/v1/jobs/", "/j/").replace("/v1/submissions/", "/s/")
    return f"{pages}/sentences{query}"


def counted(page: str) -> list[str]:
    """The errors of each sentence of the list, of so many words where these are compared."""
    found = re.findall(r'errors: </span>(\d+)(?:<span class="of">(/\d+))?', page)
    return ["".join(each) for each in found]


def test_edges_that_are_missed_or_wrong_are_drawn_counted_and_listed(kept_stage: Stage) -> None:
    client = kept_stage.client()
    address = job(kept_stage, GOLD * 3 + GAPPED, OTHER_HEAD + LACKING + OTHER_EDGES + GAPPED)
    first = client.get(page_of(address)).text
    assert counted(first) == ["0", "1", "3", "0"]
    assert "0 missed, 0 wrong of 5 enhanced edges" in first
    assert "No enhanced edge is wrong." in first
    second = client.get(page_of(address, "?n=2")).text
    assert "1 missed, 0 wrong of 4 enhanced edges" in second
    assert [row for row in Page(second).rows if row[-1] == "missed"] == [
        ["1", "Ann", "sang 2, danced 4", "nsubj, nsubj", "sang 2", "nsubj", "missed"]
    ]
    assert "no metric compares" not in second
    assert "Basic heads" not in second
    assert '<option value="head">' not in second
    third = client.get(f"{address}/trees?system=A&item=3").json["items"][0]
    assert (third["kind"], third["gold_words"]) == ("graph", None)
    assert third["wrong"] == [None, "label", None, "link", None]
    assert third["missed"] == [None, "label", None, "link", None]
    assert third["system"][2] == {"predicate": "0", "argument": "2", "label": "root"}
    assert "1 missed, 2 wrong of 5 enhanced edges" in client.get(page_of(address, "?n=3")).text
    for query, items in {"wrong=any&order=-errors": [3, 2], "wrong=any&label=cc": [3], "wrong=label": [3]}.items():
        assert [each["item"] for each in client.get(f"{address}/trees?system=A&{query}").json["items"]] == items


def test_paths_through_empty_nodes_are_edges_and_the_nodes_have_their_form(kept_stage: Stage) -> None:
    client = kept_stage.client()
    address = job(kept_stage, GAPPED, GAPPED.replace("3.1:nsubj", "3.1:obj"))
    tree = client.get(f"{address}/trees?system=A").json["items"][0]
    assert tree["words"][3] == {"id": "3.1", "form": "lost"}
    assert tree["system"][2] == {"predicate": "2", "argument": "3", "label": "conj>obj"}
    page = client.get(page_of(address)).text
    assert all(f">{word}</text>" in page for word in ("lost", "3.1"))
    assert "a path through empty nodes is one edge" in page
    gold = GAPPED.replace("0\tdep", "0\troot")
    trees = client.get(page_of(job(kept_stage, gold, gold.replace("2\tdep", "3\tdep", 1), "attachment"))).text
    assert ">lost</text>" in trees
    assert "1 of 3 words wrong" in trees
    assert counted(trees) == ["1/3"]


def test_sentences_that_are_divided_in_another_way(kept_stage: Stage) -> None:
    """Edges from words of another sentence have no end there; a word that gold lacks stands alone."""
    first, last = ("1 Ann 2 2:nsubj", "2 sang 0 0:root"), sentence("1 so 0 0:root")
    gold = sentence(*first) + sentence("1 Bo 2 2:nsubj", "2 can 0 0:root", "3 not 2 2:neg") + last
    output = sentence(*first, "3 Bo 2 2:nsubj", "4 cannot 2 2:conj") + last
    client = kept_stage.client()
    address = job(kept_stage, gold, output)
    trees = client.get(f"{address}/trees?system=A").json["items"]
    assert [tree["wrong"] for tree in trees] == [[None, None], ["link", "word"], [None]]
    assert [tree["missed"] for tree in trees] == [[None, None], ["link", "word", "word"], [None]]
    assert trees[1]["system"] == [
        {"predicate": None, "argument": "1", "label": "nsubj"}, {"predicate": None, "argument": "2", "label": "conj"},
    ]  # fmt: skip
    assert trees[1]["pairs"] == [[0, 0]]
    assert counted(client.get(page_of(address, "?n=2")).text) == ["0", "5", "0"]
    assert [each["item"] for each in client.get(f"{address}/trees?system=A&label=conj").json["items"]] == [2]
    task = SharedTask(kept_stage, metrics=["enhanced"], parts={"en": {"gold": gold}}, feedback="items")
    team = task.team()
    submitted = task.submit(team, output)
    own = team.get(f"{submitted}/trees").json["items"]
    assert [tree["wrong"] for tree in own] == [[None, None, "wrong", None], [None]]
    assert counted(team.get(page_of(submitted)).text) == ["1", "0"]
    assert team.get(f"{submitted}/items?wrong=any").json["items"][0]["item"] == 1


@pytest.mark.parametrize(
    ("metrics", "counts", "words"),
    [
        (["enhanced", "ud"], ["0"], "Basic heads, which UD compares, are neither drawn nor counted here."),
        (["ud", "enhanced"], ["1/4"], "Enhanced edges, which enhanced compares, are neither drawn nor counted here."),
    ],
)
def test_the_first_metric_decides_between_heads_and_edges(
    kept_stage: Stage, metrics: list[str], counts: list[str], words: str
) -> None:
    gold, output = (text.replace("0\tdep", "0\troot") for text in (GOLD, OTHER_HEAD))
    client = kept_stage.client()
    page = client.get(page_of(job(kept_stage, gold, output, *metrics))).text
    assert counted(page) == counts
    assert words in page
    first = {"metrics": ["ud", "enhanced"], "main_score": f"{metrics[0]}.{'elas' if counts == ['0'] else 'las'}_f1"}
    task = SharedTask(kept_stage, parts={"en": {"gold": gold}}, **first)
    page = task.organiser.get(page_of(task.submit(None, output))).text
    assert counted(page) == counts
    assert words in page


def test_edges_after_a_transform_are_not_those_that_are_shown(kept_stage: Stage) -> None:
    request: dict[str, Any] = {"metrics": ["enhanced"], "transforms": ["heads"], "gold": GOLD}
    address = kept_stage.job(format="conllu", systems=[{"name": "A", "output": OTHER_HEAD}], **request)
    page = kept_stage.client().get(page_of(address)).text
    assert "no metric compares its heads" in page
    assert counted(page) == []


def test_a_team_sees_which_of_its_edges_are_wrong_from_items_on(kept_stage: Stage) -> None:
    gold = GOLD.replace("4:nsubj", "4:secret")
    task = SharedTask(kept_stage, metrics=["enhanced"], parts={"en": {"gold": gold}}, feedback="items")
    team = task.team()
    address = task.submit(team, OTHER_EDGES)
    for level, wrong in (("items", [None, "wrong", None, "wrong", None]), ("scores", None)):
        task.organiser.patch(task.address, json={"feedback": level}, headers={"If-Match": "*"})
        tree = team.get(f"{address}/trees").json["items"][0]
        assert (tree["kind"], tree["wrong"], tree["gold"], tree["missed"]) == ("graph", wrong, None, None)
        page = team.get(page_of(address)).text
        assert ("2 of 5 enhanced edges wrong" in page) == (level == "items")
        assert counted(page) == (["2"] if level == "items" else [])
        assert "secret" not in page
        assert team.get(page_of(address, "?wrong=any")).status_code == (200 if level == "items" else 403)
    assert "secret" in task.organiser.get(page_of(address)).text


def test_expressions_stand_above_the_edges(kept_stage: Stage) -> None:
    head = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE\n"
    gold, output = (head + re.sub(r"\n(?=\d|\n)", "\t*\n", text) for text in (GOLD, LACKING))
    found: Any = kept_stage.client().get(page_of(job(kept_stage, gold, output, "mwe", "enhanced", form="cupt"))).text
    assert "<h3>Expressions</h3>" in found
    assert "1 missed, 0 wrong of 4 enhanced edges" in found


def test_sentences_that_cannot_be_read_have_no_edges(kept_stage: Stage) -> None:
    """One is lacking, of one only DEPS has a fault; the edges of those around them keep their marks."""
    lenient = {"name": "conllu", "unreadable": "sentence"}
    output = OTHER_EDGES + GOLD.replace("3\tand", "x\tand") + GOLD.replace("2:conj", "9:conj") + OTHER_EDGES
    request: dict[str, Any] = {"metrics": ["enhanced"], "systems": [{"name": "A", "output": output}]}
    address = kept_stage.job(format=lenient, gold=GOLD * 4, **request)
    client = kept_stage.client()
    trees = client.get(f"{address}/trees?system=A").json["items"]
    marked = [None, "label", None, "link", None]
    assert [tree["wrong"] for tree in trees] == [marked, [], [], marked]
    assert [tree["missed"] for tree in trees] == [marked, ["link"] * 5, ["link"] * 5, marked]
    assert [len(tree["words"]) for tree in trees] == [4, 0, 4, 4]
    assert counted(client.get(page_of(address)).text) == ["3", "5", "5", "3"]
