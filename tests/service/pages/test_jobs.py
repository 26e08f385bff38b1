"""The pages that score files without a benchmark: format and metric guessed, who may, keys, tables and exports."""

from __future__ import annotations

import gzip
import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from tests.contract.checking import CheckedClient
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage, close_stage, open_stage
from tests.fixtures.form_pages import File, browser, field_of, send, token_of, words_of
from tests.fixtures.requests import GOLD_CONLLU, GOLD_TREE, ONE_WRONG, OTHER_TREE
from tests.fixtures.servers import Valkey

GOLD, OTHER = GOLD_CONLLU.encode(), ONE_WRONG.encode()
TREES = [("gold.mrg", GOLD_TREE.encode()), ("a.mrg", GOLD_TREE.encode()), ("b.mrg", OTHER_TREE.encode())]
WRONG = GOLD_CONLLU.replace("stars\tstar\t", "stars\t").encode()


@pytest.fixture
def barred(tmp_path: Path, valkey: Valkey) -> Iterator[Stage]:
    """A service that scores nothing without a token."""
    opened = open_stage(tmp_path, valkey.url, TREESCORE_ANONYMOUS_JOBS="false")
    yield opened
    close_stage(opened)


@pytest.fixture
def stage(kept_stage: Stage) -> Stage:
    """The tests leave each other alone."""
    return kept_stage


def score(client: CheckedClient, gold: File | None, *outputs: File, **fields: str) -> TestResponse:
    page = client.get("/jobs/new")
    given = {"csrf": field_of(page, "csrf"), "key": field_of(page, "key"), "format": "", "metric": "", **fields}
    files = [("gold", gold)] if gold is not None else []
    return send(client, "/jobs/new", given, [*files, *(("outputs", file) for file in outputs)])


def job_of(answer: TestResponse) -> str:
    assert answer.status_code == 303, words_of(answer)
    return answer.headers["Location"]


def scores_of(page: TestResponse) -> dict[str, str]:
    rows = re.findall(r'<th scope="row" dir="auto">([^<]*)</th><td class="num main">([^<]*)</td>', page.text)
    return {html.unescape(name): value for name, value in rows}


def test_format_and_metric_follow_from_the_files_names(stage: Stage) -> None:
    client = browser(stage, None)
    gold, *outputs = TREES
    page = client.get(job_of(score(client, gold, *outputs)))
    api = stage.client().get(f"/v1/jobs/{page.request.path.rpartition('/')[2]}").json
    systems = api["results"]["systems"]
    assert [list(system["metrics"]) for system in systems] == [["parseval"], ["parseval"]]
    main = api["results"]["comparisons"][0]["score"].partition(".")[2]
    shown = {each["name"]: f"{100 * each['metrics']['parseval']['scores'][main]:.2f}" for each in systems}
    assert shown.items() <= scores_of(page).items()
    assert list(shown) == ["a", "b"]
    assert "Comparison by" in words_of(page)


def test_choices_and_packed_files(stage: Stage) -> None:
    client = browser(stage, None)
    answer = score(
        client, ("gold.txt", GOLD), ("out.txt.gz", gzip.compress(OTHER)), ("x/out.txt", GOLD), format="conllu",
        metric="attachment",
    )  # fmt: skip
    assert {"out": "83.33", "out-2": "100.00"}.items() <= scores_of(client.get(job_of(answer))).items()


@pytest.mark.parametrize(
    ("gold", "outputs", "fields", "status", "words"),
    [
        (None, [("a.conllu", GOLD)], {}, 422, "Choose one file with the gold standard."),
        (("", b""), [("a.conllu", GOLD)], {}, 422, "Choose one file with the gold standard."),
        (("g.conllu", GOLD), [], {}, 422, "Fill in the field, or choose the files"),
        (("g.txt", GOLD), [("a.txt", GOLD)], {}, 422, "does not name a format. Choose the format."),
        (("etc", GOLD), [("a", GOLD)], {}, 422, "does not name a format. Choose the format."),
        (("g.conllu", b"\xff"), [("a.conllu", GOLD)], {}, 422, "line 1, column 1"),
        (("g.conllu", GOLD), [("a.conllu", GOLD)], {"format": "nothing"}, 422, "Unknown format 'nothing'."),
        (("g.conllu", GOLD), [("a.conllu", GOLD)], {"metric": "parseval"}, 422, "parseval"),
        (("g.conllu", GOLD), [("a.conllu", GOLD)], {"format": "parallel"}, 422, "source, target, alignment"),
        (("g.conllu", GOLD), [("a.conllu.gz", GOLD)], {}, 422, "is not a whole gzip file"),
        (("g.conllu", GOLD), [("a.conllu.gz", gzip.compress(bytes(400_000)))], {}, 413, "unpacked files exceed"),
        (("g.conllu", bytes(400_000)), [("a.conllu", GOLD)], {}, 413, "exceeds 300000 bytes"),
        (("g.conllu", GOLD), [(f"{number}.conllu", b"") for number in range(1_000)], {}, 422, "1000 systems exceed"),
        (("g.conllu", GOLD), [("x" * 10_000, GOLD)], {}, 413, "too long headers"),
    ],
)  # fmt: skip
def test_files_that_make_no_sense(
    stage: Stage, gold: File | None, outputs: list[File], fields: dict[str, str], status: int, words: str
) -> None:
    answer = score(browser(stage, None), gold, *outputs, **fields)
    assert answer.status_code == status
    assert words in words_of(answer)
    assert len(answer.text) < 60_000


def test_a_failure_names_file_and_line(stage: Stage) -> None:
    client = browser(stage, None)
    page = client.get(job_of(score(client, ("g.conllu", GOLD), ("a.conllu", GOLD), ("b.conllu", WRONG))))
    assert "file output 2, sentence 1, line 4" in words_of(page)
    page = client.get(job_of(score(client, ("g.conllu", WRONG), ("a.conllu", GOLD))))
    assert "file gold, sentence 1, line 4" in words_of(page)


def test_a_double_click_makes_one_job(stage: Stage) -> None:
    client = browser(stage, None)
    fields = {"csrf": "", "key": field_of(client.get("/jobs/new"), "key")}
    files = [("gold", ("g.conllu", GOLD)), ("outputs", ("a.conllu", OTHER))]
    assert len({job_of(send(client, "/jobs/new", fields, files)) for _ in range(3)}) == 1


def test_only_the_browser_with_the_key_changes_an_anonymous_job(stage: Stage) -> None:
    client, other = browser(stage, None), browser(stage, None)
    with stage.asleep():
        address = job_of(score(client, ("g.conllu", GOLD), ("a.conllu", GOLD)))
    [cookie] = [client.get_cookie("treescore_job", path=address)]
    assert cookie is not None
    assert (cookie.http_only, cookie.same_site) == (True, "Strict")
    assert "Cancel" in words_of(client.get(address))
    assert "Cancel" not in words_of(other.get(address))
    assert other.post(address, data={"do": "cancel"}).status_code == 403
    assert other.post(f"{address}/delete").status_code == 403
    assert client.post(address, data={"do": "cancel"}, headers={"Origin": "https://evil.example"}).status_code == 403
    assert client.post(address, data={"do": "vanish"}).status_code == 400
    assert client.post(address, data={"do": "cancel"}).status_code == 303
    assert "Cancelled." in words_of(other.get(address))
    assert client.post(address, data={"do": "cancel"}).status_code == 409
    assert "Delete" in words_of(client.get(f"{address}/delete"))
    assert client.post(f"{address}/delete").headers["Location"] == "/jobs/new"
    for way in ("", "/live?version=x", "/delete"):
        assert client.get(f"{address}{way}").status_code == 410


def test_the_live_part_ends_when_it_is_scored(stage: Stage) -> None:
    client = browser(stage, None)
    with stage.asleep():
        address = job_of(score(client, ("g.conllu", GOLD), ("a.conllu", OTHER)))
    page = client.get(address)
    live = html.unescape(page.text.partition('hx-get="')[2].partition('"')[0])
    assert client.get(live).status_code == 204
    stage.queue.put(address.rpartition("/")[2], "live")
    done = client.get(live)
    assert done.status_code == 286
    assert "hx-get" not in done.text
    assert "Scored" in done.text


def test_who_may_score(barred: Stage) -> None:
    nobody = browser(barred, None)
    for answer in (nobody.get("/jobs/new"), nobody.post("/jobs/new"), nobody.get("/j/job_x")):
        assert answer.status_code == 401
        assert "/sign-in?next=" in answer.text
    team = browser(barred, token_of(SharedTask(barred).team()))
    assert team.get("/jobs/new").status_code == 403
    client = browser(barred, barred.token("score"))
    address = job_of(score(client, ("g.conllu", GOLD), ("a.conllu", GOLD)))
    assert client.get(address).status_code == 200
    assert browser(barred, barred.token("score")).get(address).status_code == 404
    assert browser(barred).get(address).status_code == 200
    asked = client.get(f"{address}/delete")
    assert client.post(f"{address}/delete").status_code == 403
    assert client.post(f"{address}/delete", data={"csrf": field_of(asked, "csrf")}).status_code == 303


def test_teams_score_as_anyone_does_where_anyone_may(stage: Stage) -> None:
    client = browser(stage, token_of(SharedTask(stage).team()))
    address = job_of(score(client, ("g.conllu", GOLD.replace(b"nsubj", b"nsubj:pass")), ("a.conllu", GOLD)))
    page = client.get(address)
    assert "Relations are compared without their subtypes" in words_of(page)
    assert "CLAS where the lemma must be right too" in page.text  # the title of BLEX
    assert send(client, "/jobs/new", {"csrf": "other"}, []).status_code == 403
    assert client.post(f"{address}/delete", data={"csrf": "other"}).status_code == 403


def test_exports_are_those_of_the_api(stage: Stage) -> None:
    client = browser(stage, None)
    gold, *outputs = TREES
    address = job_of(score(client, gold, *outputs))
    page = client.get(address)
    links = [html.unescape(link) for link in re.findall(r'href="(/j/[^"]*(?:comparisons|items)\?[^"]*)"', page.text)]
    assert len(links) == 5 + 2 * 3
    for link in links:
        answer = client.get(link)
        assert answer.status_code == 200
        assert answer.data == stage.client().get(link.replace("/j/", "/v1/jobs/")).data
    assert client.get(f"{address}/items?system=none&metric=parseval").status_code == 404
    assert client.get(f"{address}/items").status_code == 400
    assert client.get(f"{address}?colour=red").status_code == 400
    assert client.get("/j/job_unknown").status_code == 404


def test_names_are_text(stage: Stage) -> None:
    client = browser(stage, None)
    names = ["<script>alert(1)<_script>.conllu", "שלום.conllu", "{{ 7 * 7 }}.conllu", "\u202egnp.conllu", ".conllu"]
    page = client.get(job_of(score(client, ("g.conllu", GOLD), *((name, GOLD) for name in names))))
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert "\u202e" not in page.text
    assert "{{ 7 * 7 }}" in page.text
