"""multipart/form-data: texts as files, named after their systems or their places."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from typing import Any

import httpx
import pytest
from flask import Request
from werkzeug.test import TestResponse

from service.api import forms
from service.config import Config
from tests.contract.stage import JOB, Stage
from tests.fixtures.requests import GOLD_TREE as GOLD
from tests.fixtures.requests import OTHER_TREE as OTHER
from treescore.core.text import digest_of

META = {"format": "bracketed", "metrics": ["parseval"]}


@pytest.fixture
def stage(kept_stage: Stage) -> Stage:
    """The tests leave each other alone."""
    return kept_stage


def post(stage: Stage, meta: Any, files: dict[str, bytes], **headers: str) -> TestResponse:
    field = (None, meta if isinstance(meta, str) else json.dumps(meta))
    parts = {"meta": field} | {name: ("file", body) for name, body in files.items()}
    form = httpx.Request("POST", "http://host", files=parts)  # Werkzeug's client ends no empty file with a line end
    return stage.client().post(
        "/v1/jobs", data=form.read(), headers={"Prefer": "wait=5", **headers}, content_type=form.headers["Content-Type"]
    )


def names(answer: TestResponse) -> list[str]:
    assert answer.status_code == 201, answer.text
    assert answer.json["state"] == "succeeded", answer.json["failure"]
    return [system["name"] for system in answer.json["results"]["systems"]]


def test_files_under_their_systems_names_are_the_same_job_as_json(stage: Stage) -> None:
    files = {"gold": GOLD.encode(), "A": GOLD.encode(), "B": OTHER.encode()}
    form = post(stage, META, files, **{"Idempotency-Key": "k"})
    assert names(form) == ["A", "B"]
    plain = stage.client().post("/v1/jobs", json=JOB, headers={"Idempotency-Key": "k"})
    assert plain.headers["Location"] == form.headers["Location"]


def test_meta_gives_order_and_formats_and_places_name_texts(stage: Stage) -> None:
    meta = {**META, "systems": [{"name": "second"}, {"name": "gold", "format": "bracketed"}]}
    files = {"systems/1": GOLD.encode(), "second": OTHER.encode(), "gold": GOLD.encode(), "third": OTHER.encode()}
    assert names(post(stage, meta, files)) == ["second", "gold", "third"]


def test_texts_may_be_plain_fields_and_meta_a_file(stage: Stage) -> None:
    data = {"meta": (io.BytesIO(json.dumps(META).encode()), "meta.json"), "gold": GOLD, "A": GOLD}
    assert names(stage.client().post("/v1/jobs", data=data, headers={"Prefer": "wait=5"})) == ["A"]


def test_formats_of_several_texts_take_a_file_for_each(stage: Stage) -> None:
    words = b"1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    texts = {"source": words, "target": words, "alignment": b"1 1 1 S\n"}
    files = {f"{owner}/{field}": text for owner in ("gold", "A", "systems/1") for field, text in texts.items()}
    meta = {
        "format": {"name": "parallel", "trees": "conllu", "alignment": "naacl"},
        "metrics": ["parallel_treebank"],
        "systems": [{"name": "A"}, {"name": "B"}],
    }
    assert names(post(stage, meta, files)) == ["A", "B"]


@pytest.mark.parametrize(
    ("meta", "files", "status", "pointer"),
    [
        ("{", {}, 400, None),
        ('{"a": NaN}', {}, 400, None),
        ("[]", {}, 422, ""),
        ({**META, "systems": {}}, {}, 422, "/systems"),
        ({**META, "systems": ["A"]}, {}, 422, "/systems"),
        (META, {"A": b""}, 422, "/gold"),
        (META, {"gold": b""}, 422, "/systems"),
        (META, {"gold": b"x", "systems/3": b""}, 422, "/systems/3"),
        (META, {"gold": b"a\nb\xff", "A": b""}, 422, "/gold"),
        ({**META, "gold": "x"}, {"gold": b"x", "A": b""}, 422, "/gold"),
        ({**META, "systems": [{"name": "A", "output": ""}]}, {"gold": b"x", "A": b""}, 422, "/systems/0/output"),
        ({**META, "systems": [{"name": "A"}]}, {"gold": b"x", "A": b"x", "systems/0": b"x"}, 422, "/systems/0/output"),
        (META, {"gold": b"x", "A": b"\xff"}, 422, "/systems/0/output"),
        (META, {"gold": b"x", "A/source": b"\xff"}, 422, "/systems/0/output/source"),
        (META, {"gold": b"x" * 300_001, "A": b""}, 413, None),
    ],
)
def test_forms_that_make_no_sense(stage: Stage, meta: Any, files: Any, status: int, pointer: str | None) -> None:
    answer = post(stage, meta, files)
    assert answer.status_code == status, answer.text
    if pointer is not None:
        assert pointer in [error.get("pointer", "") for error in answer.json["errors"]]


def test_invalid_utf8_is_told_with_its_place(stage: Stage) -> None:
    [error] = post(stage, META, {"gold": b"a\nb\xff", "A": b""}).json["errors"]
    assert (error["code"], error["line"], error["column"]) == ("invalid-utf8", 2, 2)
    [error] = post(stage, META, {"gold": GOLD.encode("utf-16"), "A": b""}).json["errors"]
    assert error["detail"] == "The file 'gold' is UTF-16. Save the file as UTF-8."
    [error] = post(stage, META, {"gold": b"1\0\t\0a\0\n\0", "A": b""}).json["errors"]
    assert error["detail"].startswith("The file 'gold' is UTF-16 without a byte order mark.")


def test_a_packed_file_is_named_as_what_it_is(stage: Stage) -> None:
    [error] = post(stage, META, {"gold": b"7z\xbc\xaf\x27\x1c", "A": b""}).json["errors"]
    assert (error["code"], error["pointer"]) == ("packed-text", "/gold")
    assert error["detail"].startswith("The file 'gold' is a 7z archive. Send the text")


def test_what_is_wrong_with_a_text_is_reported_after_what_is_wrong_with_the_form(stage: Stage) -> None:
    files = {"gold": ("gold", b"\xff"), "A": ("a", b"7z\xbc\xaf\x27\x1c")}
    [error] = posted(stage, files).json["errors"]
    assert (error["code"], error["pointer"]) == ("invalid-utf8", "/gold")
    [error] = posted(stage, {**files, "B": ("b.gz", b"no gzip")}).json["errors"]
    assert (error["code"], error["pointer"]) == ("damaged-archive", "/B")
    assert posted(stage, files, meta=[]).json["errors"][0]["code"] == "wrong-type"
    form = httpx.Request("POST", "http://host", files={"meta": (None, json.dumps(META)), **files})
    cut = stage.client().post("/v1/jobs", data=form.read()[:-9], content_type=form.headers["Content-Type"])
    assert cut.json["type"].endswith("/malformed-body")


def test_of_many_files_one_is_held_unpacked(bounded_memory: Any) -> None:
    texts = {f"part{number}": f"{number}\n".encode() * 400_000 for number in range(40)}
    files = {"meta": (None, b"{}"), **{name: (name, text) for name, text in texts.items()}}
    form = httpx.Request("POST", "http://host", files=files)
    body = form.read()
    environ = {"CONTENT_TYPE": form.headers["Content-Type"], "CONTENT_LENGTH": str(len(body)), "REQUEST_METHOD": "POST"}
    request = Request({**environ, "wsgi.input": io.BytesIO(body)})
    with bounded_memory(limit=6_000_000):
        outputs = forms.read_outputs(request, Config(database_url="", redis_url=""))["outputs"]
    assert {name: (text.digest, text.size) for name, text in outputs.items()} == {
        name: (digest_of(text), len(text)) for name, text in texts.items()
    }


@pytest.mark.parametrize(
    ("media", "body"),
    [
        ("multipart/form-data", b""),
        ("multipart/form-data; boundary=x", b""),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="meta"\r\n\r\n{}'),
        ("multipart/form-data; boundary=x", b"--y\r\n\r\n--y--"),
        ("multipart/form-data; boundary=x", b"--x--\r\n"),
        ("multipart/form-data; boundary=x", b'--x\nContent-Disposition: form-data; name="meta"\n\n{}\n--x--\n'),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="\xff"\r\n\r\n{}\r\n--x--\r\n',
        ),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\n{}\r\n--x--\r\n"),
    ],
)
def test_what_is_no_form_is_a_bad_request(stage: Stage, media: str, body: bytes) -> None:
    answer = stage.client().post("/v1/jobs", data=body, headers={"Content-Type": media})
    assert answer.status_code == 400


def test_a_long_field_that_is_no_file_is_too_large(stage: Stage) -> None:
    answer = stage.client().post(
        "/v1/jobs", data={"meta": json.dumps(META), "gold": "x" * 100_001, "A": (io.BytesIO(b""), "a")}
    )
    assert answer.status_code == 413


@pytest.mark.parametrize("head", [b"X-Long: " + b"x" * 5_000, b"\r\n".join(b"X-%d: x" % number for number in range(9))])
def test_a_part_with_long_or_many_headers_is_too_large(stage: Stage, head: bytes) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="meta"\r\n' + head + b"\r\n\r\n{}\r\n--x--\r\n"
    answer = stage.client().post("/v1/jobs", data=body, headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert answer.status_code == 413


def test_a_form_of_too_many_parts_is_too_large(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "MAX_PARTS", 2)
    assert post(stage, META, {"gold": b"(S (A a))"}).status_code == 422  # no system
    assert post(stage, META, {"gold": b"(S (A a))", "A": b"(S (A a))"}).status_code == 413


def zipped(files: dict[str, bytes]) -> bytes:
    """An archive of files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def posted(
    stage: Stage, files: dict[str, tuple[str, bytes]], address: str = "/v1/jobs", meta: Any = META
) -> TestResponse:
    """The answer to a form whose files have names of their own."""
    form = httpx.Request("POST", "http://host", files={"meta": (None, json.dumps(meta)), **files})
    return stage.client().post(
        address, data=form.read(), headers={"Prefer": "wait=5"}, content_type=form.headers["Content-Type"]
    )


def test_packed_files_are_the_same_job_as_plain_ones(stage: Stage) -> None:
    plain = posted(stage, {"gold": ("gold.mrg", GOLD.encode()), "A": ("a.mrg", OTHER.encode())})
    packed = {
        "gold": ("gold.mrg.GZ", gzip.compress(GOLD.encode())),
        "A": ("a.zip", zipped({"a.mrg": OTHER.encode(), "__MACOSX/a.mrg": b"x"})),
    }
    answer = posted(stage, packed)
    assert names(answer) == names(plain) == ["A"]
    scores = [each.json["results"]["systems"][0]["metrics"]["parseval"]["counts"] for each in (plain, answer)]
    assert scores[0] == scores[1]


def test_an_archive_may_hold_all_parts(stage: Stage) -> None:
    meta = {"id": f"zip-{id(stage)}", "title": "Zip", "format": "bracketed", "metrics": ["parseval"]}
    archive = zipped({"gold/en.mrg": GOLD.encode(), "gold/de_pud.mrg": OTHER.encode()})
    made = posted(stage, {"parts": ("gold.zip", archive)}, "/v1/benchmarks", meta)
    assert made.status_code == 201, made.text
    assert sorted(made.json["parts"]) == ["de_pud", "en"]


@pytest.mark.parametrize(
    "files",
    [
        {"A": ("a.zip", zipped({"a": b"(S (A a))\n" * 4_000}))},
        {name: (f"{name}.gz", gzip.compress(b"(S (A a))\n" * 2_000)) for name in "AB"},
    ],
)
def test_packed_files_of_a_few_bytes_stand_together_for_no_more_than_is_free(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, files: dict[str, tuple[str, bytes]]
) -> None:
    monkeypatch.setattr(Config, "room_of", lambda _config, packed: 30_000 if packed < 2_000 else 60_000)
    answer = posted(stage, {"gold": ("gold", GOLD.encode()), **files})
    assert answer.status_code == 413, answer.text


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("a.gz", b"no gzip", 422),
        ("a.gz", gzip.compress(b"(S (A a))")[:-4], 422),
        ("a.gz", b"", 422),
        ("a.zst", b"no zstd", 422),
        ("a.gz", gzip.compress(b"x" * 1_000_000), 413),
        ("a.zip", b"no zip", 422),
        ("a.zip", zipped({}), 422),
        ("a.zip", zipped({"a": b"(S (A a))", "b": b"(S (A a))"}), 422),
        ("a.zip", zipped({"../a": b"(S (A a))"}), 422),
        ("a.zip", zipped({"a": b"x" * 1_000_000}), 413),
    ],
    ids=range(10),  # packed data has the time in it, and every process must collect the same tests
)
def test_what_cannot_be_unpacked_is_refused(stage: Stage, name: str, data: bytes, status: int) -> None:
    answer = posted(stage, {"gold": ("gold", GOLD.encode()), "A": (name, data)})
    assert answer.status_code == status, answer.text
    assert answer.content_type.startswith("application/problem+json")
    if status == 422:
        assert answer.json["errors"][0]["pointer"] == "/A"
        assert name in answer.json["errors"][0]["detail"] or "several" in answer.json["errors"][0]["code"]
