"""Every golden case of dependencies and alignments as a job over HTTP gives the published figures."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from tests.fixtures.golden_jobs import Caller, codes, metric_of, text_of
from tests.fixtures.service_process import ServiceProcess

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def caller(served: ServiceProcess) -> Iterator[Caller]:
    with served.client() as client:
        yield Caller(client)


# --- dependencies


# Scored by the script though nonsense; here an error that says where.
NONSENSE = {37: "conllu-wrong-id", 51: "empty-text", 79: "conllu-bad-head"}
# Refused by the script though nothing can be misunderstood; here scored.
ACCEPTED = {54, 57, 59, 66, 67, 68}


def test_ud_cases(caller: Caller, golden: Any) -> None:
    cases = golden("ud_cases")["cases"]
    found = caller.jobs(
        [
            {"format": "conllu", "gold": text_of(case["gold"]), "output": text_of(case["system"]), "metrics": ["ud"]}
            for case in cases
        ]
    )
    for case, job in zip(cases, found, strict=True):
        expected = case["conll18"]
        if case["id"] in NONSENSE:
            assert NONSENSE[case["id"]] in codes(job)
        elif expected["ok"]:
            metric = metric_of(job, "ud")
            for row, (correct, gold, system, aligned, f1) in expected["scores"].items():
                counts = metric["counts"][row.lower()]
                assert [counts[name] for name in ("correct", "gold", "system")] == [correct, gold, system], case["name"]
                assert counts.get("aligned") == aligned, case["name"]
                assert (metric["scores"][f"{row.lower()}_f1"] or 0) == pytest.approx(f1, abs=1e-10)
        elif case["id"] in ACCEPTED:
            assert job["state"] == "succeeded", case["name"]
        else:
            assert codes(job), case["name"]
            assert job["failure"]["errors"][0].get("line") or codes(job) == ["empty-text"], case["name"]


# Scored by the script though another text, or though its columns shift; here an error that says where.
MISREAD = {14: "word-mismatch", 37: "conllx-empty-field", 38: "invalid-utf8"}
# A space in a form shifts the script's columns; columns are read by their tabs here.
BY_TABS = {20: [[1, 2], [1, 2], [2, 2]]}


def test_eval07_cases(caller: Caller, golden: Any) -> None:
    """LAS, UAS and LA with and without punctuation in one job, and the script's own three lines."""
    cases = golden("eval07_cases")["cases"]
    metrics = ["attachment", {"name": "attachment", "key": "no_punctuation", "params": {"punctuation": False}}]
    found = caller.jobs(
        [
            {"format": "conllx", "gold": text_of(case["gold"]), "output": text_of(case["system"]), "metrics": metrics}
            for case in cases
        ]
    )
    for case, job in zip(cases, found, strict=True):
        if case["id"] in MISREAD:
            assert codes(job) == [MISREAD[case["id"]]]
            continue
        if not case["all_tokens"]["LAS_UAS_LA"]:
            assert codes(job), case["name"]
            continue
        for column, key in (("all_tokens", "attachment"), ("without_punctuation", "no_punctuation")):
            counts = metric_of(job, key)["counts"]
            ours = [[counts[name], counts["tokens"]] for name in ("correct_both", "correct_head", "correct_label")]
            lines = case[column]["LAS_UAS_LA"]
            assert ours == BY_TABS.get(case["id"], [line[:2] for line in lines]), case["name"]
            if case["id"] in BY_TABS or not lines:
                continue
            titles = ("Labeled   attachment", "Unlabeled attachment", "Label accuracy")
            printed = "".join(
                f"  {title} score:{' ' * (7 if title.startswith('Label ') else 1)}{right} / {total} * 100 = {share} %\n"
                for title, (right, total, share) in zip(titles, lines, strict=True)
            )
            assert caller.read(job, "report", metric=key, style="eval07").text.rstrip("\n") == printed.rstrip("\n")


def test_ud_en_ewt(caller: Caller, golden: Any, real_data: Any) -> None:
    folder = real_data / "ud_en_ewt" / "conll2018"
    gold = (folder / "gold.conllu").read_text(encoding="utf-8")
    systems = golden("ud_en_ewt")["systems"]
    texts = {name: (folder / f"{name}.conllu").read_text(encoding="utf-8") for name in systems}
    found = caller.jobs(
        [{"format": "conllu", "gold": gold, "output": text, "metrics": ["ud"]} for text in texts.values()]
    )
    for figures, job in zip(systems.values(), found, strict=True):
        metric = metric_of(job, "ud")
        report = caller.read(job, "report", metric="ud", style="conll18").text
        for row, expected in figures.items():
            counts = metric["counts"][row.lower()]
            assert [counts["correct"], counts["gold"], counts["system"], counts.get("aligned")] == [
                expected[name] for name in ("correct", "gold_total", "system_total", "aligned_total")
            ]
            shares = [expected[name] for name in ("precision", "recall", "f1", "aligned_accuracy")]
            for name, share in zip(("precision", "recall", "f1", "aligned_accuracy"), shares, strict=True):
                assert share is None or metric["scores"][f"{row.lower()}_{name}"] == pytest.approx(share, abs=1e-12)
            cells = " |".join("" if share is None else f"{100 * share:10.2f}" for share in shares)
            assert f"{row:11}|{cells.rstrip(' ')}" in report.splitlines()


def test_eval07_en_ewt(caller: Caller, golden: Any, real_data: Any) -> None:
    folder = real_data / "ud_en_ewt" / "gold_tokens"
    gold = (folder / "gold.conllu").read_text(encoding="utf-8")
    systems = golden("eval07_en_ewt")["systems"]
    metrics = ["attachment", {"name": "attachment", "key": "no_punctuation", "params": {"punctuation": False}}]
    texts = {name: (folder / f"{name}.conllu").read_text(encoding="utf-8") for name in systems}
    found = caller.jobs(
        [{"format": "conllu", "gold": gold, "output": text, "metrics": metrics} for text in texts.values()]
    )
    for figures, job in zip(systems.values(), found, strict=True):
        for column, key in (("default_with_punct", "attachment"), ("p_without_punct", "no_punctuation")):
            counts = metric_of(job, key)["counts"]
            names = {"LAS": "correct_both", "UAS": "correct_head", "LA": "correct_label"}
            for row, name in names.items():
                assert [counts[name], counts["tokens"]] == [figures[column][row][key] for key in ("correct", "total")]


def test_dependency_relations(caller: Caller, golden: Any) -> None:
    """Lin's examples: precision and recall as fractions."""
    cases = golden("dependency_relations")["cases"]
    requests = [
        {
            "format": "minipar",
            "gold": "\n".join(case["key"]) + "\n",
            "output": "\n".join(case["answer"]) + "\n",
            "metrics": [
                {
                    "name": "dependency_relations",
                    "params": {
                        "labelled": case["labelled"],
                        **({"select": {"relations": case["select"]}} if case["select"] else {}),
                    },
                }
            ],
        }
        for case in cases
    ]
    for case, job in zip(cases, caller.jobs(requests), strict=True):
        metric = metric_of(job, "dependency_relations")
        counts, scores = metric["counts"], metric["scores"]
        assert Fraction(counts["answer_correct"], counts["answer"]) == Fraction(case["precision"]), case["name"]
        assert Fraction(counts["key_found"], counts["key"]) == Fraction(case["recall"]), case["name"]
        assert scores["precision"] == pytest.approx(float(Fraction(case["precision"])))
        assert scores["recall"] == pytest.approx(float(Fraction(case["recall"])))


def test_a_head_is_the_nth_word_of_that_form(caller: Caller, golden: Any) -> None:
    """Lin's "<< is": the sixth word of the sentence, which a key in CoNLL-U names by its number."""
    place = golden("dependency_relations")["head_position"]
    words = place["sentence"].split()
    key = "".join(
        f"{number}\t{word}\t_\tX\t_\t_\t{6 * (number != 6)}\tdep\t_\t_\n" for number, word in enumerate(words, start=1)
    )
    field = {place["modifier"]: f" {place['head_field']}"}
    answer = "".join(f"({word} X{field.get(word, '')})\n" for word in words)
    metrics = ["dependency_relations"]
    for text, right in ((answer, 1), (answer.replace("<<", "<"), 0)):
        request = {"format": "conllu", "gold": f"{key}\n", "output": text, "metrics": metrics}
        counts = metric_of(caller.job(request, output_format="minipar"), "dependency_relations")["counts"]
        assert counts == {**counts, "answer": 1, "answer_correct": right, "key": 13, "key_found": right}


# --- tolerance

TOLERANT = {
    "conll18": {},
    "udtools": {},
    "udtools_multiple_roots_okay": {"roots": "any"},
    "udpipe2": {"missing_heads": "wrong"},
    "udpipe2_no_single_root": {"missing_heads": "wrong", "roots": "any"},
    "udpipe2_broken_sentences_without_heads": {"roots": "any", "broken_trees": "sentence"},
}
UNREADABLE = {"name": "conllu", "unreadable": "sentence"}


def test_ud_tolerance(caller: Caller, golden: Any) -> None:
    """What later programs forgive, and what ends each of them."""
    cases = golden("field_dependencies")["tolerance"]
    asked = [(name, program) for name, case in cases.items() for program in case["reference"]]
    found = caller.jobs(
        [
            {
                "format": "conllu",
                "gold": cases[name]["gold"],
                "output": cases[name]["system"],
                "metrics": [{"name": "ud", "params": TOLERANT[program]}],
            }
            for name, program in asked
        ]
    )
    for (name, program), job in zip(asked, found, strict=True):
        expected = cases[name]["reference"][program]
        if name == "double_blank_line_system" or "functional_children" in expected.get("message", ""):
            # a spare line, which is ignored here; a fault of the program, which fails on a word without head
            assert metric_of(job, "ud")["counts"]["words"]["correct"] == cases[name]["gold"].count("\t_\n")
        elif expected["ok"]:
            counts = metric_of(job, "ud")["counts"]
            for row, figures in expected["counts"].items():
                if row in counts:
                    names = ("correct", "gold", "system", "aligned")[: len(figures)]
                    assert [counts[row].get(each, figures[-1]) for each in names] == figures, (name, program, row)
        else:
            assert job["failure"]["errors"][0]["line"], (name, program)


def test_sentences_that_cannot_be_read(caller: Caller) -> None:
    """A damaged line costs its sentence; of wrong heads `ud` keeps the words; gold is never excused."""
    good = "".join(f"{n}\tw{n}\t_\tX\t_\t_\t{n - 1}\tdep\t{n - 1}:dep\t_\n" for n in range(1, 5)) + "\n"
    forgiving = {"name": "ud", "params": {"broken_trees": "sentence"}}
    heads = good + good.replace("\t3\tdep", "\t-2\tdep") + good
    short = good + good.replace("\t3\tdep", "\t3") + good
    asked: list[tuple[str, str, list[Any]]] = [
        (good * 3, heads, ["attachment", "enhanced", forgiving]),
        (good * 3, short, ["attachment", "enhanced"]),
        (good * 3, short, [forgiving]),
        (good * 3, heads, ["ud"]),
        (heads, good * 3, ["attachment"]),
        (good * 3, "x\n\n" * 3, ["attachment"]),
    ]
    found = caller.jobs(
        [{"format": UNREADABLE, "gold": gold, "output": output, "metrics": metrics} for gold, output, metrics in asked]
    )
    for job, code in zip(found, ("conllu-bad-head", "conllu-column-count"), strict=False):
        assert metric_of(job, "attachment")["scores"]["las"] == pytest.approx(8 / 12)
        assert metric_of(job, "enhanced")["scores"]["elas_recall"] == pytest.approx(8 / 12)
        items = caller.items(job, "attachment")
        assert [item["status"] for item in items] == ["ok", "error", "ok"]
        assert items[1]["problem"]["code"] == code
        assert (code, 9) in [(warning["code"], warning["line"]) for warning in job["warnings"]]
    ud = metric_of(found[0], "ud")["counts"]
    assert (ud["uas"]["correct"], ud["upos"]["correct"]) == (8, 12)
    assert [codes(job) for job in found[2:5]] == [["conllu-column-count"], ["conllu-bad-head"], ["conllu-bad-head"]]
    assert metric_of(found[5], "attachment")["scores"]["las"] == 0


# --- alignments

WA_EVAL = {"sure_P": "sure_precision", "sure_R": "sure_recall", "sure_F": "sure_f1",
           "probable_P": "possible_precision", "probable_R": "possible_recall", "probable_F": "possible_f1",
           "AER": "aer"}  # fmt: skip
# What the script's faults hide: the right AER, by API.md's words, or the error.
RIGHT: dict[str, float | str] = {
    "scientific_notation_confidence": 0.0,
    "lowercase_flag": 0.0,
    "leading_zero_mismatch": 0.0,
    "duplicate_line": 0.2,
    "same_link_S_and_P": 0.2,
    "empty_submission": 1.0,
    "blank_line": 0.2,
    "six_fields": "alignment-wrong-field-count",
    "trailing_garbage_number": "alignment-bad-link",
}


def test_alignment_cases(caller: Caller, golden: Any) -> None:
    cases = golden("alignment_cases")["cases"]
    found = caller.jobs(
        [
            {"format": "naacl", "gold": case["gold"], "output": case["submission"], "metrics": ["alignment"]}
            for case in cases.values()
        ]
    )
    assert {name for name, case in cases.items() if case["ours"] != "equal"} == set(RIGHT)
    for (name, case), job in zip(cases.items(), found, strict=True):
        right = RIGHT.get(name)
        if isinstance(right, str):
            assert codes(job) == [right]
            continue
        scores = metric_of(job, "alignment")["scores"]
        if right is not None:
            assert scores["aer"] == pytest.approx(right), name
            continue
        for theirs, ours in WA_EVAL.items():  # it prints 0 where there is nothing to divide by
            assert round(scores[ours] or 0.0, 4) == case["eval"][theirs], (name, ours)


def test_alignment_enfr(caller: Caller, golden: Any, real_data: Any) -> None:
    """Eighteen systems in Pharaoh against gold in Talp, in one job; and the script's AER in its layout."""
    folder = real_data / "alignment_enfr"
    expected = golden("alignment_enfr")["enfr"]
    body = {
        "format": "talp",
        "gold": (folder / "gold.talp").read_text(encoding="utf-8"),
        "systems": [
            {
                "name": name,
                "format": "pharaoh",
                "output": (folder / "systems" / f"{name}.pharaoh").read_text(encoding="utf-8"),
            }
            for name in expected["systems"]
        ],
        "metrics": ["alignment"],
        "significance": False,
    }
    job = caller.client.post("/v1/jobs", json=body, headers={"Prefer": "wait=60"}).json()
    assert job["state"] == "succeeded", job["failure"]
    names = {"A": "links", "S": "sure", "P": "possible", "A_and_S": "links_in_sure", "A_and_P": "links_in_possible"}
    for system in job["results"]["systems"]:
        figures = expected["systems"][system["name"]]
        metric = system["metrics"]["alignment"]
        assert {short: metric["counts"][name] for short, name in names.items()} == figures["counts"]
        for name, value in figures["exact"].items():
            assert metric["scores"][name] == pytest.approx(value, abs=1e-12)
        query = {"system": system["name"], "metric": "alignment", "style": "wa_eval"}
        report = caller.client.get(f"/v1/jobs/{job['id']}/report", params=query).text
        assert f"{figures['wa_eval_align_pl']['AER']:.4f}" in report
