"""Two worlds that differ in gold or in a rival alone answer a team alike: bytes, times, validators, in every coding.

`tests/contract/test_gate.py` asks everything of two worlds; here each has what one attack needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import product
from pathlib import Path
from random import Random
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.pages.visitors import SESSION_COOKIE
from service.usecases import access
from tests.contract.stage import ADMIN, Stage
from tests.contract.twins import twin
from tests.fixtures.servers import Valkey
from treescore.core.jit import forced
from treescore.metrics.mwe import kernel
from treescore.metrics.shared import segmentation

CODINGS = ("identity", "gzip", "zstd")
ASKED = (
    *("/v1/submissions/{sent}", "/v1/submissions/{sent}/output", "/v1/benchmarks/b/submissions", "/v1/jobs", "{job}"),
    *("/v1/events", "/v1/benchmarks", "/v1/benchmarks/b", "/v1/benchmarks/b/revisions", "/v1/benchmarks/b/inputs/en"),
    *("/v1/benchmarks/b/leaderboard", "/v1/benchmarks/b/leaderboard?pick=all", "/v1/benchmarks/b/leaderboard/matrix"),
    *("/v1/benchmarks/b/comparisons", "/metrics"),
)


@dataclass(frozen=True)
class World:
    """What nobody below the level may tell from another world.

    Attributes:
        gold: its text.
        rival: the outputs that another team sends before.
        elsewhere: the outputs that are sent before to another benchmark, where they are right.
        step: milliseconds of each step of work.
    """

    gold: str
    rival: Sequence[str] = ()
    elsewhere: Sequence[str] = ()
    step: int = 1


@dataclass(frozen=True)
class Row:
    """An attack.

    Attributes:
        level: of feedback.
        worlds: the two.
        output: what the attacker sends.
        metric: of the benchmark.
        form: its format.
        part: further members of its part.
        board: settings of the leaderboard.
        revised: gold of a revision after all was sent; none where it is empty.
        bounds: limits of the service, by the names of its settings.
    """

    level: str
    worlds: tuple[World, World]
    output: str
    metric: str = "attachment"
    form: Any = "conllu"
    part: dict[str, Any] = field(default_factory=dict)
    board: dict[str, Any] = field(default_factory=dict)
    revised: str = ""
    bounds: dict[str, str] = field(default_factory=dict)


def varied(form: str, relation: str) -> str:
    """Sentences of two words, all different and so many that it matters how they are packed."""
    rows = "1\t{0}{1}\t_\tX\t_\t_\t2\t{3}\t_\t_\n2\t{0}{2}\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    return "".join(rows.format(form, at * 7919 % 1000, at * 104_729 % 997, relation) for at in range(4000))


def chain(words: int, *, deep: bool) -> str:
    """A sentence in which each word hangs on the one before, or all on the first."""
    heads = [number if deep else min(number, 1) for number in range(words)]
    return "".join(f"{at}\tw\t_\tX\t_\t_\t{head}\tdep\t_\t_\n" for at, head in enumerate(heads, 1)) + "\n"


def multiword(words: int) -> str:
    """A multiword token."""
    rows = "".join(f"{at}\tv{words}{at}\t_\tX\t_\t_\t{at - 1}\tdep\t_\t_\n" for at in range(1, words + 1))
    return f"1-{words}\tword\t_\t_\t_\t_\t_\t_\t_\t_\n{rows}\n"


def star(expressions: int, before: int) -> str:
    """A sentence of 16 words in which so many expressions have the first word, and each one of those after others."""
    codes = [";".join(f"{number}:X" for number in range(1, expressions + 1))]
    codes += [str(at - before) if before < at <= before + expressions else "*" for at in range(1, 16)]
    rows = "".join(f"{at}\tw\tw\tX\t_\t_\t{at - 1}\tdep\t_\t_\t{code}\n" for at, code in enumerate(codes, 1))
    columns = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE"
    return f"# global.columns = {columns}\n{rows}\n"


def tree(depth: int, label: str = "X") -> str:
    """Twenty words, each below so many brackets."""
    word = f"({label} " * depth + "(T w)" + ")" * depth
    return f"(S {' '.join([word] * 20)})\n"


SENT = varied("w", "obj")
FLAT, DEEP = chain(30, deep=False), chain(30, deep=True)
SHIFTED = "1-1 2-2 3-3 4-4\n1-1 2-2 3-3\n"
ROWS = {
    "D1, whether an output was scored": Row(
        "none", (World(varied("w", "obl")), World(varied("v", "obl"))), SENT
    ),
    "D1, whether anybody sent the same": Row(
        "none", (World(varied("v", "x"), elsewhere=[SENT]), World(varied("v", "x"), elsewhere=[varied("w", "x")])), SENT
    ),
    **{
        f"D2, how long work takes, at {level}": Row(
            level, (World(FLAT, step=3), World(DEEP, step=20)), DEEP
        )
        for level in ("none", "status")
    },
    "D3, cells of trees": Row(
        "status", (World(tree(0)), World(tree(1))), tree(3), "tree_distance", "bracketed",
        bounds={"TREESCORE_MAX_LINEAGE_CELLS": "63000"},
    ),
    "D3, lengths of lineages": Row(
        "status", (World(tree(0)), World(tree(10))), tree(24, "Y"), "leaf_ancestor", "bracketed",
        bounds={"TREESCORE_MAX_LINEAGE_CELLS": "500"},
    ),
    "D3, expressions that overlap": Row("status", (World(star(1, 8)), World(star(4, 8))), star(6, 0), "mwe", "cupt"),
    "D3, words of a multiword token": Row("status", (World(multiword(2)), World(multiword(40))), multiword(30), "ud"),
    "D3, how well another reading of links fits": Row(
        "status", (World("0-0 1-1 2-2 3-3\n0-0 1-1 2-2\n"), World("0-3 1-2 2-1 3-0\n0-2 1-1 2-0\n")), SHIFTED,
        "alignment", {"name": "pharaoh", "base": 0}, {"items": {"lengths": [[4, 4], [3, 3]]}},
    ),
    "D4, who moved on a frozen board": Row(
        "gold", (World(FLAT, [FLAT, DEEP]), World(FLAT, [FLAT, tree(0)])), DEEP,
        board={"frozen_at": "2026-11-20T12:00:45Z"}, revised=DEEP,
    ),
    "D5, whether a rival's other attempt was scored": Row(
        "rounded", (World(FLAT, [FLAT, DEEP]), World(FLAT, [FLAT, tree(0)])), DEEP
    ),
}  # fmt: skip
"""By attack: its letter and number in the list of faults, and what it asks."""


def told(stage: Stage, world: World, row: Row) -> tuple[list[Any], list[Any]]:
    """What the attacker is told in a world, and what organisers are."""

    def send(method: str, path: str, body: Any = None, token: str = ADMIN, **headers: str) -> Any:
        headers |= {"Authorization": f"Bearer {token}", "Request-Id": "one"}
        return stage.app.test_client().open(path, method=method, json=body, headers=headers)

    def heard(token: str, places: dict[str, str]) -> list[Any]:
        answers = []
        for path in ASKED:
            for coding in CODINGS:
                answer = send("GET", path.format(**places), token=token, **{"Accept-Encoding": coding})
                answers.append((path, coding, answer.status_code, dict(answer.headers), answer.data))
        return answers

    benchmark = {"id": "b", "title": "B", "format": row.form, "metrics": [row.metric], "feedback": row.level}
    benchmark |= {"leaderboard": row.board, "parts": {"en": {"gold": world.gold, **row.part}}}
    assert send("POST", "/v1/benchmarks", benchmark).status_code == 201
    for output in world.elsewhere:
        assert (
            send("POST", "/v1/benchmarks", {**benchmark, "id": "c", "parts": {"en": {"gold": output}}}).status_code
            == 201
        )
        assert send("POST", "/v1/benchmarks/c/submissions", {"outputs": {"en": output}}).json["state"] == "succeeded"
    teams = [send("POST", "/v1/benchmarks/b/teams", {"id": name, "name": name}).json["token"] for name in ("a", "b")]
    for output in world.rival:
        assert send("POST", "/v1/benchmarks/b/submissions", {"outputs": {"en": output}}, teams[1]).status_code < 300
    sent = send("POST", "/v1/benchmarks/b/submissions", {"outputs": {"en": row.output}}, teams[0])
    checked = send("POST", "/v1/benchmarks/b/submissions?validate_only=true", {"outputs": {"en": row.output}}, teams[0])
    if row.revised:
        revision = {"reason": "an error", "parts": {"en": {"gold": row.revised}}}
        assert send("POST", "/v1/benchmarks/b/revisions", revision).json["state"] == "active"
    places = {"sent": sent.json["id"], "job": checked.headers["Location"]}
    made = [(dict(each.headers), each.data) for each in (sent, checked)]
    return made + heard(teams[0], places), heard(ADMIN, places)


@pytest.mark.slow
@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in ROWS.items()])
def test_a_team_is_told_the_same_in_both(row: Row, tmp_path: Path, valkey: Valkey) -> None:
    answers = []
    for number, world in enumerate(row.worlds):
        step = timedelta(milliseconds=world.step)
        with (
            pytest.MonkeyPatch.context() as patch,
            forced("always"),  # else no text is stored in another way once it was scored
            twin(tmp_path / str(number), valkey.url, patch, step, **row.bounds) as stage,
        ):
            patch.setattr(kernel, "MAX_SHARED", 20)
            patch.setattr(segmentation, "MAX_STEPS", 35)
            answers.append(told(stage, world, row))
    (team, organisers), (other_team, other_organisers) = answers
    differing = [(one, other) for one, other in zip(team, other_team, strict=True) if one != other]
    assert not differing, differing[0]
    assert organisers != other_organisers


PADS = 200
"""Pages that are asked for each guess."""


@pytest.mark.slow
def test_sizes_of_pages_do_not_tell_the_value_of_a_session(tmp_path: Path, valkey: Valkey) -> None:
    """D6: two sessions that differ in their value alone, and an address that repeats the value of the first."""
    with pytest.MonkeyPatch.context() as patch, twin(tmp_path / "d6", valkey.url, patch, timedelta(0)) as stage:
        pads = Random(6)  # noqa: S311 - the same in each run of the test
        patch.setattr("service.pages.visitors.secrets", SimpleNamespace(token_bytes=pads.randbytes))
        browsers = [FlaskClient(stage.app) for _ in range(2)]
        values = []
        for browser in browsers:
            assert browser.post("/sign-in", data={"token": ADMIN}).status_code == 303
            held = browser.get_cookie(SESSION_COOKIE)
            assert held is not None
            values.append(access.signed_in(stage.context, held.value, "").session.csrf)

        def gains() -> list[float]:
            """By how many bytes pages are smaller where the guess is right, of all of the value and of its half."""
            asked = product((values[0], values[0][:20]), CODINGS[1:])
            return [fmean(size(browsers[1], *each) - size(browsers[0], *each) for _ in range(PADS)) for each in asked]

        def size(browser: FlaskClient, guess: str, coding: str) -> int:
            headers = {"Accept": "text/html", "Accept-Encoding": coding}
            answer = browser.get(f"/sign-in?next=/{guess}", headers=headers)
            assert answer.headers["Content-Encoding"] == coding
            return len(answer.data)

        assert all(abs(gain) < 1 for gain in gains())
        patch.setattr("service.pages.visitors.Visitor.masked", lambda _visitor, body: body)
        assert all(gain > 10 for gain in gains())  # as it was without
