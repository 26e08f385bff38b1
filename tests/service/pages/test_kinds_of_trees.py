"""Trees of rarer kinds over HTTP: documents, pictures, and what a team sees of its own."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from service.pages.word_lines import MOST_WORDS, annotation_of
from tests.conftest import ROOT
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from tests.fixtures.gap_metric import NAME as GAP_METRIC
from tests.service.pages.reading import Page


def golden(name: str) -> Any:
    return json.loads((ROOT / "tests" / "golden" / f"field_{name}.json").read_text(encoding="utf-8"))


GAPS = golden("discontinuous")["cases"]["all_three"]
GRAPHS = golden("semantic")["sdp"]
MWE = golden("mwe")["cases"]["seen_and_variants"]
TRAINED = {"name": "mwe", "params": {"train": MWE["train"]}}
LABEL = GRAPHS["label_wrong"]
WORD = "1\tchat\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
ITSELF = "1\tgo\tgo\tV\t+\t+\t_\tARG1\n\n"
PARALLEL = {"source": WORD, "target": WORD, "alignment": "0-0\n"}
KINDS: dict[str, tuple[str, Any, Any, Any, str, int]] = {
    "gaps": ("export", GAP_METRIC, GAPS["gold"]["export"], GAPS["system"]["export"], "discontinuous", 1),
    "a graph": ("sdp", "semantic_dependencies", LABEL["gold"], LABEL["system"], "graph", 1),
    "a lacking graph": (
        "sdp", "semantic_dependencies", GRAPHS["missing_graph"]["gold"], GRAPHS["missing_graph"]["system"], "graph", 2,
    ),
    "a parallel treebank": ("parallel", "parallel_treebank", PARALLEL, PARALLEL, "alignment", 1),
    "its own argument": ("sdp", "semantic_dependencies", ITSELF, ITSELF, "graph", 1),
}  # fmt: skip


@pytest.mark.usefixtures("gap_metric")
@pytest.mark.parametrize(("form", "metric", "gold", "output", "kind", "item"), KINDS.values(), ids=KINDS)
def test_a_job_has_documents_and_pages_of_its_trees(
    kept_stage: Stage, form: str, metric: Any, gold: Any, output: Any, kind: str, item: int
) -> None:
    job = kept_stage.job(format=form, metrics=[metric], gold=gold, systems=[{"name": "A", "output": output}])
    client = kept_stage.client()
    assert client.get(job).json["state"] == "succeeded"
    trees = client.get(f"{job}/trees?system=A").json["items"]
    assert {tree["kind"] for tree in trees} == {kind}
    page = job.replace("/v1/jobs/", "/j/")
    for address in (page, f"{page}/sentences?system=A&item={item}"):
        assert Page(client.get(address).text).forbidden == []


def test_what_is_told_of_trees_with_gaps(kept_stage: Stage, gap_metric: str) -> None:
    outputs = {"output": ("export", GAPS["system"]["export"]), "plain": ("discbracket", GAPS["system"]["discbracket"])}
    systems = [{"name": name, "format": form, "output": text} for name, (form, text) in outputs.items()]
    job = kept_stage.job(format="export", metrics=[gap_metric], gold=GAPS["gold"]["export"], systems=systems)
    client = kept_stage.client()
    first = client.get(f"{job}/trees?system=output").json["items"][0]
    assert first["gold"][1] == {
        "label": "S", "function": "", "parent": 0, "depth": 1,
        "words": [{"word": 2, "function": "HD"}, {"word": 3, "function": "SB"}],
    }  # fmt: skip
    assert (first["missed"], first["wrong"]) == ([None, None, "span", None], [None, None, None, "span"])
    assert first["words"][2] == {"id": "3", "form": "hat", "tag": "VAFIN"}
    # The sentences of discbracket have no names, so that they are compared in their order.
    assert client.get(f"{job}/trees?system=plain").json["items"][0]["wrong"] == first["wrong"]
    labelled = client.get(f"{job}/trees?system=output&label=VP&wrong=span").json["items"]
    assert [tree["item"] for tree in labelled] == [1, 3]
    page = client.get(job.replace("/v1/jobs/", "/j/") + "/sentences?system=output&item=1").text
    assert 'class="bridge"' in page
    assert "VP-OC" in page
    assert "1 missed, 1 wrong of 4 constituents" in page
    assert '<span class="vh">errors: </span>2<' in page  # by which the list is ordered
    assert "1 missed, 1 wrong of 4 constituents" in page
    assert '<span class="vh">errors: </span>2</span>' in page
    assert '<option value="head">' not in page


def test_what_is_told_of_graphs(kept_stage: Stage) -> None:
    systems = [{"name": "A", "output": LABEL["system"]}]
    job = kept_stage.job(format="sdp", metrics=["semantic_dependencies"], gold=LABEL["gold"], systems=systems)
    client = kept_stage.client()
    tree = client.get(f"{job}/trees?system=A").json["items"][0]
    assert (tree["sent_id"], tree["line"], tree["gold"][0]["label"]) == ("20000", 3, "ARG1")
    assert tree["system"][:2] == [
        {"predicate": "2", "argument": "1", "label": "ARG2"}, {"predicate": "0", "argument": "2", "label": "(top)"},
    ]  # fmt: skip
    assert tree["wrong"] == tree["missed"] == ["label", None, None, None, None, None]
    page = client.get(job.replace("/v1/jobs/", "/j/") + "/sentences?system=A&item=1").text
    assert "0 missed, 1 wrong of 6 edges" in page
    assert '<option value="span">' not in page


def test_an_edge_that_is_missed_or_added_is_said_to_be_so(kept_stage: Stage) -> None:
    case = GRAPHS["edge_missing_and_extra"]
    systems = [{"name": "A", "output": case["system"]}]
    job = kept_stage.job(format="sdp", metrics=["semantic_dependencies"], gold=case["gold"], systems=systems)
    page = kept_stage.client().get(job.replace("/v1/jobs/", "/j/") + "/sentences?item=1").text
    assert [row[-1] for row in Page(page).rows] == ["Wrong", "missed", "wrong"]
    assert "1 missed, 1 wrong of 6 edges and tops" in page


def test_trees_over_the_same_words_share_one_picture_also_where_a_tag_differs(kept_stage: Stage) -> None:
    """A file has one picture also of trees over other words, which stand one below the other."""
    same = "(S (NP (D the) (%s cat)) (VP (V sat)))\n"
    gold = "(S (NP (D the) (N cat)) (VP (V sat)))\n(S (X (N a) (N b)))\n" + same % "N"
    output = "(S (NP (D the) (J cat)) (VX (V sat)))\n(S (Y (N a) (N c)))\n" + same % "J"
    job = kept_stage.job(
        format="bracketed", metrics=["parseval"], gold=gold, systems=[{"name": "A", "output": output}]
    ).replace("/v1/jobs/", "/j/")  # fmt: skip
    client = kept_stage.client()
    page = client.get(f"{job}/sentences?n=3").text
    assert "No constituent is wrong." in page  # tags are not drawn
    assert "Nothing" not in page
    for number, pictures, ways in ((1, 1, ("VP", "VX")), (2, 2, ("X", "Y"))):
        page = client.get(f"{job}/sentences?item={number}").text
        assert page.count('role="img"') == pictures
        svg = client.get(f"{job}/sentences/picture.svg?system=A&n={number}").text
        assert svg.partition("<title")[2].partition(">")[2].startswith(f"Sentence {number}</title>")
        assert all(f">{label}</text>" in svg for label in ways)
        ET.fromstring(svg)  # noqa: S314 - our own
        ids = re.findall(r' id="([^"]+)"', svg)
        assert len(ids) == len(set(ids))


OWN = {
    "graphs": (
        "sdp", "semantic_dependencies", GRAPHS["edge_missing_and_extra"], "1\tDogs\t_\t_\t-\t-\t_\n", "ARG", 0,
        {"edges": [dict(argument=3, argument_form="at", predicate=5, predicate_form="now", system_label="x")]},  # noqa: C408
    ),
    "expressions": (
        "cupt", TRAINED, MWE, "cut", "LVC", 3,
        {"expressions": [{"system_words": [1, 2, 3], "system_form": "cut it off", "system_category": "VPC.full"}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("form", "metric", "case", "shown", "hidden", "at", "own"), OWN.values(), ids=OWN)
def test_a_benchmark_gives_words_alone_and_shows_teams_their_own(
    kept_stage: Stage, form: str, metric: Any, case: Any, shown: str, hidden: str, at: int, own: Any
) -> None:
    parts = {"en": {"gold": case["gold"]}}
    task = SharedTask(kept_stage, format=form, metrics=[metric], parts=parts, publish_input="words")
    team = task.team()
    blind = team.get(f"{task.address}/parts/en/input").text
    assert shown in blind
    assert hidden not in blind
    address = task.submit(team, case["system"])
    sentence = team.get(f"{address.replace('/v1/submissions/', '/s/')}/sentences?n={at + 1}").text
    for words in ("words wrong", "Nothing is wrong") if form == "cupt" else ():
        assert words not in sentence
    if form == "cupt":  # a team sees gold at level gold alone
        assert listed(sentence) == [["cut it off", "wrong", "–", "VPC.full", "1 2 3"]]
        assert "0 agreed, 1 wrong." in sentence
        assert 'class="gold' not in sentence
    item = team.get(f"{address}/items").json["items"][at]
    assert {name: item[name] for name in own} == own
    for page in (task.address.replace("/v1/benchmarks/", "/b/") + "/about", address.replace("/v1/submissions/", "/s/")):
        assert team.get(page).status_code == 200


def test_a_training_text_stays_out_of_results_and_its_faults_have_their_place(kept_stage: Stage) -> None:
    client, system = kept_stage.client(), [{"name": "A", "output": MWE["system"]}]
    body: dict[str, Any] = {"format": "cupt", "metrics": [TRAINED], "gold": MWE["gold"], "systems": system}
    job = kept_stage.job(**body)
    done = client.get(job).json["results"]["systems"][0]["metrics"]["mwe"]
    assert "He took a long walk" not in json.dumps(done)
    assert done["signature"]["params"]["train"].startswith("sha256:")
    for train, code in (("train.cupt", None), (MWE["train"].replace("1:VPC.full", "one"), "cupt-bad-code")):
        answer = client.post("/v1/jobs", json={**body, "metrics": [{"name": "mwe", "params": {"train": train}}]})
        failed = answer.json if code is None else client.get(answer.headers["Location"]).json["failure"]
        assert failed["errors"][0]["pointer"] == "/metrics/0/params/train"
        assert code in (None, failed["errors"][0]["code"])


def cupt(*codes: str) -> str:
    """A sentence of these codes of expressions, over the same words each time."""
    lines = [f"{at}\tw{at}\t_\t_\t_\t_\t{at - 1}\tx\t_\t_\t{code}\n" for at, code in enumerate(codes, 1)]
    return (
        "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE\n" + "".join(lines) + "\n"
    )


STATES = [
    ["w1 w2", "agrees", "LVC.full", "LVC.full", "1 2"],
    ["w3", "agrees, other category", "IAV", "VID", "3"],
    ["w3 w5", "missed", "VID", "–", "3 5"],
    ["w5", "wrong", "–", "no category", "5"],
]
GOLD_AND_OUTPUT = cupt("1:LVC.full", "1", "2:VID;3:IAV", "*", "2"), cupt("1:LVC.full", "1", "2:VID", "*", "3")
KEYS = (["mwe"], [{"name": "mwe", "key": "verbal"}, {"name": "mwe", "key": "other"}], ["attachment", "mwe"])


def listed(page: str) -> list[list[str]]:
    """The rows of the table of expressions."""
    table = page.partition('aria-label="Expressions"')[2].partition("</table>")[0]
    return [row for row in Page(table).rows if row[0] != "Words"]


def counted(page: str) -> list[str]:
    """The errors of each sentence of the list, of so many words where these are compared."""
    found = re.findall(r'errors: </span>(\d+)(?:<span class="of">(/\d+))?', page)
    return ["".join(each) for each in found]


@pytest.mark.parametrize("metrics", KEYS)
def test_expressions_of_both_sides_are_drawn_and_listed_under_any_key(
    kept_stage: Stage, metrics: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold, output = GOLD_AND_OUTPUT
    client = kept_stage.client()
    job = kept_stage.job(format="cupt", metrics=metrics, gold=gold, systems=[{"name": "A", "output": output}])
    page = client.get(job.replace("/v1/jobs/", "/j/") + "/sentences").text
    assert listed(page) == STATES
    assert "2 agreed (1 in another category), 1 missed, 1 wrong." in page
    assert counted(page) == (["2"] if "attachment" not in metrics else ["0/5"])
    lines = page.partition('class="mwes"')[2].partition("</div>")[0]
    classes = [line.partition('"')[0] for line in lines.split('<span class="')[1:] if not line.startswith("w")]
    assert classes == ["ok", "ok", "bad dash", "gold", "gold gap", "bad", "gold"]
    assert ("no metric compares its heads" in page) == ("attachment" not in metrics)
    assert ('<option value="any">' in page, '<option value="head">' in page) == (True, "attachment" in metrics)
    tree = client.get(f"{job}/trees?system=A").json["items"][0]
    assert tree["expressions"][0] == tree["gold_expressions"][0] == {"words": ["1", "2"], "category": "LVC.full"}
    monkeypatch.setattr("service.usecases.views.documents.MOST_MEMBERS", 3)  # the output has 4
    assert "expressions" not in client.get(f"{job}/trees?system=A&limit=9").json["items"][0]
    assert 'class="mwes"' not in client.get(job.replace("/v1/jobs/", "/j/") + "/sentences?item=1").text


def test_empty_nodes_move_no_number_of_an_expression(kept_stage: Stage) -> None:
    gold, output = (
        cupt(*codes).replace("\n2\t", "\n1.1\te\t_\t_\t_\t_\t_\t_\t_\t_\t*\n2\t")
        for codes in (("*", "*", "*"), ("*", "1:VID", "1"))
    )
    task = SharedTask(kept_stage, format="cupt", metrics=["mwe"], parts={"en": {"gold": gold}}, feedback="items")
    team = task.team()
    page = team.get(task.submit(team, output).replace("/v1/submissions/", "/s/") + "/sentences").text
    assert listed(page) == [["w2 w3", "wrong", "–", "VID", "2 3"]]


def test_a_team_sees_its_own_expressions_and_from_items_on_which_are_wrong(kept_stage: Stage) -> None:
    gold, output = GOLD_AND_OUTPUT
    task = SharedTask(kept_stage, format="cupt", metrics=KEYS[1], parts={"en": {"gold": gold}})
    team = task.team()
    address = task.submit(team, output).replace("/v1/submissions/", "/s/") + "/sentences"
    worst = "?wrong=any&order=-errors"
    for level, states in (("items", ["agrees", "agrees", "wrong"]), ("scores", ["–"] * 3)):
        task.organiser.patch(task.address, json={"feedback": level}, headers={"If-Match": "*"})
        page = team.get(address).text
        assert [row[1] for row in listed(page)] == states
        assert counted(page) == (["1"] if level == "items" else [])
        assert ('name="order"' in page) == (level == "items")
        assert team.get(address + worst).status_code == (200 if level == "items" else 403)
        assert {row[2] for row in listed(page)} == {"–"}
        assert "gold" not in page.partition('class="mwes"')[2].partition("</div>")[0]
    assert listed(task.organiser.get(address).text) == STATES


def test_sentences_are_chosen_by_their_expressions_where_nothing_else_is_compared(kept_stage: Stage) -> None:
    (gold, output), right = GOLD_AND_OUTPUT, cupt("*", "1:VID", "1")
    task = SharedTask(kept_stage, format="cupt", metrics=["mwe"], parts={"en": {"gold": right + gold}})
    address = task.submit(task.team(), right + output)
    page = task.organiser.get(address.replace("/v1/submissions/", "/s/") + "/sentences?wrong=any&order=-errors").text
    assert counted(page) == ["2"]
    assert "1 of 1" in page
    trees = task.organiser.get(f"{address}/trees?wrong=any").json["items"]
    assert [each["item"] for each in trees] == [2]


def annotated(*words: str) -> str:
    """A sentence of words `form lemma upos feats`, all below the first."""
    rows = [
        f"{number}\t{form}\t{lemma}\t{upos}\t_\t{feats}\t{min(number - 1, 1)}\t{'dep' if number > 1 else 'root'}"
        for number, (form, lemma, upos, feats) in enumerate(map(str.split, words), 1)
    ]
    return "".join(f"{row}\t_\t_\n" for row in rows) + "\n"


ANNOTATED = annotated("Dogs dog NOUN Number=Plur|Typo=Yes", "bark _ VERB Mood=Ind|Tense=Pres", "!!! ! PUNCT _")
ANNOTATION_SENT = annotated(
    "Dogs Dog NOUN Number=Plur", "bark bark NOUN Number=Sing|Mood=Ind", "! ! PUNCT _", "!! ! SYM _"
)


def under_words(page: str) -> list[list[str]]:
    """Each word with the lines below it; what is wrong with its class before."""
    shown = page.partition('class="mwes notes"')[2].partition("</div>")[0].partition(">")[2]
    return [
        re.sub(r'<span class="(\w+)">', r"<span>\1 ", word).replace("</span>", "").split("<span>")[1:]
        for word in shown.split('<span class="w">')[1:]
    ]


def test_annotation_that_is_scored_stands_under_the_words(kept_stage: Stage) -> None:
    """Also where words differ: those that gold lacks have nothing to be compared with."""
    request: dict[str, Any] = {"gold": ANNOTATED, "systems": [{"name": "A", "output": ANNOTATION_SENT}]}
    client = kept_stage.client()
    job = kept_stage.job(format="conllu", metrics=["ud"], **request)
    page = client.get(job.replace("/v1/jobs/", "/j/") + "/sentences").text
    assert under_words(page) == [
        ["Dogs", "NOUN", "bad dog / Dog", "Number=Plur"],
        ["bark", "bad VERB / NOUN", "bark", "Mood=Ind", "bad +Number=Sing", "gold -Tense=Pres"],
        ["!", "PUNCT", "!"],
        ["!!", "SYM", "!"],
    ]
    assert "Of each word: tag, lemma, universal features." in page
    assert "Wrong: tag of 1 word, lemma of 1 word, universal features of 1 word" in page
    without = kept_stage.job(
        format="conllu", metrics=["attachment"], gold=ANNOTATED, systems=[{"name": "A", "output": ANNOTATED}]
    )
    assert "annotation" not in client.get(f"{without}/trees?system=A").json["items"][0]
    assert "<h3>Annotation</h3>" not in client.get(without.replace("/v1/jobs/", "/j/") + "/sentences").text


def test_a_word_with_very_many_features_shows_the_first(kept_stage: Stage) -> None:
    feats = "|".join(f"Case=C{number:03}" for number in range(999))
    text = annotated(f"Dogs dog NOUN {feats}")
    job = kept_stage.job(format="conllu", metrics=["ud"], gold=text, systems=[{"name": "A", "output": text}])
    [[*_, last, more]] = under_words(kept_stage.client().get(job.replace("/v1/jobs/", "/j/") + "/sentences").text)
    assert (last, more) == ("Case=C024", "…")


@pytest.mark.parametrize(("gold", "output"), [("abc", "ab"), ("ab", "abc")])
def test_annotation_of_other_words_is_not_compared(gold: str, output: str) -> None:
    """Where nothing says which words are the same: the trees of the text were not scored."""
    tree = {
        "words": [{"id": form, "form": form} for form in output], "gold_words": [{"form": form} for form in gold],
        "annotation": [{"upos": form} for form in output], "gold_annotation": [{"upos": form} for form in gold],
        "pairs": None,
    }  # fmt: skip
    shown = annotation_of(tree)
    assert shown is not None
    assert "What is wrong with them is not shown." in list(shown["said"])
    assert [word["lines"] for word in shown["words"]] == [[("", form)] for form in output]


def test_what_is_wrong_beyond_the_words_that_are_drawn_is_counted() -> None:
    words = [{"id": str(number), "form": "w"} for number in range(MOST_WORDS + 9)]
    own, gold = ([{"upos": tag} for _ in words] for tag in ("X", "X"))
    gold[-1] = {"upos": "Y"}
    shown = annotation_of(
        {"words": words, "gold_words": None, "annotation": own, "gold_annotation": gold, "pairs": None}
    )
    assert shown is not None
    assert len(shown["words"]) == MOST_WORDS
    assert "Wrong: tag of 1 word" in " ".join(shown["said"])


def test_a_column_that_gold_lacks_is_no_annotation(kept_stage: Stage) -> None:
    gold = "# global.columns = ID FORM LEMMA FEATS HEAD DEPREL\n1\tDogs\tdog\t_\t0\troot\n\n"
    output = annotated("Dogs dog NOUN Number=Plur")
    job = kept_stage.job(
        format="conllu-plus", metrics=["ud"], gold=gold, systems=[{"name": "A", "output": output, "format": "conllu"}]
    )
    tree = kept_stage.client().get(f"{job}/trees?system=A").json["items"][0]
    assert tree["annotation"] == [{"lemma": "dog", "feats": "Number=Plur"}]


def test_below_gold_a_team_sees_its_own_annotation(kept_stage: Stage) -> None:
    """With the empty node, which has none, and no word of gold's."""
    gold = ANNOTATED.replace("!!!\t!\tPUNCT", "!!!\tSECRET\tSECRET")
    empty = "1.1\te\te\tVERB\t_\t_\t_\t_\t1:dep\t_\n2\t"
    task = SharedTask(kept_stage, format="conllu", metrics=["ud"], parts={"en": {"gold": gold}}, feedback="items")
    team = task.team()
    submitted = task.submit(team, ANNOTATED.replace("2\t", empty, 1))
    page = team.get(submitted.replace("/v1/submissions/", "/s/") + "/sentences").text
    assert [word[:2] for word in under_words(page)] == [["Dogs", "NOUN"], ["e", ""], ["bark", "VERB"], ["!!!", "PUNCT"]]
    assert "What is wrong with them is not shown." in page
    assert "SECRET" not in page


def test_a_possible_link_that_is_missed_is_not_drawn_as_agreed(kept_stage: Stage) -> None:
    system = {"name": "A", "output": "0-0 2-2\n"}
    job = kept_stage.job(format="pharaoh", metrics=["alignment"], gold="0-0 1p1 2p2\n", systems=[system])
    page = kept_stage.client().get(job.replace("/v1/jobs/", "/j/") + "/sentences").text
    assert sorted(re.findall(r'class="arc ([a-z ]+)"', page)) == ["gold lab", "ok", "ok lab"]
    assert '<span class="l ok dash"></span>only possible' in page
    assert 'name="q"' not in page  # there are numbers alone


def test_alignments_have_the_words_that_are_stated_beside_gold_where_these_are_shown(kept_stage: Stage) -> None:
    items = {"words": [["a big dog", "le gros chien"], ["yes", "oui"]]}
    gold, output = "0-0 1-1 2-2\n0-0\n", "0-0 1-2\n0-0\n"
    part = {"gold": gold, "items": items}
    task = SharedTask(kept_stage, format="pharaoh", metrics=["alignment"], parts={"en": part}, feedback="items")
    team = task.team()
    submitted = task.submit(team, output)
    job = kept_stage.job(
        format="pharaoh", metrics=["alignment"], gold=gold, items=items, systems=[{"name": "A", "output": output}]
    )
    client = task.organiser
    for address, trees in ((job, "trees?system=A"), (submitted, "trees?part=en")):
        tree = client.get(f"{address}/{trees}").json["items"][0]
        words = [[word["form"] for word in tree[name]] for name in ("words", "target_words")]
        assert [" ".join(each) for each in words] == items["words"][0]
        assert tree["gold_words"] is None
        page = client.get(address.replace("/v1/jobs/", "/j/").replace("/v1/submissions/", "/s/") + "/sentences").text
        assert ">a big dog</span>" in page  # in the list
        assert ">chien</text>" in page
        assert "2 missed, 1 wrong of 2 links" in page
        assert '<span class="vh">errors: </span>3<' in page
        assert ("Relation" in page, 'name="q"' in page) == (False, True)  # links have no relation
        assert len(client.get(f"{address}/{trees}&q=big+dog").json["items"]) == 1
    sentences = submitted.replace("/v1/submissions/", "/s/") + "/sentences"
    assert team.get(f"{submitted}/trees").json["items"][0]["words"] is None
    assert "chien" not in team.get(sentences).text
    client.patch(task.address, json={"publish_input": True}, headers={"If-Match": "*"})
    assert team.get(f"{task.address}/parts/en/input").json == {
        "source": "a big dog\nyes\n",
        "target": "le gros chien\noui\n",
    }
    page = team.get(sentences).text
    assert ">a big dog</span>" in page
    assert ">chien</text>" in page
    assert "missed" not in page
