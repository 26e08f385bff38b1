"""Documents as frozen views, errors by kind, and texts that are sent."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import tracemalloc

import httpx
import pytest

from tests.treescore.client.loopback import FAST, awaited, head, raw_server
from tests.treescore.stand_in import stand_in
from treescore import Client, RefusedError, RequestError, UnavailableError
from treescore.client import Progress, answers, documents
from treescore.client.requests import progress_of, upload_of, uploads_of

JOB = {
    "id": "job_1",
    "state": "succeeded",
    "results": {"systems": [{"name": "A", "metrics": {"parseval": {"scores": {"f1": 0.5, "cutoff": {"f1": None}}}}}]},
    "warnings": [{"code": "odd", "detail": "It is odd."}],
    "failure": None,
}
PACKED = gzip.compress(b"1\ta\n", mtime=0)  # without a time, so that every process collects the same tests
FAILURE = {
    "type": "/problems/invalid-output",
    "title": "The output does not fit",
    "status": 422,
    "kind": "input",
    "detail": '1 problem in part "en".',
    "errors": [{"code": "bad-head", "part": "en", "line": 7, "column": 7, "sentence": 2, "sent_id": "s2",
                "detail": "HEAD is 9. Use 0 to 7."}],
    "errors_total": 3,
}  # fmt: skip


def test_members_are_attributes_and_the_document_stays_as_it_came():
    job = documents.Job(JOB)
    assert (job.id, job.failure, job["state"]) == ("job_1", None, "succeeded")
    assert job.document is JOB
    assert job == JOB
    assert isinstance(job.warnings[0], documents.Warning)
    assert job.warnings[0].detail == "It is odd."
    assert job.results.systems[0].metrics.parseval.scores.f1 == 0.5
    assert job.scores_of("A") == {"parseval.f1": 0.5, "parseval.cutoff.f1": None}
    assert repr(job) == "Job(id='job_1', state='succeeded')"
    assert "results" in dir(job)
    assert pickle.loads(pickle.dumps(job)) == job  # noqa: S301 - written above


@pytest.mark.parametrize("change", [lambda job: setattr(job, "id", "x"), lambda job: delattr(job, "id")])
def test_documents_are_frozen(change):
    with pytest.raises(AttributeError, match="is frozen"):
        change(documents.Job(JOB))


def test_an_unknown_system_has_no_scores():
    with pytest.raises(KeyError, match="B"):
        documents.Job(JOB).scores_of("B")
    with pytest.raises(KeyError, match="A"):
        documents.Job({**JOB, "results": None}).scores_of("A")


@pytest.mark.parametrize(
    ("status", "slug", "kind", "base"),
    [
        (429, "quota-exceeded", answers.QuotaExceeded, RefusedError),
        (429, "new-kind", answers.TooManyRequests, RefusedError),
        (404, "not-found", answers.NotFound, RequestError),
        (409, "closed", answers.BenchmarkClosed, RefusedError),
        (422, "", answers.InvalidRequest, RequestError),
        (503, "store-full", answers.StoreFull, UnavailableError),
        (599, "new-kind", UnavailableError, UnavailableError),
        (418, "new-kind", RequestError, RequestError),
    ],
)
def test_each_kind_of_problem_has_its_class(status, slug, kind, base):
    error = answers.failure_error({"type": f"/problems/{slug}", "detail": "It is wrong."}, status, 4.0)
    assert type(error) is kind
    assert isinstance(error, base)
    assert (error.status, error.slug, error.retry_after, error.lines) == (status, slug, 4.0, ("It is wrong.",))


def test_a_type_with_the_address_of_the_service_is_known_too():
    found = answers.failure_error({"type": "https://scores.example.org/problems/closed", "title": "Closed"}, 409)
    assert type(found) is answers.BenchmarkClosed


def check_failure(error):
    assert isinstance(error, RequestError)
    (problem,) = error.problems
    assert (problem.code, problem.part, problem.sentence, problem.sent_id, problem.line, problem.column) == (
        "bad-head", "en", 2, "s2", 7, 7
    )  # fmt: skip
    assert problem.detail == "HEAD is 9. Use 0 to 7."
    assert error.lines == ('part "en":7:7: HEAD is 9. Use 0 to 7. (sentence s2) [bad-head]', "... and 2 more")
    assert error.document["kind"] == "input"


def test_work_that_failed_is_an_error_with_line_and_column():
    failed = {"id": "sub_1", "state": "failed", "failure": FAILURE}
    script = {("POST", "/v1/benchmarks/x/submissions"): [(202, {}, {"id": "sub_1", "state": "queued"})],
              ("GET", "/v1/submissions/sub_1"): [(200, {}, failed)]}  # fmt: skip
    with stand_in(script) as (url, _), Client(url, backoff=FAST) as client:
        with pytest.raises(answers.InvalidOutput) as error:
            client.benchmark("x").submit({"en": "1\ta\n"}, wait=True)
        check_failure(error.value)
        with pytest.raises(answers.InvalidOutput):
            awaited(url, lambda other: other.submission("sub_1").wait())
        assert client.submission("sub_1").wait(check=False).failure.errors[0].line == 7
    with (
        stand_in({("GET", "/v1/jobs/job_1"): [(200, {}, {"id": "job_1", "state": "cancelled"})]}) as (url, _),
        Client(url) as client,
        pytest.raises(answers.Cancelled, match="job_1 was cancelled"),
    ):
        client.job("job_1").wait()


def test_pages_are_followed_to_their_end():
    def page(first, following):
        return (200, {}, {"items": [{"id": f"job_{first}"}, {"id": f"job_{first + 1}"}], "next": following})

    script = {("GET", "/v1/jobs?state=failed"): [page(1, "c&2")],
              ("GET", "/v1/jobs?state=failed&cursor=c%262"): [page(3, None)]}  # fmt: skip
    with stand_in(script) as (url, _), Client(url, backoff=FAST) as client:
        assert [job.id for job in client.jobs.list(state="failed")] == ["job_1", "job_2", "job_3", "job_4"]

        async def listed(other):
            return [job.id async for job in other.jobs.list(state="failed")]

        assert awaited(url, listed) == ["job_1", "job_2", "job_3", "job_4"]


@pytest.mark.parametrize("page", [{"items": 5}, {"items": [3]}, {}])
def test_what_is_no_page_is_a_wrong_answer(page):
    with (
        stand_in({("GET", "/v1/jobs"): [(200, {}, page)]}) as (url, _),
        Client(url, backoff=FAST) as client,
        pytest.raises(answers.WrongAnswer, match="without a list `items`"),
    ):
        list(client.jobs.list())


@pytest.mark.parametrize("following", ["c", "d"])
def test_pages_that_go_in_a_circle_end(following):
    def page(cursor):
        return [(200, {}, {"items": [{"id": "job_1"}], "next": cursor})]

    script = {("GET", "/v1/jobs"): page("c"), ("GET", "/v1/jobs?cursor=c"): page(following),
              ("GET", "/v1/jobs?cursor=d"): page("c")}  # fmt: skip
    with (
        stand_in(script) as (url, _),
        Client(url, backoff=FAST) as client,
        pytest.raises(answers.WrongAnswer, match="leads back to a page"),
    ):
        list(client.jobs.list())


def test_an_answer_is_asked_for_with_its_validator_and_kept():
    first = (200, {"ETag": '"1"'}, {"id": "x"})
    sent = {}
    script = {("GET", "/v1/benchmarks/x"): [first, (304, {"ETag": '"1"'}, b"")]}
    with stand_in(script, sent) as (url, seen), Client(url, backoff=FAST) as client:
        assert client.benchmark("x").get() == {"id": "x"}
        assert client.benchmark("x").get() == {"id": "x"}
        assert sent["GET", "/v1/benchmarks/x"]["If-None-Match"] == '"1"'
        assert len(seen) == 2


def test_texts_of_every_kind_are_sent_and_counted(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_bytes(b"from a path\n")
    texts = {"path": path, "name": str(path), "text": "a text\n", "bytes": b"bytes", "open": io.BytesIO(b"open"),
             "words": io.StringIO("wörds\n"), "several": {"source": b"s\n", "target": "t\n"}}  # fmt: skip
    told = []
    with raw_server([head(202, b'{"id": "sub_1", "state": "queued"}')]) as (url, received):
        with Client(url, backoff=FAST) as client:
            client.benchmark("x").submit(texts, name="v7", progress=told.append)
        body = received[0]
    for field, text in (("path", b"from a path\n"), ("name", b"from a path\n"), ("text", b"a text\n"),
                        ("bytes", b"bytes"), ("open", b"open"), ("words", "wörds\n".encode()),
                        ("several/source", b"s\n"), ("several/target", b"t\n")):  # fmt: skip
        part = body.partition(f'; name="{field}"'.encode())[2]
        assert part.partition(b"\r\n\r\n")[2].startswith(text + b"\r\n--"), field
    assert json.loads(body.partition(b'name="meta"')[2].split(b"\r\n")[2]) == {"name": "v7"}
    assert b"a.conllu" not in body
    assert told[-1] == Progress("sending", told[-1].total, told[-1].total)
    assert [step.done for step in told] == sorted(step.done for step in told)


class Draining(httpx.BaseTransport):
    """Takes what is sent without keeping it."""

    def __init__(self):
        self.size = 0

    def handle_request(self, request):
        self.size = sum(len(piece) for piece in request.stream)
        assert self.size == int(request.headers["Content-Length"])
        return httpx.Response(202, json={"id": "sub_1", "state": "queued"}, request=request)


def test_a_large_file_is_streamed(tmp_path):
    path = tmp_path / "en.conllu"
    with path.open("wb") as file:
        file.truncate(64 << 20)
    transport = Draining()
    with Client("http://scores.example.org", http={"transport": transport}) as client:
        tracemalloc.start()
        client.benchmark("x").submit({"en": path})
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert transport.size > 64 << 20
    assert peak < 4 << 20


def test_a_part_named_as_the_forms_own_field_has_another_name():
    assert [each.name for each in uploads_of({"meta": b"x", "en": b"y"})] == ["parts/meta", "en"]


@pytest.mark.parametrize("text", ["no/such/file", "", "\0", "x" * 5000, 7, None, ["a"]])
def test_what_is_no_text_is_an_error_before_anything_is_sent(text):
    with pytest.raises(RequestError) as error:
        upload_of("en", text)
    assert "path" in str(error.value)
    assert len(str(error.value)) < 300


def test_a_packed_file_is_unpacked(tmp_path):
    path = tmp_path / "en.conllu.gz"
    path.write_bytes(PACKED)
    assert upload_of("en", path).content == b"1\ta\n"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("en.conllu", PACKED, "Rename it"),
        ("en.conllu.gz", PACKED[:-4], "truncated gzip file"),
        ("en.gz", gzip.compress(PACKED, mtime=0), "unpack it"),
        ("en.zip", b"PK\x03\x04damaged", "not a whole zip archive"),
    ],
    ids=["another suffix", "truncated", "packed twice", "damaged"],
)
def test_a_packed_file_that_cannot_be_unpacked_is_not_sent(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(answers.UnreadableUpload, match=expected):
        upload_of("en", path)


@pytest.mark.parametrize("key", ["é", "a\nb", "\0"])
def test_a_key_that_cannot_be_sent_is_an_error_before_anything_is_sent(key):
    with Client("http://127.0.0.1:9") as client, pytest.raises(RequestError, match="Invalid header 'Idempotency-Key'"):
        client.benchmark("x").submit({"en": "1\ta\n"}, key=key)


def test_what_is_no_json_is_an_error_before_anything_is_sent():
    with Client("http://127.0.0.1:9") as client, pytest.raises(RequestError, match="cannot be written as JSON"):
        client.benchmark("x").change({"title": {"a set"}}, etag="x")


@pytest.mark.parametrize(
    ("operation", "path", "query", "expected"),
    [("list_things", {}, {}, "Unknown operation"), ("list_job", {}, {}, "mean 'list_jobs'"),
     ("get_job", {}, {}, "path parameters: job_id"),
     ("get_job", {"job_id": ""}, {}, "not empty"), ("get_job", {"job_id": ".."}, {}, "not empty")],
)  # fmt: skip
def test_a_call_that_the_contract_does_not_know_is_not_sent(operation, path, query, expected):
    with Client("http://127.0.0.1:9") as client, pytest.raises(RequestError, match=expected):
        client.call(operation, path, query=query)


def test_a_keyword_that_no_method_has_is_not_swallowed():
    with Client("http://127.0.0.1:9") as client, pytest.raises(TypeError, match=r"'waits'.* mean 'wait'"):
        client.benchmark("x").submit({"en": "1\ta\n"}, waits=True)


class Unreadable:
    """An open file whose read fails."""

    def __init__(self, error):
        self.error = error

    def read(self):
        raise self.error


@pytest.mark.parametrize("error", [OSError(5, "I/O error"), ValueError("I/O operation on closed file.")])
def test_an_open_file_that_cannot_be_read_is_told(error):
    with pytest.raises(answers.UnreadableUpload, match=r"^en: the open file cannot be read: .*I/O"):
        upload_of("en", Unreadable(error))


def test_a_pipe_is_not_read_before_it_is_sent(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(answers.UnreadableUpload, match="pipe or a device"):
        upload_of("en", pipe)


@pytest.mark.parametrize("texts", [{"\ud800": "a\n"}, {3: "a\n"}, {"en": {"\ud800": "a\n"}}])
def test_a_name_that_cannot_be_sent_is_an_error_of_the_request(texts):
    with pytest.raises(RequestError, match="Invalid name"):
        uploads_of(texts)


@pytest.mark.parametrize(
    "call", [lambda client: client.job("\ud800").get(), lambda client: list(client.jobs.list(state="\ud800"))]
)
def test_an_id_that_cannot_be_sent_is_an_error_of_the_request(call):
    with Client("http://127.0.0.1:9", backoff=FAST) as client, pytest.raises(RequestError, match="surrogate"):
        call(client)


@pytest.mark.parametrize(
    "told", [{"progress": 5, "queue": []}, {"progress": {"done": "x", "total": [], "step": 5}, "queue": {"ahead": "x"}}]
)
def test_progress_of_another_contract_is_not_known(told):
    assert progress_of({"state": "running", **told}) == Progress("running", document={"state": "running", **told})


def test_equal_documents_have_equal_hashes():
    assert hash(documents.Job({"id": "x", "state": "queued"})) == hash(documents.Job({"state": "queued", "id": "x"}))
