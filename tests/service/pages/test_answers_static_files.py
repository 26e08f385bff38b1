"""The files that pages load: whose they are, how they are kept; the style sheet leaves lines of pictures unfilled."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from service.pages.answers import MEDIA_TYPES, STATIC, static_address, static_version
from tests.conftest import ROOT
from tests.contract.stage import Stage

OWN = {"board.js", "docs.js", "pages.css", "pages.js", "mark.svg", "vendored.toml"}
LISTED = tomllib.loads((STATIC / "vendored.toml").read_text(encoding="utf-8"))["file"]


@pytest.fixture
def anybody(stage: Stage) -> FlaskClient:
    """A browser."""
    return FlaskClient(stage.app, stage.app.response_class)


@pytest.mark.parametrize("entry", LISTED, ids=lambda entry: entry["path"])
def test_a_file_of_another_project_is_what_it_is_said_to_be(entry: dict[str, str]) -> None:
    assert hashlib.sha256((STATIC / entry["path"]).read_bytes()).hexdigest() == entry["sha256"]
    assert entry["licence"] in ("0BSD", "OFL-1.1", "MIT", "Apache-2.0")
    licence = (STATIC / entry["licence_file"]).read_text(encoding="utf-8")
    assert len(licence) > 400
    assert re.search("permission|license", licence, re.IGNORECASE)
    assert entry["version"] in entry["source"]
    assert entry["source"].startswith("https://")
    assert entry["name"]


def test_every_file_is_our_own_or_listed() -> None:
    there = {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file()}
    listed = {entry["path"] for entry in LISTED}
    assert there == OWN | listed | {entry["licence_file"] for entry in LISTED}


def test_files_are_kept_for_ever_at_the_address_of_their_version(anybody: FlaskClient) -> None:
    for path in sorted(path for path in STATIC.rglob("*") if path.suffix in MEDIA_TYPES):
        name = path.relative_to(STATIC).as_posix()
        answer = anybody.get(static_address(name))
        assert answer.data == path.read_bytes()
        assert answer.content_type == MEDIA_TYPES[path.suffix]
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        again = anybody.get(static_address(name), headers={"If-None-Match": answer.headers["ETag"]})
        assert again.status_code == 304


def test_the_address_of_another_version_is_kept_briefly(anybody: FlaskClient) -> None:
    answer = anybody.get("/static/000000000000/pages.css")
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "public, max-age=60"


@pytest.mark.parametrize(
    "name", ["vendored.toml", "nothing.css", "../pages.py", "%2e%2e/board.py", "font", "font/", ""]
)
def test_nothing_else_is_served(anybody: FlaskClient, name: str) -> None:
    assert anybody.get(f"/static/{static_version()}/{name}").status_code == 404


def test_the_files_name_nothing_outside() -> None:
    for name in OWN:
        words = (STATIC / name).read_text(encoding="utf-8")
        outside = [url for url in re.findall(r"https?://[^\s\"')]+", words) if "www.w3.org" not in url]
        assert outside == [] or name == "vendored.toml", name
    for reference in re.findall(r'url\("([^"]+)"\)', (STATIC / "pages.css").read_text(encoding="utf-8")):
        assert (Path(STATIC) / reference).is_file(), reference


RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
SENTENCE = ROOT / "docs" / "pictures" / "sentence.svg"


def filled(sheet: str) -> list[str]:
    """The selectors of rules that fill what is in a picture."""
    rules = RULE.findall(re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL))
    return [each.strip() for selectors, body in rules if re.search(r"(^|[\s;])fill:", body)
            for each in re.split(r",(?![^(]*\))", selectors) if each.strip().startswith(".drawing ")]  # fmt: skip


def fills(selector: str, name: str, classes: set[str]) -> bool:
    """Whether a selector `.drawing NAME.CLASS:not(.CLASS, ...)` takes an element."""
    wanted, _, excluded = selector.removeprefix(".drawing ").partition(":not(")
    of_name = re.match(r"[a-z]*", wanted)
    named = set(re.findall(r"\.([\w-]+)", wanted))
    barred = set(re.findall(r"\.([\w-]+)", excluded))
    return (of_name is None or of_name[0] in ("", name)) and named <= classes and not barred & classes


def test_no_rule_fills_an_arc() -> None:
    selectors = filled((STATIC / "pages.css").read_text(encoding="utf-8"))
    assert ".drawing .form" in selectors
    arcs = re.findall(r'<path[^>]* fill="none" class="([^"]+)"', SENTENCE.read_text(encoding="utf-8"))
    assert {"arc gold lab", "arc bad lab"} <= set(arcs)
    for arc in set(arcs):
        assert [each for each in selectors if fills(each, "path", set(arc.split()))] == [], arc
