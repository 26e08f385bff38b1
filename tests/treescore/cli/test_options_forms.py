"""In which form the commands print, and what they write to files: whole or nothing."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.treescore.cli.test_options import GOLD, GRAPH, ROOT, RULES, run
from treescore.cli import exits
from treescore.cli import options as forms
from treescore.cli.exits import UNWRITTEN
from treescore.results import FORMS

FILES = (GOLD, f"A={RULES}", f"B={GRAPH}")
FLAGS = ("--text", "--json", "--csv", "--markdown", "--latex", "--html")
INSPECT = {"score": (), "compare": (), "errors": ("--deprel", "obl"), "slices": ("--by", "sentence_length"), "diff": ()}


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "is_terminal", lambda: True)


@pytest.mark.parametrize(
    ("command", "flag"),
    [
        *(("score", flag) for flag in FLAGS),
        *(("compare", "--text"), ("errors", "--csv"), ("slices", "--json"), ("diff", "--markdown")),
    ],
)
def test_every_form_names_the_systems(command: str, flag: str) -> None:
    printed = run(command, "--metric", "attachment", *INSPECT[command], flag, *FILES).stdout
    if flag == "--json":
        shown = json.dumps(json.loads(printed))
        assert '"A"' in shown
        assert '"B"' in shown
    elif flag == "--csv":
        rows = list(csv.reader(io.StringIO(printed)))
        assert {len(row) for row in rows} == {len(rows[0])}
        assert {cell for row in rows for cell in row} >= {"A", "B"}
    else:
        assert {"A", "B"} <= set(re.findall(r"\w+", printed))


@pytest.mark.parametrize("command", ["score", "compare"])
def test_json_is_one_object_the_document_of_a_job(command: str) -> None:
    document = json.loads(run(command, "--metric", "attachment", "--json", *FILES).stdout)
    assert list(document) == ["results", "warnings"]
    assert [system["name"] for system in document["results"]["systems"]] == ["A", "B"]
    assert len(document["results"]["comparisons"]) == 1


def test_in_a_pipe_scores_are_a_table_too_that_says_what_was_taken() -> None:
    printed = run("score", *FILES).stdout
    assert printed.splitlines()[2].split() == ["system", "LAS", "UAS", "CLAS", "MLAS", "BLEX"]
    assert "Taken: format conllu (by the suffix of gold), metric ud (usual for conllu).\n" in printed
    assert "Taken" not in run("score", "--metric", "ud", "--format", "conllu", *FILES).stdout


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--brief",), "72.63\n86.92\n"),
        (("-b", "--scores", "UPOS,lemmas", "--decimals", "0"), "95 98\n98 99\n"),
        (("-b", "--scores", "ud.las_f1", "--unit", "fraction"), "0.7263\n0.8692\n"),
        (("-b", "--metric", "attachment", "--scores", "las,Label accuracy"), "71.16 83.18\n85.05 89.72\n"),
    ],
)
def test_brief_is_the_number_alone(options: tuple[str, ...], expected: str) -> None:
    assert run("score", *options, *FILES).stdout == expected


@pytest.mark.parametrize("flag", ["--text", "--latex", "--markdown"])
def test_a_table_shows_the_scores_that_are_asked_for(flag: str) -> None:
    words = run("score", flag, "--scores", "UPOS, las_f1,ud.ufeats_f1", "--decimals", "1", *FILES).stdout
    rows = [re.findall(r"[\w.\\]+", line) for line in words.splitlines() if re.match(r"\W*(A|system)\b", line)]
    assert [cell.rstrip("\\").replace("\\", "") for cell in rows[0][:4]] == ["system", "UPOS", "LAS", "ufeats_f1"]
    assert rows[1][:4] == ["A", "95.1", "72.6", "95.7"]
    assert "Unknown score 'LASS'" in run("score", flag, "--scores", "LASS", *FILES, status=2).stderr


def test_a_score_below_its_threshold_is_status_1_and_said() -> None:
    assert not run("score", "-b", "--fail-below", "LAS=0.7", "--fail-below", "ud.uas_f1=0.5", *FILES).stderr
    missed = run("score", "-b", "--fail-below", "LAS=0.8", *FILES, status=1)
    assert missed.stdout == "72.63\n86.92\n"
    assert missed.stderr == "A: ud.las_f1 >= 0.8: missed, it is 0.7263.\n"


@pytest.mark.parametrize("bound", ["LAS=85", "aer=10", "LAS=-0.1"])
def test_a_threshold_outside_the_range_of_the_score_is_refused(bound: str) -> None:
    files = ("examples/alignments/gold.pharaoh", "examples/alignments/systems/hmm.pharaoh")
    said = run("score", "-b", "--fail-below", bound, *(files if bound.startswith("aer") else FILES), status=2).stderr
    assert "is between 0 and 1, not" in " ".join(said.split())
    assert run("score", "-b", "--fail-below", "LAS=72%", *FILES).stderr == ""
    assert "missed" in run("score", "-b", "--fail-below", "LAS=73%", *FILES, status=1).stderr


def test_sentences_are_written_as_csv_alone(tmp_path: Path) -> None:
    named = tmp_path / "sentences.json"
    for options in (("-o", str(named)), ("--scores", "LAS"), ("--markdown",)):
        run("score", "--sentence-level", *options, *FILES, status=2)
    assert not named.exists()
    assert (
        "--scores chooses scores of tables"
        in run("score", "--style", "conll18", "--scores", "LAS", *FILES, status=2).stderr
    )


@pytest.mark.parametrize("metrics", ['["ud", "attachment"]', "[]"])
def test_a_metric_is_a_name_or_an_object(metrics: str) -> None:
    assert "--metric: This must be a name or an object" in run("score", "--metric", metrics, *FILES, status=2).stderr


def test_faults_of_one_kind_are_three_lines_and_a_count(tmp_path: Path) -> None:
    words = "".join(f"{number}\tw\t_\t_\t_\t_\t_\t_\t_\t_\n\n" for number in range(1, 30))
    (tmp_path / "gold.conllu").write_text(words, encoding="utf-8")
    said = run("score", str(tmp_path / "gold.conllu"), str(tmp_path / "gold.conllu"), status=2).stderr.splitlines()
    assert len(said) < 10
    assert any("more of this kind" in line for line in said)


@pytest.mark.usefixtures("terminal")
def test_a_terminal_shows_the_first_rows_and_says_how_many_are_left() -> None:
    printed = run("errors", GOLD, RULES).stdout
    assert "more. --limit 0 shows all." in printed
    whole = run("errors", "--limit", "0", GOLD, RULES).stdout
    assert "--limit" not in whole
    assert len(whole.splitlines()) > len(printed.splitlines()) > 50


def test_units_are_those_of_tables_alone() -> None:
    assert "72.63" in run("score", "--text", GOLD, RULES).stdout
    assert "0.7263" in run("score", "--text", "--unit", "fraction", GOLD, RULES).stdout
    percent, fraction = (run("score", "--csv", "--unit", unit, GOLD, RULES).stdout for unit in ("percent", "fraction"))
    assert percent == fraction


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--json", "--csv"), "--json and --csv are two forms. Choose one of them."),
        (("--style", "conll18", "--json"), "--style and --json are two forms. Choose one of them."),
    ],
)
def test_two_forms_are_a_usage_error(options: tuple[str, ...], expected: str) -> None:
    assert expected in run("score", *options, *FILES, status=2).stderr


def test_as_is_the_same_as_a_flag() -> None:
    assert run("compare", "--as", "csv", *FILES).stdout == run("compare", "--csv", *FILES).stdout
    run("compare", "--as", "csv", "--csv", *FILES)
    assert "--as csv and --json" in run("compare", "--as", "csv", "--json", *FILES, status=2).stderr


def test_a_style_names_each_system_where_there_are_several() -> None:
    one = run("score", "--style", "conll18", GOLD, f"A={RULES}").stdout
    assert one.startswith("Metric ")
    other = run("score", "--style", "conll18", GOLD, f"B={GRAPH}").stdout
    assert run("score", "--style", "conll18", *FILES).stdout == f"A:\n{one}B:\n{other}"


@pytest.mark.parametrize(
    ("name", "begins"),
    [("x.json", "{"), ("x.csv", "system,"), ("x.md", "**"), ("x.tex", "%"), ("x.HTML", "<div"), ("x.txt", "ud")],
)
def test_the_suffix_of_the_output_names_its_form(name: str, begins: str, tmp_path: Path) -> None:
    assert run("score", "--output", str(tmp_path / name), *FILES).stdout == ""
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("command", "name"),
    [("score", "x.svg"), ("score", "x.png"), ("compare", "x.PNG"), ("score", "x.xlsx"), ("compare", "x")],
)
def test_a_suffix_of_another_form_is_a_usage_error(command: str, name: str, tmp_path: Path) -> None:
    done = run(command, "--output", str(tmp_path / name), *FILES, status=2)
    assert "this command does not write such files. Name a file that ends in one of .txt, .json," in " ".join(
        done.stderr.split()
    )
    assert list(tmp_path.iterdir()) == []


def test_a_picture_is_written_by_its_suffix(tmp_path: Path) -> None:
    run("compare", "--output", str(tmp_path / "x.svg"), *FILES)
    assert "<svg" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_an_option_outweighs_the_suffix(tmp_path: Path) -> None:
    run("score", "-o", str(tmp_path / "x.json"), "--csv", *FILES)
    assert (tmp_path / "x.json").read_text(encoding="utf-8").startswith("system,")


def test_an_output_replaces_a_file_and_keeps_its_mode_and_its_links(tmp_path: Path) -> None:
    path, link = tmp_path / "scores.csv", tmp_path / "link.csv"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o600)
    link.symlink_to(path)
    run("score", "--output", str(link), *FILES)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text(encoding="utf-8").startswith("system,")
    assert sorted([path.name for path in tmp_path.iterdir()]) == ["link.csv", "scores.csv"]


def test_a_failing_command_leaves_the_output_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("old", encoding="utf-8")
    run("score", "--output", str(path), GOLD, "/no/such/file.conllu", status=2)
    assert path.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


def test_an_output_that_cannot_be_written_whole_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, _content: bytes) -> int:
        path.touch()
        raise OSError(28, "No space left on device", str(path))

    path = tmp_path / "scores.csv"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr(exits.Path, "write_bytes", full)
    done = run("score", "--output", str(path), GOLD, RULES, status=UNWRITTEN)
    assert done.stderr == f"Error: {path} cannot be written: No space left on device.\n"
    assert path.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


@pytest.mark.parametrize("named", [RULES, f"A={RULES}"])
def test_no_input_is_overwritten(named: str, tmp_path: Path) -> None:
    gold = tmp_path / "gold.conllu"
    gold.write_bytes(Path(GOLD).read_bytes())
    linked = tmp_path / "linked.conllu"
    os.link(gold, linked)
    done = run("score", "--output", str(linked), str(gold), named, status=2)
    assert f"--output {linked} is an input of this command." in " ".join(done.stderr.split())
    assert gold.read_bytes() == Path(GOLD).read_bytes()


def test_a_device_is_written_as_it_is() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "treescore", "score", "--csv", "--output", "/dev/stdout", GOLD, RULES],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("system,")


@pytest.mark.parametrize(
    ("command", "flag"), [*(("score", flag) for flag in FLAGS), ("compare", "--json"), ("errors", "--text")]
)
def test_warnings_are_seen_in_every_form(command: str, flag: str, tmp_path: Path) -> None:
    """Programs find them in JSON and CSV; the person who runs the command finds them on standard error."""
    gold = tmp_path / "gold.mrg"
    gold.write_text("(S (NP (DT the) (NN dog)) (VP (VBD ran)))\n", encoding="utf-8")
    metric = '{"name": "parseval", "params": {"prm": "NONSENSE 1\\nLABELED 1"}}'
    output = tmp_path / "output.mrg"
    output.write_text("(S (DT the) (NN dog) (VP (VBD ran)))\n", encoding="utf-8")
    outputs = (f"A={output}", f"B={gold}")[: 2 if command == "compare" else 1]
    done = run(command, "--metric", metric, flag, str(gold), *outputs)
    assert "prm-unknown-key" in done.stdout.replace("\\", "")
    assert ("prm-unknown-key" in done.stderr) == (flag in ("--json", "--csv"))


def test_the_options_name_the_forms_of_every_view():
    assert sorted(forms.VIEWS) == sorted(FORMS)
