"""The page that sends outputs: parts by the names of files, checks, problems, sessions and attacks."""

from __future__ import annotations

import gzip
import html
import io
import re
import zipfile
from typing import Any

import pytest
import zstandard
from werkzeug.test import TestResponse

from service.lru import LruCache
from service.usecases import access
from service.usecases.benchmarks import benchmarks
from tests.contract.checking import CheckedClient
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from tests.fixtures.form_pages import File, browser, field_of, send, token_of, words_of
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG

TEXT = ONE_WRONG.encode()
PARTS = {name: {"gold": GOLD_CONLLU} for name in ("en_ewt", "de.gsd")}
PARALLEL = dict.fromkeys(("source", "target"), "1\tchat\t_\tX\t_\t_\t0\troot\t_\t_\n\n") | {"alignment": "0-0\n"}
LINE_4 = GOLD_CONLLU.replace("stars\tstar\t", "stars\t").encode()


@pytest.fixture
def stage(kept_stage: Stage) -> Stage:
    """The tests leave each other alone: each has benchmarks of its own."""
    return kept_stage


def signed_in(task: SharedTask) -> CheckedClient:
    return browser(task.stage, token_of(task.team()))


def post(client: CheckedClient, *files: File, do: str = "submit", **fields: str) -> TestResponse:
    page = client.get("/submit")
    given = {"csrf": field_of(page, "csrf"), "key": field_of(page, "key"), "benchmark": field_of(page, "benchmark")}
    return send(client, "/submit", {**given, "do": do, **fields}, [("files", file) for file in files])


def listed(task: SharedTask) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = task.organiser.get(f"{task.address}/submissions").json["items"]
    return items


def test_files_belong_to_the_parts_that_they_are_named_after(stage: Stage) -> None:
    task = SharedTask(stage, parts=PARTS)
    client = signed_in(task)
    files = [("en_ewt.pred.conllu.gz", gzip.compress(TEXT)), ("C:\\out\\de.gsd.conllu.zst", zstandard.compress(TEXT))]
    sent = post(client, *files, name="biaffine-7", notes="seed 3\r\nlarge")
    assert sent.status_code == 303
    [submission] = listed(task)
    assert sent.headers["Location"] == f"/s/{submission['id']}"
    assert (submission["name"], submission["notes"], submission["state"]) == (
        "biaffine-7",
        "seed 3\nlarge",
        "succeeded",
    )
    whole = task.organiser.get(f"/v1/submissions/{submission['id']}").json
    assert sorted(whole["outputs"]) == ["de.gsd", "en_ewt"]
    again = client.get("/submit")
    assert "biaffine-7" in words_of(again)
    assert f'href="/s/{submission["id"]}"' in again.text


def test_a_training_run_names_another_submission_of_its_system(stage: Stage) -> None:
    task = SharedTask(stage)
    client = signed_in(task)
    post(client, ("first.conllu", TEXT), name="biaffine-7")
    other = ("second.conllu", TEXT.replace(b"nsubj", b"dep"))
    for name, fault in (("biaffine-8", "Unknown submission"), ("x" * 300, "A name has 1 to 200")):
        page = words_of(post(client, other, run_of=name))
        assert re.search(f"Training run of *: *{fault}", page)
        assert "run_of" not in page
    assert post(client, other, run_of="biaffine-7").status_code == 303
    assert [each["run_of"] for each in listed(task)] == ["biaffine-7", None]


def buttons(client: CheckedClient) -> list[str]:
    return re.findall(r'name="do" value="(\w+)"', client.get("/submit").text)


def test_what_the_quota_does_not_allow_is_not_offered(stage: Stage) -> None:
    quota = {"scored_per_day": 1, "scored_total": 9, "attempts_per_day": 2}
    client = signed_in(SharedTask(stage, quota=quota))
    assert buttons(client) == ["check", "submit"]
    assert post(client, ("en.conllu", TEXT)).status_code == 303
    assert buttons(client) == ["check"]
    assert post(client, ("en.conllu", TEXT), do="check").status_code == 200
    assert buttons(client) == []


@pytest.mark.parametrize(
    ("form", "metric", "gold", "name", "part"),
    [
        ("bracketed", "parseval", "(S (A a))\n", "a.mrg", "a"),
        ("parallel", "parallel_treebank", PARALLEL, "a.source", "a/source"),
    ],
)
def test_the_names_of_files_are_those_of_the_format(
    stage: Stage, form: str, metric: str, gold: object, name: str, part: str
) -> None:
    parts = {each: {"gold": gold} for each in "ab"}
    client = signed_in(SharedTask(stage, format=form, metrics=[metric], parts=parts))
    page = client.get("/submit").text
    assert f"<bdi>{name}</bdi> or <bdi>{name}.gz</bdi> is the part <bdi>{part}</bdi>." in page
    assert "has the name of no part" not in words_of(post(client, (f"{name}.gz", gzip.compress(b""))))


def test_one_part_takes_a_file_of_any_name(stage: Stage) -> None:
    task = SharedTask(stage)
    assert post(signed_in(task), ("out (1).txt", TEXT)).status_code == 303


def zipped(**files: bytes) -> bytes:
    """An archive of files in a folder; `__` in a name stands for a dot."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(f"team/{name.replace('__', '.')}", text)
    return made.getvalue()


def test_a_zip_holds_the_files_of_parts(stage: Stage) -> None:
    task = SharedTask(stage, parts=PARTS)
    client = signed_in(task)
    other = zipped(en_ewt__conllu=TEXT, README=b"ours")
    answer = post(client, ("all.zip", other))
    assert answer.status_code == 422
    assert "The file 'README' has the name of no part" in words_of(answer)
    assert "choose the part where the page asks for it" in words_of(answer)
    assert 'name="part:README"' in answer.text
    packed = zipped(en_ewt__conllu=TEXT, de__gsd__conllu=TEXT)
    assert post(client, ("all.zip", packed)).status_code == 303
    whole = task.organiser.get(f"/v1/submissions/{listed(task)[0]['id']}").json
    assert sorted(whole["outputs"]) == ["de.gsd", "en_ewt"]
    alone = SharedTask(stage)
    assert post(signed_in(alone), ("all.zip", zipped(system__conllu=TEXT))).status_code == 303


@pytest.mark.parametrize("published", [True, False])
def test_the_test_data_is_downloaded_where_it_is_published(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, *, published: bool
) -> None:
    task = SharedTask(stage, parts=PARTS, publish_input=published, leaderboard={"public": False})
    client = signed_in(task)
    for page in ("/submit", f"/b/{task.slug}/about"):
        assert ("Download the test data" in words_of(client.get(page))) == published
    assert stage.client(None).get(f"/b/{task.slug}/about/input.zip").status_code == 404
    text = client.get(f"/b/{task.slug}/about/input/de.gsd")
    packed = client.get(f"/b/{task.slug}/about/input.zip")
    assert (text.status_code, packed.status_code) == ((200, 200) if published else (404, 404))
    if published:
        assert text.headers["Content-Disposition"] == 'attachment; filename="de.gsd.conllu"'
        with zipfile.ZipFile(io.BytesIO(packed.data)) as archive:
            assert sorted(archive.namelist()) == ["de.gsd.conllu", "en_ewt.conllu"]
            assert archive.read("de.gsd.conllu") == text.data
        monkeypatch.setattr(benchmarks, "ZipFile", None)  # it is made once, whoever asks
        again = client.get(f"/b/{task.slug}/about/input.zip", headers={"If-None-Match": packed.headers["ETag"]})
        assert again.status_code == 304
    monkeypatch.undo()
    monkeypatch.setattr(benchmarks, "MOST_ARCHIVED", 10)
    monkeypatch.setattr(benchmarks, "_ARCHIVES", LruCache(1, lambda shown: len(shown.content)))
    assert client.get(f"/b/{task.slug}/about/input.zip").status_code == 404


def test_files_of_no_part_are_asked_for(stage: Stage) -> None:
    task = SharedTask(stage, parts=PARTS)
    client = signed_in(task)
    files = [("en_ewt.conllu", TEXT), ('a"b.conllu', TEXT)]
    asked = post(client, *files, name="kept", notes="these <b>lines</b>")
    assert asked.status_code == 422
    assert 'value="kept"' in asked.text
    assert "these &lt;b&gt;lines&lt;/b&gt;" in asked.text
    assert 'name="part:a"b.conllu"' in html.unescape(asked.text)
    assert listed(task) == []
    assert post(client, *files, **{'part:a"b.conllu': "de.gsd"}).status_code == 303


def test_what_is_said_goes_before_the_name(stage: Stage) -> None:
    task = SharedTask(stage, parts=PARTS)
    assert post(signed_in(task), ("en_ewt.conllu", TEXT), **{"part:en_ewt.conllu": "de.gsd"}).status_code == 303
    whole = task.organiser.get(f"/v1/submissions/{listed(task)[0]['id']}").json
    assert list(whole["outputs"]) == ["de.gsd"]


def test_a_check_lists_part_line_and_mend_and_keeps_the_form(stage: Stage) -> None:
    task = SharedTask(stage, parts=PARTS)
    client = signed_in(task)
    answer = post(client, ("en_ewt.conllu", LINE_4), do="check", name="kept")
    assert answer.status_code == 200
    assert 'value="kept"' in answer.text
    words = words_of(answer)
    for shown in (
        "cannot all be scored",
        "en_ewt",
        "line 4",
        "Write _ where a column has no value",
        "Not sent: de.gsd",
    ):
        assert shown in words
    assert listed(task) == []


def test_faults_of_a_kind_are_one_line_and_another_format_is_called_so(stage: Stage) -> None:
    client = signed_in(SharedTask(stage))
    heads = GOLD_CONLLU.replace("\t0\troot", "\t9\troot").replace("2\tobj", "8\tobj")
    words = words_of(post(client, ("en.conllu", heads.encode()), do="check"))
    assert "3 lines, the first: sentence 1, line 3, column 7 : HEAD is 9" in words
    assert "2 more sentence 1, line 4, column 7 : HEAD is 8" in words
    spaces = GOLD_CONLLU.replace("\t", " ").encode()
    words = words_of(post(client, ("en.conllu", spaces), do="check"))
    assert "6 lines, the first: sentence 1, line 2 : The line has 1 tab-separated column" in words
    assert "like it" not in words
    words = words_of(post(client, ("en.conllu", b"(S (NP She) (VP sees))\n"), do="check"))
    assert "The text looks like bracketed trees, and is read as conllu." in words


def test_a_check_costs_an_attempt_once(stage: Stage) -> None:
    task = SharedTask(stage, quota={"attempts_per_day": 2})
    client = signed_in(task)
    first = client.get("/submit")
    form = {name: field_of(first, name) for name in ("csrf", "key", "benchmark")}
    for _ in range(3):  # a double click is one check
        answer = send(client, "/submit", {**form, "do": "check"}, [("files", ("en.conllu", TEXT))])
        assert "The files can be scored." in words_of(answer)
    assert "1 of 2 attempts today" in words_of(client.get("/submit"))
    assert post(client, ("en.conllu", LINE_4), do="check").status_code == 200
    refused = post(client, ("en.conllu", TEXT), do="check")
    assert refused.status_code == 429
    assert "attempts_per_day" in words_of(refused)
    assert int(refused.headers["Retry-After"]) > 0


def test_a_double_click_submits_once_and_a_corrected_file_anew(stage: Stage) -> None:
    task = SharedTask(stage)
    client = signed_in(task)
    page = client.get("/submit")
    form = {name: field_of(page, name) for name in ("csrf", "key", "benchmark")} | {"do": "submit"}
    sent = [send(client, "/submit", form, [("files", ("en", text))]) for text in (TEXT, TEXT, GOLD_CONLLU.encode())]
    addresses = [answer.headers["Location"] for answer in sent]
    assert addresses[0] == addresses[1] != addresses[2]
    assert len(listed(task)) == 2


@pytest.mark.parametrize(
    ("files", "status", "words"),
    [
        ([], 422, "Send the output of at least one part."),
        ([("", b"")], 422, "Send the output of at least one part."),
        ([("en_ewt.conllu", TEXT), ("en_ewt.txt", TEXT)], 422, "is given twice. It is for the part 'en_ewt'."),
        ([("en_ewt.conllu", b"1\ta\nb\xff\n")], 422, "part en_ewt, line 2, column 2 : Byte 0xff"),
        ([("en_ewt.conllu.gz", TEXT)], 422, "is not a whole gzip file"),
        ([("en_ewt.conllu.gz", gzip.compress(TEXT)[:-9])], 422, "is not a whole gzip file"),
        ([("en_ewt.zst", TEXT)], 422, "is not a whole zstd file"),
        ([("all.zip", TEXT)], 422, "is not a whole zip archive"),
        ([("all.zip", zipped(en_ewt__conllu__gz=TEXT))], 422, "holds the archive"),
        ([("all.zip", zipped(en_ewt=bytes(400_000)))], 413, "holds more than 300000 bytes"),
        ([("en_ewt.gz", gzip.compress(bytes(400_000)))], 413, "The unpacked files exceed 300000 bytes"),
        ([(f"{part}.gz", gzip.compress(bytes(200_000))) for part in PARTS], 413, "exceed 300000 bytes together"),
        ([("en_ewt", bytes(400_000))], 413, "exceeds 300000 bytes"),
        ([("x" * 3_000, TEXT)], 422, "has the name of no part"),
        ([("." * 3_000, TEXT)], 422, "has the name of no part"),
        ([("x" * 10_000, TEXT)], 413, "too long headers"),
        ([(f"part_{number}.conllu", b"") for number in range(1_000)], 422, "980 more are not listed."),
        ([("en_ewt.conllu", b"")], 303, ""),
    ],
)
def test_files_that_make_no_sense(stage: Stage, files: list[File], status: int, words: str) -> None:
    client = signed_in(SharedTask(stage, parts=PARTS))
    answer = post(client, *files)
    assert answer.status_code == status
    assert words in words_of(answer)
    assert ("browsers do not keep" in answer.text) == (status == 422 and any(name for name, _ in files))
    assert len(answer.text) < 60_000


def test_the_list_says_what_a_ladder_holds_back_and_that_all_parts_were_scored(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores", leaderboard={"ladder": True})
    team = task.team()
    for _ in range(2):
        task.submit(team)
    words = words_of(browser(stage, token_of(team)).get("/submit"))
    assert words.count("succeeded, held back by the ladder") == 1
    assert words.count("all succeeded") == 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"name": "a\nb"}, "name"), ({"notes": "x" * 10_001}, "10000 printable characters"), ({"team": "oslo"}, "")],
)
def test_fields_that_make_no_sense(stage: Stage, fields: dict[str, str], words: str) -> None:
    answer = post(signed_in(SharedTask(stage)), ("en", TEXT), **fields)
    assert answer.status_code in (403, 422)
    assert words in words_of(answer)


def test_a_session_that_ends_meanwhile_says_to_send_again(stage: Stage) -> None:
    task = SharedTask(stage)
    client = signed_in(task)
    page = client.get("/submit")
    other = stage.client(None)
    other.set_cookie("treescore_session", client.get_cookie("treescore_session").value)  # type: ignore[union-attr]
    assert other.post("/sign-out", data={"csrf": field_of(page, "csrf")}).status_code == 303
    fields = {"csrf": field_of(page, "csrf"), "do": "submit"}
    answer = send(client, "/submit", fields, [("files", ("en", TEXT))])
    assert answer.status_code == 401
    assert "must be sent again" in words_of(answer)
    assert 'href="/sign-in?next=%2Fsubmit"' in answer.text


@pytest.mark.parametrize("body", [b"", b"--x--\r\n", b'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n\xff'])
def test_what_is_no_form(stage: Stage, body: bytes) -> None:
    client = signed_in(SharedTask(stage))
    assert client.post("/submit", data=body, content_type="multipart/form-data; boundary=x").status_code in (400, 403)
    assert client.post("/submit", data=body, content_type="text/plain").status_code == 415


def test_who_may_submit(stage: Stage) -> None:
    SharedTask(stage)
    assert browser(stage, None).get("/submit").status_code == 401
    assert browser(stage, stage.token("score")).get("/submit").status_code == 403
    assert browser(stage, stage.token("submit")).get("/submit").status_code == 403


def test_organisers_choose_benchmark_and_team(stage: Stage) -> None:
    task = SharedTask(stage)
    task.team("oslo")
    client = browser(stage)
    assert f'<option value="{task.slug}"' in client.get("/submit").text
    page = client.get(f"/submit?benchmark={task.slug}")
    assert '<option value="oslo"' in page.text
    fields = {"csrf": field_of(page, "csrf"), "benchmark": task.slug, "do": "submit"}
    for team in ("oslo", "baseline"):
        answer = send(client, "/submit", {**fields, "team": team}, [("files", ("en", TEXT))])
        assert answer.status_code == 303
    assert [each["team"] for each in listed(task)] == [None, "oslo"]
    assert send(client, "/submit", {**fields, "benchmark": "none"}, []).status_code == 404
    assert send(client, "/submit", {**fields, "benchmark": ""}, []).status_code == 400
    assert client.get("/submit?benchmark=nothing").status_code == 404
    assert client.get("/submit?colour=red").status_code == 400


def test_a_closed_benchmark_has_no_form(stage: Stage) -> None:
    task = SharedTask(stage, closes_at="2020-01-01T00:00:00Z")
    client = signed_in(task)
    page = client.get("/submit")
    assert "closed" in words_of(page)
    assert 'type="file"' not in page.text


def test_the_script_stays_on_the_page_and_is_sent_on(stage: Stage) -> None:
    task = SharedTask(stage)
    client = signed_in(task)
    page = client.get("/submit")
    fields = {"csrf": field_of(page, "csrf"), "do": "submit"}
    sent = send(client, "/submit", fields, [("files", ("en", TEXT))], **{"HX-Request": "true"})
    assert (sent.status_code, sent.headers["HX-Redirect"]) == (204, f"/s/{listed(task)[0]['id']}")


def test_a_check_that_waits_is_asked_for_again(stage: Stage) -> None:
    task = SharedTask(stage)
    client = signed_in(task)
    with stage.asleep():
        waiting = post(client, ("en", LINE_4), do="check")
    address = waiting.text.partition('hx-get="')[2].partition('"')[0]
    assert client.get(address).status_code == 204
    run = address.split("/")[3]
    assert "being checked" in words_of(client.get(f"/submit/checks/{run}"))
    stage.queue.put(run, "live")
    done = client.get(address)
    assert done.status_code == 286
    assert "line 4" in done.text
    assert browser(stage, token_of(task.team("oslo"))).get(f"/submit/checks/{run}").status_code == 404


def test_who_looks_through_the_eyes_of_a_team_sends_nothing(stage: Stage) -> None:
    task = SharedTask(stage)
    team = task.team()
    submission = task.submit(team).rpartition("/")[2]
    client = browser(stage)
    value = field_of(client.get(f"/submit?benchmark={task.slug}"), "csrf")
    cookie = client.get_cookie("treescore_session")
    assert cookie is not None
    access.see_as(stage.context, access.signed_in(stage.context, cookie.value, ""), task.slug, "lyon")
    page = client.get("/submit")
    assert "You may look at submissions, not send them." in words_of(page)
    assert 'type="file"' not in page.text
    assert "Withdraw" not in words_of(client.get(f"/s/{submission}"))
    assert send(client, "/submit", {"csrf": value, "do": "submit"}, [("files", ("en", TEXT))]).status_code == 403
    assert send(client, "/jobs/new", {"csrf": value}, [("gold", ("en.conllu", TEXT))]).status_code == 403
    assert client.post(f"/s/{submission}", data={"csrf": value, "do": "withdraw"}).status_code == 403
