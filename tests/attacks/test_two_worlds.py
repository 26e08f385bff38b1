"""Two worlds that differ in gold or in a rival alone answer a team alike: bytes, times, validators, in every coding.

`tests/contract/test_gate.py` asks everything of two worlds; here each has what one attack needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.contract.stage import ADMIN, Stage
from tests.contract.twins import twin
from tests.fixtures.servers import Valkey
from treescore.core.jit import forced
from treescore.metrics.mwe import kernel
from treescore.metrics.shared import segmentation

CODINGS = ("identity", "gzip", "zstd")
ASKED = (
    *("/v1/submissions/{sent}", "/v1/submissions/{sent}/output", "/v1/benchmarks/b/submissions", "/v1/jobs", "{job}"),
    *("/v1/events", "/v1/benchmarks", "/v1/benchmarks/b", "/v1/benchmarks/b/revisions/1", "/v1/benchmarks/b/inputs/en"),
    *("/v1/benchmarks/b/leaderboard", "/v1/benchmarks/b/leaderboard?pick=all", "/v1/benchmarks/b/leaderboard/matrix"),
    *("/v1/benchmarks/b/comparisons", "/metrics"),
)


@dataclass(frozen=True)
class World:
    """What nobody below the level may tell from another world.

    Attributes:
        gold: its text.
        rival: the outputs that another team sends before.
        step: milliseconds of each step of work.
    """

    gold: str
    rival: Sequence[str] = ()
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
        bounds: limits of the service, by the names of its settings.
    """

    level: str
    worlds: tuple[World, World]
    output: str
    metric: str = "attachment"
    form: Any = "conllu"
    part: dict[str, Any] = field(default_factory=dict)
    bounds: dict[str, str] = field(default_factory=dict)


def conllu(words: int, head: str = "0", form: str = "w") -> str:
    """Sentences of one word each."""
    return "".join(f"1\t{form}{number}\t_\tX\t_\t_\t{head}\troot\t_\t_\n\n" for number in range(words))


def chain(words: int, *, deep: bool) -> str:
    """A sentence in which each word hangs on the one before, or all on the first."""
    heads = [number if deep else min(number, 1) for number in range(words)]
    return "".join(f"{at}\tw\t_\tX\t_\t_\t{head}\tdep\t_\t_\n" for at, head in enumerate(heads, 1)) + "\n"


def multiword(words: int) -> str:
    """A multiword token."""
    rows = "".join(f"{at}\tv{words}{at}\t_\tX\t_\t_\t{at - 1}\tdep\t_\t_\n" for at in range(1, words + 1))
    return f"1-{words}\tword\t_\t_\t_\t_\t_\t_\t_\t_\n{rows}\n"


def star(expressions: int) -> str:
    """A sentence of ten words in which so many expressions have the first word, and each another one."""
    codes = [";".join(f"{number}:X" for number in range(1, expressions + 1))]
    codes += [str(number) if number <= expressions else "*" for number in range(1, 10)]
    rows = "".join(f"{at}\tw\tw\tX\t_\t_\t{at - 1}\tdep\t_\t_\t{code}\n" for at, code in enumerate(codes, 1))
    columns = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE"
    return f"# global.columns = {columns}\n{rows}\n"


def tree(depth: int, label: str = "X") -> str:
    """Twenty words, each below so many brackets."""
    word = f"({label} " * depth + "(T w)" + ")" * depth
    return f"(S {' '.join([word] * 20)})\n"


LONG = "".join(chain(9, deep=bool(number % 2)) for number in range(40))
PAIRS = {"gold": {"items": {"lengths": [[4, 4], [3, 3]]}}}
SHIFTED = "1-1 2-2 3-3 4-4\n1-1 2-2 3-3\n"
ROWS = {
    "D1, whether an output was scored": Row(
        "none", (World(LONG), World(LONG.replace("w", "v"))), LONG.replace("dep", "obj")
    ),
    "D1, whether a rival sent the same": Row(
        "none", (World(LONG, [LONG]), World(LONG, [LONG.replace("dep", "obj")])), LONG.replace("dep", "obj")
    ),
    **{
        f"D2, how long work takes, at {level}": Row(
            level, (World(chain(30, deep=False), step=3), World(chain(30, deep=True), step=20)), chain(30, deep=True)
        )
        for level in ("none", "status")
    },
    "D3, cells of trees": Row(
        "status", (World(tree(0)), World(tree(1))), tree(3), "tree_distance", "bracketed",
        bounds={"TREESCORE_MAX_LINEAGE_CELLS": "63000"},
    ),
    "D3, lengths of lineages": Row(
        "status", (World(tree(0)), World(tree(8))), tree(19, "Y"), "leaf_ancestor", "bracketed",
        bounds={"TREESCORE_MAX_LINEAGE_CELLS": "401"},
    ),
    "D3, expressions that overlap": Row("status", (World(star(1)), World(star(4))), star(6), "mwe", "cupt"),
    "D3, words of a multiword token": Row("status", (World(multiword(2)), World(multiword(40))), multiword(30), "ud"),
    "D3, how well another reading of links fits": Row(
        "status", (World("0-0 1-1 2-2 3-3\n0-0 1-1 2-2\n"), World("0-3 1-2 2-1 3-0\n0-2 1-1 2-0\n")), SHIFTED,
        "alignment", {"name": "pharaoh", "base": 0}, {"items": {"lengths": [[4, 4], [3, 3]]}},
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
    benchmark |= {"parts": {"en": {"gold": world.gold, **row.part}}}
    made = send("POST", "/v1/benchmarks", benchmark)
    assert made.status_code == 201, made.text
    teams = [send("POST", "/v1/benchmarks/b/teams", {"id": name, "name": name}).json["token"] for name in ("a", "b")]
    for output in world.rival:
        assert send("POST", "/v1/benchmarks/b/submissions", {"outputs": {"en": output}}, teams[1]).status_code < 300
    sent = send("POST", "/v1/benchmarks/b/submissions", {"outputs": {"en": row.output}}, teams[0])
    checked = send("POST", "/v1/benchmarks/b/submissions?validate_only=true", {"outputs": {"en": row.output}}, teams[0])
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
