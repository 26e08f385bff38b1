"""Trees over HTTP: what each level shows, how sentences are chosen, and that gold does not reach who may not see it."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from service.store import submissions
from tests.contract.checking import CheckedClient
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from tests.fixtures.requests import DEPENDENCIES

BELOW_ITEMS = ("none", "status", "rounded", "scores")
MARK = "zzgold"


def conllu(*sentences: str, name: str = "") -> str:
    """Sentences of words `form head relation`, parted by `;`; a relation of gold may carry a marker in MISC."""
    text = ""
    for number, sentence in enumerate(sentences, 1):
        text += f"# sent_id = {name}{number}\n" if name else ""
        for place, word in enumerate(sentence.split(";"), 1):
            form, head, relation = word.split()
            text += f"{place}\t{form}\t_\tX\t_\t_\t{head}\t{relation}\t_\t{MARK if name else '_'}\n"
        text += "\n"
    return text


GOLD = conllu("can 2 aux;not 0 root;go 2 zzgold", "up 0 root", "the 2 det;dog 0 root;barks 2 acl", name=MARK)
# the same text in other words and sentences: cannot = can not, and the first two sentences are one
OUTPUT = conllu("cannot 2 aux;go 0 root;up 2 advmod", "the 2 det;dog 3 nsubj;barks 0 root")
UD: dict[str, Any] = {"metrics": ["ud"], "parts": {"en": {"gold": GOLD}}}
QUERIES = (
    *("", "?limit=1", "?limit=1&cursor=1", "?item=1", "?item=2", "?item=3", "?q=GO+UP", "?label=root", "?label=zzgold"),
    *("?wrong=any", "?wrong=head", "?wrong=span&q=x", "?order=-errors", "?cursor=x", "?label=det&cursor=1"),
)


def shown(answer: TestResponse) -> tuple[int, str]:
    """Status and body without what names the request and the submission."""
    text = "" if answer.status_code >= 400 and answer.json is None else answer.text
    return answer.status_code, text.partition('"instance"')[0]


def all_shown(client: CheckedClient, at: str) -> list[tuple[int, str]]:
    """What a client sees of the trees of a submission, and of its items that are chosen alike."""
    addresses = [at + "/trees" + query for query in QUERIES]
    addresses += [at + "/items" + query for query in QUERIES if "item" not in query and "=" in query]
    return [shown(client.get(address)) for address in addresses]


def items(answer: TestResponse) -> list[dict[str, Any]]:
    """The items of an answer."""
    assert answer.status_code == 200, answer.text
    return list(answer.json["items"])


def numbers(answer: TestResponse) -> list[int]:
    """The numbers of the items."""
    return [item["item"] for item in items(answer)]


@pytest.mark.parametrize(
    "level", [*(pytest.param(level, marks=pytest.mark.slow) for level in BELOW_ITEMS[:-1]), BELOW_ITEMS[-1]]
)
def test_below_items_trees_are_the_same_for_every_gold(stage: Stage, level: str) -> None:
    seen = []
    golds = (
        GOLD,
        conllu("can 0 root;not 1 zzgold;go 2 zzgold", "up 0 root", "the 3 det;dog 3 nsubj;barks 0 root", name=MARK),
        conllu("cannot 2 aux;go 0 root;up 2 advmod", "the 2 det;dog 3 nsubj;barks 0 root", name=MARK),
        conllu("no 2 aux;fit 0 root", name=MARK),
    )
    for gold in golds:
        task = SharedTask(stage, **UD | {"parts": {"en": {"gold": gold}}}, feedback=level)
        team = task.team()
        seen.append(all_shown(team, task.submit(team, OUTPUT)))
    assert seen[0][0][0] == 200
    assert seen[0] == seen[1] == seen[2] == seen[3]
    assert MARK not in repr(seen[0]).replace("label=zzgold", "")


def test_items_mark_the_output_and_tell_nothing_of_golds_words(stage: Stage) -> None:
    task = SharedTask(stage, **UD, feedback="items")
    team = task.team()
    at = task.submit(team, OUTPUT)
    answers = all_shown(team, at)
    assert MARK not in repr(answers).replace("label=zzgold", "")
    [first, second] = items(team.get(at + "/trees"))
    # `cannot` is two words in gold: it looks like a right one
    assert first["wrong"] == [None, "wrong", "wrong"]
    assert second["wrong"] == [None, "wrong", "wrong"]
    assert first["gold"] is first["gold_words"] is first["pairs"] is first["missed"] is None
    for kind in ("head", "label", "span"):
        refused = team.get(f"{at}/trees?wrong={kind}")
        assert (refused.status_code, refused.json["type"]) == (403, "/problems/not-shown")


def test_at_items_a_wrong_relation_looks_like_a_wrong_head(stage: Stage) -> None:
    seen = []
    for relation, head in (("amod", 2), ("nmod", 3)):
        gold = conllu(f"the {head} {relation};dog 0 root;barks 2 acl", name=MARK)
        task = SharedTask(stage, parts={"en": {"gold": gold}}, feedback="items")
        team = task.team()
        at = task.submit(team, conllu("the 2 nmod;dog 0 root;barks 2 acl"))
        seen.append([shown(team.get(at + "/trees" + query)) for query in QUERIES])
    assert seen[0] == seen[1]
    assert '"wrong":["wrong",null,null]' in seen[0][0][1]


def test_at_gold_both_halves_stand_by_golds_sentences(stage: Stage) -> None:
    task = SharedTask(stage, **UD, feedback="gold")
    team = task.team()
    at = task.submit(team, OUTPUT)
    [first, second, third] = items(team.get(at + "/trees"))
    assert [first["sent_id"], second["sent_id"]] == ["zzgold1", "zzgold2"]
    assert [word["form"] for word in first["words"]] == ["cannot", "go"]
    assert [word["form"] for word in first["gold_words"]] == ["can", "not", "go"]
    assert first["pairs"] == [[1, 2]]
    assert first["wrong"] == ["word", "both"]
    assert first["missed"] == ["word", "word", "both"]
    page = team.get(at.replace("/v1/submissions/", "/s/") + "/sentences").text
    assert "2 missed, 2 wrong of 2 words" in page
    assert '<span class="vh">errors: </span>4<' in page  # by which the list is ordered
    # `up` hangs from a word of another sentence of gold
    assert second["words"] == [{"id": "1", "form": "up"}]
    assert second["system"] == [{"head": None, "deprel": "advmod"}]
    assert second["gold_words"] is second["pairs"] is None
    assert third["gold_words"] is None
    assert third["missed"] == third["wrong"] == [None, "both", "both"]
    assert numbers(team.get(at + "/trees?wrong=head&label=zzgold")) == [1]
    assert numbers(team.get(at + "/items?order=-errors")) == [1, 3, 2]
    assert numbers(task.organiser.get(at + "/trees?item=3")) == [3]


def test_an_output_that_does_not_fit_has_its_trees(stage: Stage) -> None:
    for level in ("none", "items", "gold"):
        task = SharedTask(stage, feedback=level)
        team = task.team()
        at = task.submit(team, OUTPUT)
        assert [item["wrong"] for item in items(team.get(at + "/trees"))] == [None, None]
    assert team.get(at).json["state"] == "failed"
    assert numbers(team.get(at + "/trees?q=barks")) == [2]


def test_cursors_belong_to_a_choice(stage: Stage) -> None:
    task = SharedTask(stage, **UD, feedback="gold")
    at = task.submit(None, OUTPUT)
    first = task.organiser.get(at + "/trees?wrong=any&limit=1")
    cursor = first.json["next"]
    assert numbers(first) == [1]
    assert numbers(task.organiser.get(f"{at}/trees?wrong=any&limit=5&cursor={cursor}")) == [2, 3]
    for query in (f"cursor={cursor}", f"wrong=head&cursor={cursor}", "wrong=any&cursor=1", f"q=o&cursor={cursor}"):
        refused = task.organiser.get(f"{at}/trees?{query}")
        assert (refused.status_code, refused.json["detail"][:15]) == (422, "Invalid cursor.")
    assert task.organiser.get(f"{at}/items?wrong=any&cursor={cursor}").status_code == 422


def test_a_job_shows_constituents_and_where_two_systems_differ(stage: Stage) -> None:
    at = stage.job()
    client = stage.client()
    [tree] = items(client.get(at + "/trees?system=B"))
    assert tree["kind"] == "constituents"
    assert [(span["label"], span["depth"]) for span in tree["system"]] == [
        ("TOP", 0), ("S", 1), ("NP", 2), ("VP", 2), ("NP", 3),
    ]  # fmt: skip
    assert tree["wrong"] == [None, None, "span", "crossing", None]
    assert tree["missed"] == [None, None, "span", "span", None]
    assert tree["words"][0] == {"id": "1", "form": "the", "tag": "DT"}
    assert numbers(client.get(at + "/trees?system=B&wrong=span&label=NP")) == [1]
    assert numbers(client.get(at + "/trees?system=A&differs_from=B")) == [1]
    assert numbers(client.get(at + "/trees?system=A&differs_from=A")) == []
    assert numbers(client.get(at + "/items?system=B&metric=parseval&wrong=span")) == [1]
    assert client.get(at + "/trees?system=C").status_code == 404
    assert client.get(at + "/trees?system=B&item=2").status_code == 404


def test_a_job_shows_empty_nodes_and_multiword_tokens(stage: Stage) -> None:
    text = "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n" + conllu("de 3 case;le 3 det;chat 0 root").rstrip("\n") + "\n3.1\te"
    text += "\t_\t_\t_\t_\t_\t_\t3:dep\t_\n\n"
    at = stage.job(**DEPENDENCIES | {"gold": text, "systems": [{"name": "A", "output": text}], "metrics": ["ud"]})
    [tree] = items(stage.client().get(at + "/trees?system=A"))
    assert tree["words"][-1] == {"id": "3.1", "form": "e"}
    assert tree["system"][-1] == {"head": None, "deprel": None}
    assert tree["tokens"] == [{"first": "1", "last": "2", "form": "du"}]
    assert tree["wrong"] == tree["missed"] == [None] * 4
    assert tree["gold_words"] is None


def test_a_job_shows_alignments(stage: Stage) -> None:
    job = {"format": "pharaoh", "gold": "0-0 1-1 2p2\n0-0\n", "metrics": ["alignment"]}
    at = stage.job(**job, systems=[{"name": "A", "output": "0-0 1-2\n0-0\n"}])
    first, second = items(stage.client().get(at + "/trees?system=A"))
    assert first["system"] == [
        {"source": 1, "target": 1, "sure": True}, {"source": 2, "target": 3, "sure": True},
    ]  # fmt: skip
    assert first["wrong"] == [None, "link"]
    assert first["missed"] == [None, "link", None]
    assert first["gold"][2] == {"source": 3, "target": 3, "sure": False}
    assert first["words"] is first["target_words"] is None
    assert second["wrong"] == [None]
    assert numbers(stage.client().get(at + "/trees?system=A&wrong=any")) == [1]


def test_trees_go_with_outputs(stage: Stage) -> None:
    task = SharedTask(stage, feedback="items")
    team = task.team()
    at, other = task.submit(team), task.submit(team, name="other")
    assert team.get(other + "/trees").status_code == 200
    with stage.context.store.write() as db:
        submissions.drop_outputs(db, [other.rpartition("/")[2]], stage.context.now())
    assert team.get(other + "/trees").status_code == 410
    assert team.get(other + "/items?wrong=any").status_code == 410
    assert team.get(other + "/items").status_code == 200
    assert team.delete(at).status_code == 204
    assert team.get(at + "/trees").status_code == 410


def test_after_a_revision_an_output_that_never_fitted_answers_like_one_that_does(stage: Stage) -> None:
    task = SharedTask(stage, **UD, feedback="none")
    team = task.team()
    fits, fails = task.submit(team, OUTPUT), task.submit(team, OUTPUT.replace("barks", "sleeps"), name="other")
    changed = {"parts": {"en": {"gold": GOLD.replace("acl", "dep")}}, "reason": "another relation"}
    assert task.organiser.post(task.address + "/revisions", json=changed).status_code in (201, 202)
    for query in ("", "?part=en&limit=1", "?part=en&item=2", "?item=3", "?part=de", "?part=en&label=det&limit=1"):
        one, other = (shown(team.get(f"{at}/trees{query}")) for at in (fits, fails))
        assert one[0] == other[0], query
        if one[0] != 200:
            assert one == other
