"""The example benchmarks of `make run`: made once, and completed where an earlier start was interrupted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import httpx
import pytest

from service.commands.demo import make_boards
from tests.conftest import ROOT
from tests.contract.stage import ADMIN, Stage, close_stage, open_stage
from tests.fixtures.servers import Valkey

DEFINITION = """
[[benchmark]]
id = "small"
title = "Small"
folder = "trees"
ending = ".mrg"
format = "bracketed"
metrics = ["parseval"]
feedback = "gold"
baselines = ["chance"]
missing = { chart = ["second"] }

[benchmark.parts]
first = [[1, 1], [3, 3]]
second = [[2, 2]]

[benchmark.revision]
reason = "Once more."
metrics = ["leaf_ancestor"]
"""
TREES = "(TOP (S (NP (DT a) (NN b)) (VP (VBD c))))\n" * 3


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    folder = tmp_path / "examples"
    (folder / "trees" / "systems").mkdir(parents=True)
    (folder / "benchmarks.toml").write_text(DEFINITION)
    for name in ("gold", "systems/chance", "systems/chart", "systems/pcfg"):
        (folder / "trees" / f"{name}.mrg").write_text(TREES)
    return folder


@pytest.fixture
def stage(tmp_path: Path, valkey: Valkey) -> Iterator[Stage]:
    opened = open_stage(tmp_path / "data", valkey.url)
    yield opened
    close_stage(opened)


class Counting(httpx.WSGITransport):
    """Counts what is sent, and after so many submissions answers no more."""

    def __init__(self, stage: Stage, submissions: int = 100) -> None:
        super().__init__(app=stage.app)
        self.left = submissions
        self.made = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer, unless it is a submission too many."""
        if request.method == "POST" and request.url.path.endswith("/submissions"):
            if self.left == 0:
                return httpx.Response(503, text="gone")
            self.left -= 1
        response = super().handle_request(request)
        self.made += request.method == "POST" and response.is_success
        return response


def client(transport: Counting) -> httpx.Client:
    headers = {"Authorization": f"Bearer {ADMIN}"}
    return httpx.Client(transport=transport, base_url="http://127.0.0.1", headers=headers)


def test_boards_have_all_rows_and_parts_and_a_second_revision(stage: Stage, examples: Path) -> None:
    with client(Counting(stage)) as asked:
        assert make_boards(asked, examples) == "small"
        board = asked.get("/v1/benchmarks/small/leaderboard").json()
    assert board["revision"] == 2
    rows = {row["name"]: row for row in board["rows"]}
    assert {name: (row["role"], row["missing_parts"]) for name, row in rows.items()} == {
        "chance": ("baseline", []), "chart": ("system", ["second"]), "pcfg": ("system", []),
    }  # fmt: skip


def test_what_an_interrupted_start_left_out_is_made_by_the_next_and_nothing_twice(stage: Stage, examples: Path) -> None:
    with client(Counting(stage, submissions=1)) as cut, pytest.raises(click.ClickException, match="gone"):
        make_boards(cut, examples)
    with client(Counting(stage)) as asked:
        make_boards(asked, examples)
        board = asked.get("/v1/benchmarks/small/leaderboard").json()
    assert sorted(row["name"] for row in board["rows"]) == ["chance", "chart", "pcfg"]
    again = Counting(stage)
    with client(again) as asked:
        make_boards(asked, examples)
    assert again.made == 0


def test_alignments_are_sent_with_the_words_of_both_sides() -> None:
    made: dict[str, Any] = {}

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/benchmarks":
            made.update({(body := json.loads(request.content))["id"]: body})
        return httpx.Response(200, json={"items": []}, headers={"Location": "/v1/somewhere"})

    with httpx.Client(transport=httpx.MockTransport(answer), base_url="http://127.0.0.1") as asked:
        make_boards(asked, ROOT / "examples")
    (part,) = made["example-alignments"]["parts"].values()
    assert len(part["items"]["words"]) == len(part["gold"].splitlines())
    assert part["items"]["words"][2] == ["A gull stole the cook 's sandwich .", "Eine Möwe stahl das Brot des Kochs ."]
