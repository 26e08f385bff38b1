"""A benchmark made in the browser without a script: files become parts, the format is guessed, faults have a place."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from itertools import count

import pytest
from werkzeug.test import TestResponse

from tests.contract.checking import CheckedClient
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from tests.fixtures.form_pages import File, browser, field_of, send, words_of
from tests.fixtures.requests import GOLD_CONLLU, GOLD_TREE
from tests.service.pages.reading import Page

CONLLU = GOLD_CONLLU.encode()
_NUMBERS = count(1)


@pytest.fixture
def stage(kept_stage: Stage) -> Stage:
    """The tests leave each other alone: each has benchmarks of its own."""
    return kept_stage


@pytest.fixture
def organiser(stage: Stage) -> CheckedClient:
    return browser(stage)


def title() -> str:
    return f"Übung, Teil {next(_NUMBERS)}"


def zipped(**files: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "."), text)
    return data.getvalue()


def create(
    organiser: CheckedClient, *files: File, document: object = None, like: str = "", **fields: str
) -> TestResponse:
    """Send the form as it is shown, with these files and changed fields."""
    page = organiser.get(f"/admin/new?like={like}" if like else "/admin/new")
    shown = Page(page.text, "/admin/new")
    assert shown.forbidden == []
    sent = {"csrf": field_of(page, "csrf"), "key": field_of(page, "key"), **({"like": like} if like else {})}
    parts = [("gold", file) for file in files]
    if document is not None:
        parts.append(
            ("meta", ("task.json", document if isinstance(document, bytes) else json.dumps(document).encode()))
        )
    return send(organiser, "/admin/new", sent | DEFAULTS | fields, parts)


DEFAULTS = {
    "feedback": "scores", "publish_input": "no", "leaderboard.pick": "best", "leaderboard.unit": "auto",
    "leaderboard.public": "on", "quota.scored_per_day": "5", "quota.scored_total": "100",
    "quota.attempts_per_day": "20", "quota.comparisons_per_day": "20",
}  # fmt: skip


def made(stage: Stage, answer: TestResponse) -> dict:
    """The benchmark that was made, by the API."""
    assert answer.status_code == 303, words_of(answer)
    slug = answer.headers["Location"].removeprefix("/admin/").partition("?")[0]
    return stage.client().get(f"/v1/benchmarks/{slug}").json


def test_a_title_and_files_are_enough(organiser: CheckedClient, stage: Stage) -> None:
    name = title()
    answer = create(
        organiser, ("en_ewt.conllu", CONLLU), ("de_gsd.conllu.gz", gzip.compress(CONLLU)),
        ("more.zip", zipped(fr_sequoia__conllu=CONLLU)), title=name,
    )  # fmt: skip
    document = made(stage, answer)
    assert document["id"] == name.lower().replace("ü", "u").replace(", ", "-").replace(" ", "-")
    assert list(document["parts"]) == ["en_ewt", "de_gsd", "fr_sequoia"]
    assert (document["format"], document["main_score"]) == ("conllu", "ud.las_f1")
    assert document["quota"]["scored_per_day"] == 5
    page = organiser.get(answer.headers["Location"])
    assert "The format was guessed from the first lines of gold: conllu." in words_of(page)
    assert "Gold is checked: 3 parts" in words_of(page)
    assert answer.headers["Location"] == f"/admin/{document['id']}?guessed=1"


def test_choices_and_settings_are_taken(organiser: CheckedClient, stage: Stage) -> None:
    fields = {
        "id": f"own-{next(_NUMBERS)}", "format": "conllu", "main_score": "attachment.uas", "series": "phases",
        "closes_at": "2999-11-01T23:59", "closes_at.zone": "earth", "feedback": "rounded", "quota.scored_per_day": "",
        "about.dates.0.at": "2999-01-01T12:00", "about.dates.0.zone": "utc", "about.dates.0.what": "Test data",
    }  # fmt: skip
    document = made(stage, create(organiser, ("en.txt", CONLLU), title=title(), **fields))
    assert (document["id"], document["main_score"], document["metrics"]) == (
        fields["id"],
        "attachment.uas",
        ["attachment"],
    )
    assert (document["closes_at"], document["feedback"]) == ("2999-11-02T11:59:00.000Z", "rounded")
    assert (document["series"], document["quota"]["scored_per_day"]) == ("phases", None)
    assert document["about"]["dates"] == [{"at": "2999-01-01T12:00:00.000Z", "what": "Test data"}]


def test_a_format_that_is_not_certain_is_asked_for_and_what_was_typed_is_kept(
    organiser: CheckedClient, stage: Stage
) -> None:
    name = title()
    answer = create(organiser, ("en.txt", GOLD_TREE.encode()), title=name, **{"leaderboard.margin": "0.5"})
    assert answer.status_code == 422
    words = words_of(answer)
    assert "It may be bracketed (likely" in words
    assert "browsers do not keep them" in words
    assert f'name="title" value="{name}"' in answer.text
    assert 'name="leaderboard.margin" value="0.5"' in answer.text
    again = create(organiser, ("en.txt", GOLD_TREE.encode()), title=name, format="bracketed")
    assert made(stage, again)["main_score"] == "parseval.labelled_f1"
    named = create(organiser, ("en.mrg", GOLD_TREE.encode()), title=title())
    assert made(stage, named)["format"] == "bracketed"


@pytest.mark.parametrize(
    ("fields", "files", "field", "said"),
    [
        ({"id": "a b"}, [("en.conllu", CONLLU)], "id", "An id has 1 to 60"),
        ({"title": ""}, [("en.conllu", CONLLU)], "title", "name"),
        ({}, [], "gold", "Choose the files"),
        ({"format": "conllu"}, [], "gold", "1 to 1000 parts"),
        ({}, [("macro.conllu", CONLLU)], "gold", "reserved"),
        ({}, [("en.conllu", CONLLU), ("en.gold.conllu", CONLLU)], "gold", "given twice"),
        ({}, [("en.conllu", b"\xff\n")], "gold", "UTF-8"),
        ({"format": "no"}, [("en.conllu", CONLLU)], "format", "Unknown format"),
        ({"main_score": "ud.no"}, [("en.conllu", CONLLU)], "main-score", "ud.no"),
        ({"quota.scored_per_day": "many"}, [("en.conllu", CONLLU)], "quota-scored-per-day", "whole number"),
        ({"opens_at": "2999-01-02T00:00", "closes_at": "2999-01-01T00:00"}, [("en.conllu", CONLLU)], "closes-at",
         "“Closes” (1 January 2999 00:00 UTC) must be later than “Opens”"),
    ],
)  # fmt: skip
def test_a_fault_stands_beside_its_field(
    organiser: CheckedClient, fields: dict[str, str], files: list[File], field: str, said: str
) -> None:
    answer = create(organiser, *files, **{"title": title(), **fields})
    assert answer.status_code == 422
    beside = answer.text.partition(f'id="fault-{field}"')[2].partition("</div>")[0]
    assert said in beside


def test_a_taken_id_is_said_beside_its_field(organiser: CheckedClient, stage: Stage) -> None:
    taken = SharedTask(stage).slug
    answer = create(organiser, ("en.conllu", CONLLU), title=title(), id=taken)
    assert answer.status_code == 409
    assert "is taken" in answer.text.partition('id="fault-id"')[2].partition("</div>")[0]


def test_a_form_that_is_sent_twice_makes_one(organiser: CheckedClient) -> None:
    page = organiser.get("/admin/new")
    sent = {name: field_of(page, name) for name in ("csrf", "key")} | DEFAULTS | {"title": title()}
    answers = [send(organiser, "/admin/new", sent, [("gold", ("en.conllu", CONLLU))]) for _ in range(2)]
    assert [each.status_code for each in answers] == [303, 303]
    assert answers[0].headers["Location"] == answers[1].headers["Location"]


def test_a_document_says_what_the_form_leaves_open(organiser: CheckedClient, stage: Stage) -> None:
    document = {
        "title": "Of the document", "id": f"document-{next(_NUMBERS)}", "format": "conllu",
        "metrics": [{"name": "attachment", "params": {"punctuation": False}}],
        "leaderboard": {"anonymous": True, "pick": "last"}, "quota": {"scored_per_day": 7},
    }  # fmt: skip
    fields = {"leaderboard.pick": "all"}
    answer = create(organiser, ("gold.zip", zipped(en__conllu=CONLLU)), document=document, **fields)
    found = made(stage, answer)
    damaged = create(organiser, ("gold.zip", b"PK\x03\x04 not whole"), title=title()).text
    assert "is not a whole zip archive" in damaged.partition('id="fault-gold"')[2].partition("</div>")[0]
    assert (found["title"], found["id"]) == ("Of the document", document["id"])
    assert found["metrics"][0]["params"] == {"punctuation": False}
    board = found["leaderboard"]
    assert (board["anonymous"], board["pick"], found["quota"]["scored_per_day"]) == (True, "all", 7)
    assert found["quota"]["scored_total"] == 100
    for wrong, said in (([], "must be a JSON object"), ("}", "must be a JSON object"), (b"{", "cannot be read")):
        refused = create(organiser, ("en.conllu", CONLLU), document=wrong, title=title())
        assert refused.status_code == 422
        assert said in refused.text.partition('id="fault-document"')[2].partition("</div>")[0]
    odd = create(organiser, ("en.conllu", CONLLU), document={"series": {"a": 1}}, title=title(), series="s")
    assert odd.status_code == 303  # what is typed stands in its place
    assert "unknown-field" in create(organiser, ("en.conllu", CONLLU), document={"titel": "x"}, title=title()).text


def test_another_like_one_has_its_settings_but_neither_gold_nor_times(organiser: CheckedClient, stage: Stage) -> None:
    model = SharedTask(
        stage, series="phases", closes_at="2999-01-01T00:00:00Z", tracks={"all": ["en"]}, rounding=0.005,
        metrics=[{"name": "attachment", "params": {"punctuation": False}}],
        leaderboard={"scores": ["attachment.uas"], "margin": 0.5},
        about={"rules": "Be fair.", "dates": [{"at": "2999-01-01T00:00:00Z", "what": "End"}]}, notice="Old news.",
    )  # fmt: skip
    page = organiser.get(f"/admin/{model.slug}")
    assert f"/admin/new?like={model.slug}" in Page(page.text).links
    shown = organiser.get(f"/admin/new?like={model.slug}").text
    for text in ('value="phases"', "Be fair.", 'value="0.005"', "all: en", 'value="0.5"'):
        assert text in shown
    assert "2999" not in shown
    fields = {
        "series": "phases", "rounding": "0.005", "tracks": "all: en", "about.rules": "Be fair.",
        "leaderboard.margin": "0.5", "leaderboard.scores:attachment.uas": "on", "feedback": "items",
    }  # fmt: skip
    found = made(stage, create(organiser, ("en.conllu", CONLLU), like=model.slug, title=title(), **fields))
    before = stage.client().get(model.address).json
    for name in ("series", "format", "metrics", "main_score", "tracks", "rounding", "leaderboard", "feedback"):
        assert found[name] == before[name], name
    assert (found["closes_at"], found["notice"], found["about"]["dates"]) == (None, None, [])


def test_parts_of_several_texts_have_a_file_for_each(organiser: CheckedClient, stage: Stage) -> None:
    tree, links = b"(TOP (S (NP (PRP She)) (VP (VBD saw))))\n", b"0-0 1-1\n"
    files = [(f"en.{side}.txt", links if side == "alignment" else tree) for side in ("source", "target", "alignment")]
    document = made(stage, create(organiser, *files, title=title(), format="parallel"))
    assert list(document["parts"]) == ["en"]


def test_gold_that_is_checked_is_asked_for_until_it_is(organiser: CheckedClient, stage: Stage) -> None:
    with stage.asleep():
        address = create(organiser, ("en.conllu", CONLLU), title=title(), format="conllu").headers["Location"]
    page = organiser.get(address)
    assert "Gold is being checked." in words_of(page)
    assert "#head,#revisions" in page.text  # what else it changes
    live = next(link for link in Page(page.text).links if "/live" in link)
    assert organiser.get(live).status_code == 204


def test_gold_that_fails_is_shown_with_its_line_and_sent_again(organiser: CheckedClient) -> None:
    answer = create(organiser, ("en.conllu", b"1\tA\t_\n\n"), title=title(), format="conllu")
    address = answer.headers["Location"]
    news = organiser.get(f"{address}/live")
    assert news.status_code == 286
    assert "line 1" in news.text
    assert "Not open: its gold cannot be used." in news.text.partition('id="head"')[2].partition("</div>")[0]
    page = organiser.get(address)
    assert "Gold cannot be used." in words_of(page)
    assert "remove columns after the tenth" in words_of(page)
    assert "Not open: its gold cannot be used." in words_of(page)
    assert "not open: its gold cannot be used" in words_of(organiser.get("/"))
    board, submit = address.replace("/admin/", "/b/"), address.replace("/admin/", "/submit?benchmark=")
    assert organiser.get(board).status_code == 404
    assert [f'href="{board}"' in organiser.get(each).text for each in (address, submit)] == [False, False]
    sent = {"csrf": field_of(page, "csrf"), "key": field_of(page, "key")}
    refused = send(organiser, f"{address}/gold", sent, [("gold", ("en.zip", zipped()))])
    assert refused.status_code == 422
    again = send(organiser, f"{address}/gold", sent, [("gold", ("mended.conllu", CONLLU))])
    assert (again.status_code, again.headers["Location"]) == (303, address)
    assert "Gold is checked: 1 part" in words_of(organiser.get(address))


def test_nobody_else_makes_benchmarks(stage: Stage) -> None:
    team = SharedTask(stage).team()
    assert team.get("/admin/new").status_code == 403
    assert stage.client(None).get("/admin/new").status_code == 401
    organiser = browser(stage)
    forged = send(organiser, "/admin/new", {"csrf": "x", "title": "A"}, [("gold", ("en.conllu", CONLLU))])
    assert forged.status_code == 403
