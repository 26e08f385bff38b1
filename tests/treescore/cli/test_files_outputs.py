"""Which files are scored under which names: paths, runs of one system, standard input, packed files."""

from __future__ import annotations

import gzip
import html
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.treescore.cli.test_options import GOLD, GRAPH, RULES, run
from treescore.cli.exits import UNWRITTEN
from treescore.cli.main import main


def systems(*arguments: str) -> list[str]:
    document = json.loads(run("score", "--metric", "attachment", "--json", GOLD, *arguments).stdout)
    return [system["name"] for system in document["results"]["systems"]]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Folders `a` and `b` with two outputs each, of the same names."""
    for folder, text in (("a", RULES), ("b", GRAPH)):
        (tmp_path / folder).mkdir()
        for number in (1, 2):
            shutil.copy(text, tmp_path / folder / f"seed{number}.conllu")
    return tmp_path


def test_outputs_of_one_file_name_are_two_systems(runs: Path) -> None:
    paths = [str(runs / folder / "seed1.conllu") for folder in "ab"]
    assert systems(*paths) == ["a", "b"]
    (compared,) = json.loads(run("compare", "--json", GOLD, *paths).stdout)["results"]["comparisons"]
    assert [(pair["a"], pair["b"]) for pair in compared["pairs"]] == [("a", "b")]


def test_runs_of_a_system_are_those_that_a_pattern_finds(runs: Path) -> None:
    options = [part for name in "AB" for part in ("--runs", f"{name}={runs}/{name.lower()}/*.conllu")]
    assert systems(*options) == ["A", "A.2", "B", "B.2"]
    document = json.loads(run("compare", "--json", "--metric", "attachment", GOLD, *options).stdout)
    (compared,) = document["results"]["comparisons"]
    assert [(pair["a"], pair["b"]) for pair in compared["pairs"]] in ([("A", "B")], [("B", "A")])
    assert systems(f"C={RULES}", *options[:2]) == ["C", "A", "A.2"]


def test_single_runs_are_added_to_a_system(runs: Path) -> None:
    first, second = (str(runs / "a" / f"seed{number}.conllu") for number in (1, 2))
    assert systems(f"A={first}", "--run", f"A={second}", GRAPH) == ["A", "A.2", "graph"]
    assert systems(RULES, "--run", f"rules={second}") == ["rules", "rules.2"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "Name an output after gold, as in: gold.conllu mine.conllu"),
        ((f"A={RULES}", f"A={GRAPH}"), "Two outputs have the name 'A'. Name each, as in: A="),
        ((f"A={RULES}", "--runs", f"A={GRAPH}"), "A is named before. Name it once"),
        ((RULES, "--run", f"rulse={GRAPH}"), "rulse is not an output. Did you mean 'rules'? Outputs: rules."),
        (("-", "-"), "Standard input (-) can be one of the files only."),
    ],
)
def test_names_that_are_unclear_are_usage_errors(arguments: tuple[str, ...], expected: str) -> None:
    done = run("score", GOLD, *arguments, status=2)
    assert expected in " ".join(done.stderr.split())


def test_a_path_may_have_an_equals_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lr=0.1").mkdir()
    shutil.copy(RULES, tmp_path / "lr=0.1" / "out.conllu")
    monkeypatch.chdir(tmp_path)
    assert systems("lr=0.1/out.conllu") == ["out"]
    assert systems("best=lr=0.1/out.conllu") == ["best"]


@pytest.mark.parametrize("gold_first", [True, False])
def test_a_dash_is_standard_input(*, gold_first: bool) -> None:
    gold, output = ("-", RULES) if gold_first else (GOLD, "-")
    text = Path(GOLD if gold_first else RULES).read_bytes()
    asked = ["score", "--json", "--format", "conllu", gold, output]
    done = CliRunner().invoke(main, asked, input=text)
    assert done.exit_code == 0, done.output
    (system,) = json.loads(done.stdout)["results"]["systems"]
    assert system["name"] == ("rules" if gold_first else "stdin")
    assert system["metrics"]["ud"]["scores"]["las_f1"] == pytest.approx(0.7263, abs=1e-4)


def test_gold_on_standard_input_needs_a_format() -> None:
    done = run("score", "-", RULES, status=2)
    assert "Give --format: the suffix of - does not name one. Known suffixes: " in " ".join(done.stderr.split())


def test_packed_files_and_folders_are_read(tmp_path: Path) -> None:
    packed, archive, folder = tmp_path / "gold.conllu.gz", tmp_path / "zipped.zip", tmp_path / "folder"
    packed.write_bytes(gzip.compress(Path(GOLD).read_bytes()))
    with zipfile.ZipFile(archive, "w") as written:
        written.write(RULES, "rules.conllu")
    folder.mkdir()
    shutil.copy(GRAPH, folder)
    printed = run("score", "--text", str(packed), str(archive), str(folder)).stdout
    assert "Taken: format conllu" in printed
    assert [line.split()[:2] for line in printed.splitlines()[3:5]] == [["zipped", "72.63"], ["folder", "86.92"]]


def test_scores_are_chosen_in_the_forms_for_programs_too() -> None:
    asked = ("score", GOLD, RULES, "--scores", "UPOS,LAS")
    rows = run(*asked, "--csv").stdout.splitlines()
    assert [row.split(",")[2] for row in rows] == ["score", "las_f1", "upos_f1"]
    systems = json.loads(run(*asked, "--json").stdout)["results"]["systems"]
    assert list(systems[0]["metrics"]["ud"]["scores"]) == ["las_f1", "upos_f1"]
    assert "tokens_f1" in run("score", GOLD, RULES, "--json").stdout
    assert "unknown-score" in run("score", GOLD, RULES, "--scores", "x", "--json", status=2).stderr


def test_an_output_is_read_in_the_format_of_its_first_lines(tmp_path: Path) -> None:
    gold, output = tmp_path / "gold.discbracket", tmp_path / "mine"
    gold.write_text("(S (NP 0=a 1=b) (VP 2=c))\n", encoding="utf-8")
    output.write_text(EXPORT, encoding="utf-8")
    printed = " ".join(run("score", str(gold), str(output)).stdout.split())
    assert "format discbracket (by the suffix of gold), format export (by the first lines of outputs)" in printed
    output.write_text("(S (NP 0=a 1=b) (VP 2=c))\n", encoding="utf-8")
    assert "of outputs" not in run("score", str(gold), str(output)).stdout


def test_each_output_can_have_its_format(tmp_path: Path) -> None:
    trees, heads = tmp_path / "a.conllx", tmp_path / "gold.conllu"
    trees.write_text("1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    heads.write_text("1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    by_suffix = run("score", "--text", "--metric", "attachment", str(heads), str(trees)).stdout
    assert "100.00" in by_suffix
    named = run("score", "--json", "--format", "conllu", "--metric", "attachment", "--output-format", "b=conllx",
                str(heads), f"b={trees}", f"c={heads}").stdout  # fmt: skip
    systems = json.loads(named)["results"]["systems"]
    found = [system["metrics"]["attachment"]["signature"]["system_format"] for system in systems]
    assert found == ["conllx", "conllu"]


@pytest.mark.parametrize("form", ["text", "csv", "html"])
def test_one_output_as_two_runs_is_warned_of_in_every_form(runs: Path, form: str) -> None:
    options = [part for name in "AB" for part in ("--runs", f"{name}={runs}/{name.lower()}/*.conllu")]
    shown = run("compare", "--metric", "attachment", f"--{form}", GOLD, *options).stdout
    words = html.unescape(" ".join(shown.split()))
    assert "The outputs 'A' and 'A.2' are the same text, but are given as two training runs of 'A'." in words
    assert "The outputs 'B' and 'B.2' are the same text" in words


def test_a_pattern_of_runs_that_finds_gold_is_an_error(tmp_path: Path) -> None:
    for name, text in (("gold", GOLD), ("mine", RULES)):
        shutil.copy(text, tmp_path / f"{name}.conllu")
    refused = run("score", str(tmp_path / "gold.conllu"), "--runs", f"A={tmp_path}/*.conllu", status=2)
    assert "gold.conllu is gold itself" in " ".join(refused.stderr.split())


def test_an_output_over_a_run_that_a_pattern_finds_is_refused(runs: Path) -> None:
    written = runs / "a" / "seed2.conllu"
    before = written.read_bytes()
    refused = run("score", GOLD, "--runs", f"A={runs}/a/*.conllu", "--text", "--output", str(written), status=2)
    assert "is an input of this command" in " ".join(refused.stderr.split())
    assert written.read_bytes() == before


@pytest.mark.parametrize("name", ["A\udcff", "\u200b", "a\nb", " ", "x" * 201, "\u202eevil"])
def test_a_name_that_tables_cannot_show_is_an_error(name: str) -> None:
    refused = run("score", "--json", GOLD, f"{name}={RULES}", status=2)
    assert "cannot be the name of an output. A name has 1 to 200 printable characters" in refused.stderr


def test_an_output_without_a_name_before_the_equals_sign_is_an_error() -> None:
    refused = run("score", GOLD, f"={RULES}", status=2)
    assert "has no name before the equals sign" in refused.stderr


def test_a_file_whose_name_is_not_utf8_has_a_name_with_a_mark(tmp_path: Path) -> None:
    path = f"{tmp_path}/caf\udce9.conllu"
    shutil.copy(RULES, path)
    assert systems(path) == ["caf\N{REPLACEMENT CHARACTER}"]


def test_what_a_file_says_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "\x1b[31mred.conllu"
    path.write_text("# sent_id = \x1b]0;title\x07\n1\tbroken\n\n", encoding="utf-8")
    refused = CliRunner().invoke(main, ["score", GOLD, str(path)], color=True)
    assert "red.conllu" in refused.stderr
    assert "\x1b" not in refused.stderr


def test_a_dash_as_output_is_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = run("score", "--metric", "attachment", GOLD, RULES, "--csv", "--output", "-").stdout
    assert printed.startswith("system,metric,score,value")
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_there_is_refused_before_anything_is_scored() -> None:
    refused = run("score", "no-gold.conllu", "no-output.conllu", "--output", "no/such/x.csv", status=UNWRITTEN)
    assert "no/such/x.csv cannot be written: its folder is not there. Make it" in refused.stderr
    assert "a name is missing" in run("score", GOLD, RULES, "--output", "", status=2).stderr


def test_an_empty_path_is_not_this_folder() -> None:
    assert "The path of a file is empty." in run("score", GOLD, "", status=2).stderr


@pytest.mark.parametrize("option", ["--text", "--csv", "--style=conll18"])
def test_settings_of_a_comparison_are_not_left_out_in_silence(option: str) -> None:
    refused = run("score", "--significance", '{"seed": 7}', option, GOLD, RULES, GRAPH, status=2)
    assert "this command prints comparisons as JSON alone" in " ".join(refused.stderr.split())


def test_what_the_first_lines_make_certain_is_taken_and_said(tmp_path: Path) -> None:
    gold, trees = tmp_path / "gold.txt", tmp_path / "trees.txt"
    gold.write_text("1 1 1 S\n1 2 2 P\n2 1 1 S\n", encoding="utf-8")
    trees.write_text("(S (NP a) (VP b))\n", encoding="utf-8")
    printed = run("score", str(gold), str(gold)).stdout
    assert "Taken: format naacl (by its first lines), metric alignment (usual for naacl)." in printed
    refused = " ".join(run("score", str(trees), str(trees), status=2).stderr.split())
    assert "does not name one. By its first lines --format bracketed is likely. Known suffixes: .mrg" in refused


EXPORT = """#BOS 1
a\tD\t--\t--\t500
b\tN\t--\t--\t500
c\tV\t--\t--\t501
#500\tNP\t--\t--\t502
#501\tVP\t--\t--\t502
#502\tS\t--\t--\t0
#EOS 1
"""


@pytest.mark.parametrize("suffix", [".wa", ".gld", ".tst", ".prd"])
def test_suffixes_of_the_fields_programs_are_known(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"sample{suffix}"
    file.write_text("1 1 1 S\n" if suffix == ".wa" else "(S (NP (D a) (N b)) (VP (V c)))\n", encoding="utf-8")
    assert "(by the suffix of gold)" in run("score", str(file), str(file)).stdout


def test_the_format_that_the_suffix_of_outputs_names_is_said(tmp_path: Path) -> None:
    gold, output = tmp_path / "gold.talp", tmp_path / "mine.pharaoh"
    gold.write_text("1-1 2-2\n", encoding="utf-8")
    output.write_text("0-0 1-1\n", encoding="utf-8")
    printed = run("score", "--text", str(gold), str(output)).stdout
    assert "format talp (by the suffix of gold), format pharaoh (by the suffix of outputs)" in " ".join(printed.split())
    assert "0.00  100.00" in printed
    stated = ("--system-format", '{"name": "pharaoh", "base": 0}')
    printed = run("score", "--text", *stated, str(gold), str(output)).stdout
    assert "by the suffix of outputs" not in printed
    assert "0.00  100.00" in printed
