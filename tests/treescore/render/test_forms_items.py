"""Items as lines of JSON and as CSV."""

from __future__ import annotations

import csv
import io

import orjson
import pytest

from treescore.render.forms import ITEM_FORMATS, render_items

ITEMS = [
    {"item": 1, "status": "ok", "scores": {"las": 0.5, "cutoff": {"f1": None}}, "words": [{"word": "=a"}]},
    {"item": 2, "sent_id": "=s2", "status": "ok", "scores": {"las": 1.0}},
]


def test_ndjson_has_a_document_on_each_line():
    lines = render_items(ITEMS, "ndjson").content.splitlines()
    assert [orjson.loads(line) for line in lines] == ITEMS


def test_csv_names_columns_by_their_path_and_holds_what_any_item_has():
    rows = list(csv.DictReader(io.StringIO(render_items(ITEMS, "csv").content.decode())))
    assert list(rows[0]) == ["item", "status", "scores.las", "scores.cutoff.f1", "words", "sent_id"]
    assert rows[0]["scores.las"] == "0.5"
    assert orjson.loads(rows[0]["words"]) == [{"word": "=a"}]
    assert rows[1]["sent_id"] == "'=s2"
    assert rows[1]["words"] == ""


@pytest.mark.parametrize("form", ITEM_FORMATS)
def test_an_empty_page_can_be_shown(form):
    assert render_items([], form).media_type == ITEM_FORMATS[form]
