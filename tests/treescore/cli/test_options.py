"""Options and files of `treescore score` and `compare`, and the commands that are the service's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from treescore.cli import main as passthrough
from treescore.cli.exits import NOT_INSTALLED
from treescore.cli.main import COMMANDS, main
from treescore.sources.files import shown

ROOT = Path(__file__).parents[3]
GOLD = str(ROOT / "examples" / "dependencies" / "gold.conllu")
RULES = str(ROOT / "examples" / "dependencies" / "systems" / "rules.conllu")
GRAPH = str(ROOT / "examples" / "dependencies" / "systems" / "graph.conllu")
ASKED = ("--format", "conllu", "--metric", "attachment")


def run(*arguments, status=0):
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == status, (done.exit_code, done.output, done.exception)
    return done


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--metric", '{"x": 1}'), "--metric 2 name: This must be a string. [wrong-type]"),
        (("--format", '{"name": "conllu", "x": 1}'), "--format x: Unknown parameter 'x' of format conllu"),
        (("--system-format", "[]"), "--system-format: This must be a name"),
        (("--items", '{"blocks": 5}'), "--items blocks: This must be a list, one entry for each sentence of gold."),
        (("--metric", "{bad"), "'{bad' is not valid JSON"),
    ],
)
def test_a_malformed_option_is_an_error_with_its_place(options, expected):
    done = run("score", *ASKED, *options, GOLD, RULES, GRAPH, status=2)
    assert expected in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(("gold", "output"), [("nix", RULES), (GOLD, "nix")])
def test_a_file_that_is_not_there_is_named_without_advice_on_python(gold, output):
    for asked in (ASKED, ()):
        assert run("score", *asked, gold, output, status=2).stderr == "No such file 'nix'. [unreadable-file]\n"


def test_a_file_that_is_not_there_is_told_with_what_is_in_its_folder(tmp_path):
    (tmp_path / "gold.conllu").write_text("", encoding="utf-8")
    near, other = tmp_path / "glod.conllu", tmp_path / "nowhere" / "gold.conllu"
    said = run("score", str(near), RULES, status=2).stderr
    assert said.endswith(f"glod.conllu'. Did you mean {shown(tmp_path / 'gold.conllu')}? [unreadable-file]\n")
    said = run("score", str(other), RULES, status=2).stderr
    assert f"Folder {shown(tmp_path / 'nowhere')} not found." in said


def test_a_format_of_several_texts_takes_paths_joined_by_commas(tmp_path):
    links = tmp_path / "links.pharaoh"
    links.write_text("\n" * 60, encoding="utf-8")
    parallel = ("--format", '{"name": "parallel", "alignment": "pharaoh"}', "--metric", "parallel_treebank")
    files = f"{GOLD},{GOLD},{links}"
    scores = json.loads(run("score", "--json", *parallel, files, files).stdout)["results"]["systems"][0]["metrics"]
    assert scores["parallel_treebank"]["scores"]["source_uas"] == 1.0
    assert "takes 3 files, joined by commas" in run("score", *parallel, GOLD, GOLD, status=2).stderr


def test_styles_and_tables_are_printed():
    assert "labeled attachment" in run("score", *ASKED, "--style", "eval07", GOLD, RULES).stdout.lower()
    assert run("score", *ASKED, "--table", GOLD, RULES).stdout.startswith("attachment")


def test_comparing_needs_two_outputs():
    assert "at least two outputs" in run("compare", *ASKED, GOLD, RULES, status=2).stderr


SERVICE = [name for name, entry in COMMANDS.items() if not entry.module]


@pytest.mark.parametrize("command", SERVICE)
def test_without_the_service_its_commands_say_where_it_is(command, monkeypatch):
    monkeypatch.setattr(passthrough, "service_is_here", lambda: False)
    done = run(command, "--bind", "127.0.0.1:1", status=NOT_INSTALLED)
    assert done.stderr == f"Error: {passthrough.ELSEWHERE}\n"


@pytest.mark.parametrize("command", SERVICE)
def test_with_the_service_its_commands_replace_the_process(command, monkeypatch):
    started = []
    monkeypatch.setattr(passthrough.os, "execv", lambda program, line: started.append((program, line)))
    run(command, "--workers", "3", "--help")
    assert started == [(sys.executable, [sys.executable, "-m", "service", command, "--workers", "3", "--help"])]


def test_another_package_named_service_does_not_count(tmp_path):
    (tmp_path / "service").mkdir()
    (tmp_path / "service" / "__init__.py").touch()
    program = "from treescore.cli.main import service_is_here; print(service_is_here())"
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--metric", '{"name": "ud", "parms": {}}', "--metric parms: Unknown member 'parms'. Did you mean 'params'?"),
        ("--transform", '{"name": "flatten", "onn": "gold"}', "--transform onn: Unknown member 'onn'."),
        ("--items", '{"block": []}', "--items block: Unknown member 'block' of items. Did you mean 'blocks'?"),
        ("--items", "@", "A path is missing behind @."),
        ("--items", f"[{'1, ' * 5000}1]", "...' is not a JSON object. Give an object"),
    ],
)
def test_what_is_misspelt_or_missing_in_a_value_is_said_and_not_left_out(option, value, expected):
    refused = run("score", option, value, GOLD, RULES, status=2).stderr
    assert expected in refused
    assert len(refused) < 1000
