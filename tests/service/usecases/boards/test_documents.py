"""Boards whose gold marks documents: they are the units of tests and of intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from service.errors import Unprocessable
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import BENCHMARK, Task

GOLDEN = orjson.loads((Path(__file__).parents[3] / "golden" / "inference.json").read_bytes())
OTHER_DOCUMENTS = "other documents like these"
THESE_DOCUMENTS = "holds for these documents"
NO_DOCUMENTS = "Gold marks no documents"


def text(right: Sequence[int], sizes: Sequence[int], documents: Sequence[str | None] = ()) -> str:
    """Sentences of so many words, all children of the first, of which so many have the right relation."""
    lines: list[str] = []
    before: str | None = None
    for at, (good, size) in enumerate(zip(right, sizes, strict=True)):
        named = documents[at] if documents else None
        if named is not None and named != before:
            lines.append(f"# newdoc id = {named}")
        before = named or before
        for word in range(1, size + 1):
            head, relation = (0, "root") if word == 1 else (1, "dep")
            lines.append(f"{word}\tw\t_\tX\t_\t_\t{head}\t{relation if word <= good else 'wrong'}\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


def said(document: dict[str, Any], words: str) -> bool:
    """Whether a note of a board or of a comparison has these words."""
    return any(words in note for note in document["notes"])


def made(task: Task, parts: dict[str, dict[str, Any]], outputs: dict[str, dict[str, str]], **changes: Any) -> None:
    task.make({**BENCHMARK, "feedback": "gold"}, parts=parts, **changes)
    for name, texts in outputs.items():
        task.submit(task.team(name), texts)
    task.settle()


def golden_board(task: Task, case: dict[str, Any], **changes: Any) -> None:
    gold = text(case["total"], case["total"], case["blocks"])
    outputs = {side: {"en": text(case[side], case["total"])} for side in "ab"}
    made(task, {"en": {"gold": gold}}, outputs, **changes)


def test_documents_are_swapped_as_a_whole_where_gold_marks_them(task: Task) -> None:
    case = GOLDEN["blocks"]["cases"][0]
    golden_board(task, case)
    board = task.leaderboard(ORGANISER)
    significance = board["significance"]
    assert (significance["unit"], significance["unit_count"]) == ("block", len(set(case["blocks"])))
    assert said(significance, OTHER_DOCUMENTS)
    assert task.compared(test="permutation")["pairs"][0]["p"] == pytest.approx(case["p_block"], rel=1e-12)
    assert board["rows"][0]["ci95"]["low"] < board["rows"][0]["score"] < board["rows"][0]["ci95"]["high"]
    document = task.compared(unit="sentence")
    assert (document["units"], document["unit_count"]) == ("sentence", len(case["total"]))
    assert said(document, THESE_DOCUMENTS)
    assert document["pairs"][0]["p"] < case["p_block"]


def test_the_documents_of_the_request_are_those_of_gold(task: Task) -> None:
    case = GOLDEN["blocks"]["cases"][0]
    parts = {"en": {"gold": text(case["total"], case["total"]), "items": {"blocks": case["blocks"]}}}
    made(task, parts, {side: {"en": text(case[side], case["total"])} for side in "ab"})
    assert task.compared(test="permutation")["pairs"][0]["p"] == pytest.approx(case["p_block"], rel=1e-12)


def test_each_part_goes_by_its_own_documents(task):
    sizes = [4, 5, 4, 6, 5, 4, 5, 6]
    marked = ["d1", "d1", "d2", "d2", "d3", "d3", "d4", "d4"]
    one = [*["d1"] * 8]
    late: list[str | None] = [None, None, "d1", "d1", "d2", "d2", "d3", "d3"]
    parts = {
        name: {"gold": text(sizes, sizes, documents)} for name, documents in (("a", marked), ("b", one), ("c", late))
    }
    worse = [size - at % 2 for at, size in enumerate(sizes)]
    outputs = {"x": dict.fromkeys(parts, text(sizes, sizes)), "y": dict.fromkeys(parts, text(worse, sizes))}
    made(task, parts, outputs)
    for part, count in (("macro", 4 + 8 + 4), ("pooled", 4 + 8 + 4), ("a", 4), ("c", 4)):
        document = task.compared(part=part)
        assert (document["units"], document["unit_count"]) == ("block", count), part
        assert document["parts_by_sentence"] == (part in ("macro", "pooled")), part
    alone = task.compared(part="b")
    assert (alone["units"], alone["unit_count"]) == ("sentence", 8)
    # every unit differs in the same direction
    assert task.compared(part="a", test="permutation")["pairs"][0]["p"] == pytest.approx(2 / 2**4, rel=1e-12)


def test_gold_without_documents_goes_by_sentence(task):
    case = GOLDEN["blocks"]["cases"][0]
    gold = text(case["total"], case["total"])
    made(task, {"en": {"gold": gold}}, {side: {"en": text(case[side], case["total"])} for side in "ab"})
    significance = task.leaderboard()["significance"]
    assert (significance["unit"], significance["unit_count"]) == ("sentence", len(case["total"]))
    assert said(significance, NO_DOCUMENTS)


def test_organisers_choose_sentences_where_documents_are_few(task):
    sizes = [5] * 30
    documents = [f"d{at // 10}" for at in range(30)]
    outputs = {"x": {"en": text(sizes, sizes)}, "y": {"en": text([2] * 30, sizes)}}
    made(task, {"en": {"gold": text(sizes, sizes, documents)}}, outputs)
    assert said(task.leaderboard()["significance"], OTHER_DOCUMENTS)
    assert any("unit: sentence" in note for note in task.compared(test="permutation")["notes"])
    task.patch(leaderboard={"unit": "sentence"})
    task.settle()
    board = task.leaderboard()
    assert (board["significance"]["unit"], board["significance"]["unit_count"]) == ("sentence", 30)
    assert said(board["significance"], THESE_DOCUMENTS)
    assert board["rows"][0]["p_next"] == pytest.approx(2 / 2**30, rel=1e-12)
    assert task.compared()["id"] == board["significance"]["comparison"]


@pytest.mark.parametrize("unit", ["auto", "sentence"])
def test_a_row_its_comparison_and_its_submission_show_one_interval(task, unit):
    """A missing part, one without documents and one with them, each as a test takes it."""
    sizes = [4, 5, 4, 6, 5, 4, 5, 6]
    parts = {
        name: {"gold": text(sizes, sizes, documents)}
        for name, documents in (("a", [f"d{at // 2}" for at in range(8)]), ("b", ()), ("c", ["d"] * 4 + ["e"] * 4))
    }
    outputs = {
        team: {
            name: text([size - (at + wrong) % 3 for at, size in enumerate(sizes)], sizes) for name in list(parts)[:n]
        }
        for team, wrong, n in (("x", 0, 3), ("y", 1, 3), ("z", 2, 2))
    }
    made(task, parts, outputs, leaderboard={"unit": unit})
    for part, member in (("macro", "macro_ci95"), ("pooled", "ci95")):
        compared = {system["name"]: system["ci"] for system in task.compared(part=part)["systems"]}
        rows = task.leaderboard(ORGANISER, part=part)["rows"]
        assert len(compared) == len(rows) == 3
        for row in rows:
            shown = task.shown(ORGANISER, row["submission"])["scores"]["metrics"]["attachment"][member]["las"]
            for end in ("low", "high"):
                assert row["ci95"][end] == compared[row["submission"]][end]
                assert shown[end] == pytest.approx(row["ci95"][end], rel=1e-12)


def test_scores_are_over_documents(task):
    """Sentences of a document are right or wrong together, so that fewer of them count."""
    sizes = [5] * 16
    right = [5 if at // 4 % 2 else 2 for at in range(16)]
    widths = []
    for slug, documents in (("by-document", [f"d{at // 4}" for at in range(16)]), ("by-sentence", ())):
        gold = {"en": {"gold": text(sizes, sizes, documents)}}
        task.make({**BENCHMARK, "id": slug, "feedback": "gold"}, parts=gold)
        team = task.team("lyon", slug)
        submission = task.submit(team, {"en": text(right, sizes)}, slug)
        task.settle()
        interval = task.shown(team, submission)["scores"]["metrics"]["attachment"]["ci95"]["las"]
        widths.append(interval["high"] - interval["low"])
    assert widths[0] > 1.5 * widths[1]


def test_units_that_the_data_lack_are_refused_with_the_mend(task):
    sizes = [4, 5, 4, 6]
    parts = {name: {"gold": text(sizes, sizes)} for name in "ab"}
    outputs = {"x": dict.fromkeys(parts, text(sizes, sizes)), "y": dict.fromkeys(parts, text([2] * 4, sizes))}
    made(task, parts, outputs)
    for settings, code in (
        ({"unit": "block"}, "no-blocks"),
        ({"unit": "part"}, "too-few-parts"),
        ({"unit": "part", "part": "pooled"}, "too-few-parts"),
    ):
        with pytest.raises(Unprocessable) as refused:
            task.compared(**settings)
        (error,) = refused.value.problems
        assert (error.code, error.pointer) == (code, "/unit")
        assert "Use the unit" in error.detail or "or the unit sentence" in error.detail


def test_the_number_of_units_is_shown_where_sizes_of_gold_are(task):
    golden_board(task, GOLDEN["blocks"]["cases"][0], feedback="gold")
    for level, published, shown in (
        ("gold", False, True), ("scores", True, True), ("scores", False, False), ("scores", "text", False),
    ):  # fmt: skip
        task.patch(feedback=level, publish_input=published)
        significance = task.leaderboard()["significance"]
        assert significance["unit"] == "block"
        assert (significance["unit_count"] is not None) is shown
    task.patch(feedback="rounded")
    significance = task.leaderboard()["significance"]
    assert [significance[name] for name in ("unit", "unit_count", "notes")] == [None, None, []]
    assert task.leaderboard(ORGANISER)["significance"]["notes"]
