"""`treescore metrics`, `formats` and `transforms`, and the completion of names."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from typing import Any

import pytest
from click.testing import CliRunner

from service.usecases.status import scorer, scorers
from tests.conftest import ROOT
from tests.treescore.cli.test_loading import PROGRAM, SPARED, printed_by
from treescore.cli.catalogue import type_words
from treescore.cli.main import COMMANDS, main
from treescore.cli.options import known_names
from treescore.core.registry import FORMATS, METRICS, TRANSFORMS

KINDS: dict[str, Any] = {"metrics": METRICS, "formats": FORMATS, "transforms": TRANSFORMS}
ALL = [(kind, name) for kind, known in KINDS.items() for name in known]


def shown(*arguments: str, status: int = 0) -> str:
    done = CliRunner().invoke(main, arguments, prog_name="treescore", env={"COLUMNS": "80"})
    assert done.exit_code == status, done.output
    return done.output


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_has_all_of_a_kind(kind: str) -> None:
    listed = re.findall(r"^(\S+)  ", shown(kind), re.MULTILINE)
    assert listed == sorted(KINDS[kind])
    assert [each["name"] for each in json.loads(shown(kind, "--json"))] == listed


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_one_is_described_with_all_of_its_parameters(kind: str, name: str) -> None:
    text = shown(kind, name)
    component = KINDS[kind][name]
    assert text.startswith(f"{name} ({kind.removesuffix('s')})\n")
    for parameter in component.params:
        assert re.search(rf"^  {parameter}\b", text, re.MULTILINE), parameter
    if kind == "metrics":
        for score in component(**{each: param.default for each, param in component.params.items()}).table.scores:
            assert f"\n  {score.name} " in text, score.name


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_its_example_is_a_command_whose_options_fit_each_other(kind: str, name: str) -> None:
    """The files of an example are not there: the errors are about them alone."""
    text = shown(kind, name).replace(" \\\n      ", " ")
    examples = re.findall(r"^  treescore (score .*)$", text, re.MULTILINE)
    assert examples
    for example in examples:
        done = CliRunner().invoke(main, shlex.split(example))
        assert "No such file" in done.stderr, (example, done.stderr)


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_json_is_the_entry_of_the_service(kind: str, name: str) -> None:
    assert json.loads(shown(kind, name, "--json")) == json.loads(scorer(name).body)


def test_the_lists_are_those_of_the_service() -> None:
    catalogue = json.loads(scorers().body)
    for kind in KINDS:
        assert json.loads(shown(kind, "--json")) == catalogue[kind]


@pytest.mark.parametrize(
    ("kind", "typed", "meant"),
    [("metrics", "parsval", "parseval"), ("formats", "conlu", "conllu"), ("transforms", "drop_traces", "drop-traces")],
)
def test_an_unknown_name_is_a_usage_error_that_names_a_similar_one(kind: str, typed: str, meant: str) -> None:
    assert f"Did you mean {meant!r}?" in " ".join(shown(kind, typed, status=2).split())


@pytest.mark.parametrize("arguments", [("metrics",), ("formats", "conllu", "--json")])
def test_lists_load_neither_the_compiler_nor_what_tests_differences(arguments: tuple[str, ...]) -> None:
    answer = json.loads(printed_by(PROGRAM, *arguments))
    assert answer["exit"] == 0
    assert not set(answer["loaded"]) & (SPARED | {"rich"})


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "boolean"}, "true or false"),
        ({"type": ["boolean", "null"]}, "true, false or null"),
        ({"enum": ["a", None]}, '"a" or null'),
        ({"type": "integer", "minimum": 1, "maximum": 5}, "whole number from 1 to 5"),
        ({"type": "integer", "minimum": 1}, "whole number, 1 or more"),
        ({"type": "number", "exclusiveMinimum": 0}, "number above 0"),
        ({"type": "array", "items": {"type": "string"}}, "list of strings"),
        ({"anyOf": [{"type": "string"}, {"type": "object"}]}, "string or JSON object"),
    ],
)
def test_types_are_said_in_words(schema: dict[str, Any], words: str) -> None:
    assert type_words(schema) == words


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_completed_without_loading_anything(kind: str) -> None:
    assert known_names(kind) == sorted(KINDS[kind])


def completed(line: str) -> list[str]:
    """Return what a shell offers at the end of a line, and check that little was loaded for it."""
    words = line.split(" ")
    environment = {"_TREESCORE_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    program = (
        "import sys\nfrom treescore.cli.main import main\n"
        "try:\n    main(prog_name='treescore')\nfinally:\n    assert 'numpy' not in sys.modules, 'numpy'\n"
    )
    printed = printed_by(program, **environment)
    return [found.partition(",")[2] for found in printed.split()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("treescore comp", ["compare", "completion"]),
        ("treescore compare x --format conll", ["conll08", "conll09", "conllu", "conllu-plus", "conllx"]),
        ("treescore errors --dep", ["--deprel"]),
        ("treescore completion ", ["bash", "zsh", "fish"]),
    ],
)
def test_a_shell_completes(line: str, expected: list[str]) -> None:
    assert completed(line) == expected


def test_every_command_is_completed() -> None:
    assert completed("treescore ")[: len(COMMANDS)] == list(COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_says_how_it_is_installed(shell: str) -> None:
    script = shown("completion", shell)
    assert "_TREESCORE_COMPLETE" in script
    assert f"# To install: treescore completion {shell} > ~/" in script


def test_bash_takes_its_script() -> None:
    script = shown("completion", "bash")
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@pytest.mark.parametrize("name", sorted(METRICS))
def test_each_paper_that_the_source_of_a_metric_names_is_cited(name: str) -> None:
    own, *papers = re.split(r"^% .*$", shown("cite", name), flags=re.MULTILINE)
    source = METRICS[name].source
    assert len(papers) == len(YEAR.findall(re.sub(r"\S+//\S+", "", source)))
    assert sorted(YEAR.findall(" ".join(re.findall(r"year = .*", shown("cite", name))))) == sorted(
        YEAR.findall(re.sub(r"\S+//\S+", "", source))
    )
    assert all(f"url = {{{address}}}" in "".join(papers) for address in re.findall(r"https://[^;\s]+", source))
    assert all(each.count("{") == each.count("}") for each in (own, *papers))


def test_all_papers_are_cited_once_beside_the_citation_of_treescore() -> None:
    text = shown("cite")
    keys = re.findall(r"^@\w+\{(.+),$", text, re.MULTILINE)
    assert keys[0] == "treescore"
    assert len(set(keys)) == len(keys)
    kept = (ROOT / "treescore" / "papers.bib").read_text(encoding="utf-8")
    assert set(keys[1:]) == set(re.findall(r"^@\w+\{(.+),$", kept, re.MULTILINE))
    assert "% alignment, parallel_treebank\n@article{och-ney-2003," in text
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    own = text.partition("\n\n")[0]
    assert {"author", "title", "version"} <= set(re.findall(r"^  (\w+) = ", own, re.MULTILINE))
    assert all(value in citation for value in re.findall(r"\{\{(.+)\}\}", own))
    assert "Unknown metric 'udd'. Did you mean 'ud'?" in shown("cite", "udd", status=2)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("LAS", "--metric attachment --scores las, or --metric ud --scores las_f1"),
        ("conll18", "--metric ud --style conll18"),
        ("evalb", "--metric parseval --style evalb"),
        ("Disc. F1", "--metric parseval --scores disc_f1"),
    ],
)
def test_a_score_or_a_style_is_answered_with_what_to_type(name: str, asked: str) -> None:
    assert f"Unknown metric {name!r}. In a command it is {asked}." in " ".join(shown("metrics", name, status=2).split())
    trees = str(ROOT / "examples" / "trees" / "systems" / "pcfg.mrg")
    assert shown("score", "--metric", name, trees, trees, status=2).startswith(
        f"--metric: Unknown metric {name!r}. Type {asked}."
    )
