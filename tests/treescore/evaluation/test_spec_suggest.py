"""Formats are told by their first lines, and what is suggested can be asked for."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import treescore
from treescore.cli.main import main
from treescore.core.registry import FORMATS, METRICS
from treescore.core.text import HEAD_BYTES, Head
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import CERTAINTIES, formats_of, metrics_of, parse_spec, suggestions

TEXTS = {name: known.example for name, known in sorted(FORMATS.items()) if isinstance(known.example, bytes)}


@pytest.mark.parametrize("name", TEXTS)
def test_every_format_of_one_text_is_found_by_its_own_example(name):
    found = suggestions(TEXTS[name])
    certainty = {each.name: CERTAINTIES.index(each.certainty) for each in found}
    assert name in certainty
    assert certainty[name] == min(certainty.values())


def runs(suggestion, text):
    """Whether the text can be scored against itself as a suggestion says."""
    assert suggestion.why
    for scored in suggestion.metrics:
        assert scored.why.endswith(".")
        spec = parse_spec({"format": suggestion.format, "metrics": [scored.metric]})
        assert Evaluation(spec, text).score(text)[0][spec.entries[0].key].rows.shape[0] > 0
    return True


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_suggested_reads_and_scores_the_text(name):
    found = suggestions(TEXTS[name])
    assert found[0].metrics
    assert all(runs(suggestion, TEXTS[name]) for suggestion in found)


@pytest.mark.parametrize("name", ["conll08", "conll09", "discbracket", "pharaoh", "sdp", "cupt"])
def test_texts_that_other_formats_resemble_get_one_suggestion(name):
    assert [each.name for each in suggestions(TEXTS[name])] == [name]


def test_links_without_0_are_read_as_counted_from_1_in_both_formats():
    text = b"1-1 2-2\n" * 300
    found = suggestions(text)
    assert [each.format for each in found] == ["talp", {"name": "pharaoh", "base": 1}]
    assert all(runs(suggestion, text) for suggestion in found)
    assert [each.format for each in suggestions(b"1-1 2-2\n")] == ["talp", "pharaoh"]


@pytest.mark.parametrize("text", [b"(a, b) = f(x)\n(c, d) = g(y)\n", b"(See above.) He (she) left.\n"])
def test_brackets_in_prose_are_no_trees(text):
    assert suggestions(text) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"(S (A a))\n(S\n   (B b)\n   (C c))\n", "Trees are spread over lines."),
        (b"(S (A a)\n" + b"(S (B b))\n" * 19, "A balanced tree in 19 of the first 20 lines."),
    ],
)
def test_the_layout_that_is_named_is_the_one_that_is_read(text, why):
    assert why in suggestions(text)[0].why


@pytest.mark.parametrize("text", [b"", b"\n\n", b"It rains.\n", b"\0\xff\xfe", b"{}\n", b")))\n"])
def test_what_is_no_format_gets_no_certain_suggestion(text):
    assert all(suggestion.certainty == "possible" for suggestion in suggestions(text))


def test_only_the_first_complete_lines_are_looked_at():
    line = b"1-1 2-2\n"
    text = line * (HEAD_BYTES // len(line)) + b"1-1 2-2 3" + b"\nno link\n" * 10
    assert [each.name for each in suggestions(text)] == ["talp", "pharaoh"]
    assert not Head.of(text).whole
    assert len(Head.of(text).lines) == HEAD_BYTES // len(line)
    assert Head.of(b"a\r\nb\rc").lines == ["a", "b", "c"]


def test_trees_without_heads_and_with_several_roots_name_the_parameters():
    words = "1\ta\t_\tX\t_\t_\t{}\tdep\t_\t_\n2\tb\t_\tX\t_\t_\t{}\tdep\t_\t_\n\n"

    def ud(*heads):
        return suggestions(("# text = a b\n" + words.format(*heads)).encode())[0].metrics[0].metric

    assert ud(0, 1) == "ud"
    assert ud(0, 0) == {"name": "ud", "params": {"roots": "any"}}
    assert ud("_", 0) == {"name": "ud", "params": {"missing_heads": "wrong"}}
    assert ud("_", "_") == {"name": "ud", "params": {"missing_heads": "wrong"}}


def test_the_command_prints_what_the_library_returns(tmp_path):
    (tmp_path / "links.txt").write_bytes(TEXTS["pharaoh"])
    path = str(tmp_path / "links.txt")
    done = CliRunner().invoke(main, ["suggest", path, "--json"])
    assert json.loads(done.output) == {"suggestions": [each.document() for each in treescore.suggest(path)]}
    text = CliRunner().invoke(main, ["suggest", path]).output
    assert text.startswith("Likely: format pharaoh\n")
    assert f"treescore score --format pharaoh --metric alignment {path} OUTPUT" in text
    (tmp_path / "letter.txt").write_text("It rains.\n")
    assert "fit no format" in CliRunner().invoke(main, ["suggest", str(tmp_path / "letter.txt")]).output
    (tmp_path / "letter.txt").write_bytes("It rains.\n".encode("utf-16-le"))
    assert "UTF-16" in CliRunner().invoke(main, ["suggest", str(tmp_path / "letter.txt")]).output
    assert CliRunner().invoke(main, ["suggest", str(tmp_path / "none.txt")]).exit_code == 2


def test_the_catalogue_says_what_goes_with_what_both_ways():
    for name, fmt in FORMATS.items():
        assert (fmt.usual_metric in metrics_of(fmt)) or not fmt.usual_metric
        for metric in metrics_of(fmt):
            assert name in formats_of(METRICS[metric].reads)


@pytest.mark.parametrize(
    "text",
    [b"1 (S (N a))\n2 (S (N b))\n", b"1\t(S (N a))\n2\t(S (N b))\n", b"1 0-0 1-1\n2 0-0\n", b"1\t0-0 1-1\n2\t0-0\n"],
)
def test_numbered_lines_are_taken_for_no_format(text):
    assert suggestions(text) == []
