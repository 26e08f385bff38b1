"""The notebook in `examples` runs from top to bottom and shows what its text says."""

from __future__ import annotations

import json
import re

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "examples"
NOTEBOOK = FOLDER / "compare_two_parsers.ipynb"
CHECKED = {
    'metric="ud")\nresult': r"(?s)graph.*86\.92.*neural-a.*93\.06",
    ".las_f1, result": r"\(0\.8691588785\d+, 0\.9305740987\d+\)",
    "result.errors(": r"\bobl\b",
    "result.sentence(": r"lantern-7",
    "result.slices(": r"\bnsubj\b",
    "compare(result)": r"(?s)graph.*neural-a|neural-a.*graph",
    'pair["p"]': r"\(-?0\.0614\d+, 0\.00398\d+, True\)",
    "to_latex()": r"(?s)\\begin\{tabular\}.*\\end\{tabular\}",
    "to_frame()": r"las_f1",
}
"""A piece of a cell's source -> what its output must match."""


def test_outputs_are_not_committed() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    kept = [cell for cell in cells if cell["cell_type"] == "code" and (cell["outputs"] or cell["execution_count"])]
    assert kept == []


@pytest.mark.libraries
@pytest.mark.filterwarnings("default")
def test_it_runs_and_shows_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed (make libraries)")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (make libraries)")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(FOLDER)}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for piece, expected in CHECKED.items():
        [cell] = [each for each in code if piece in each.source]
        shown = [text_of(output) for output in cell.outputs]
        assert any(re.search(expected, text) for text in shown), (cell.source, shown)
    [table] = [each for each in code if each.source.endswith("\nresult")]
    assert any("<table" in output.get("data", {}).get("text/html", "") for output in table.outputs)


def text_of(output: dict) -> str:
    """What an output shows, as page or as text; errors end the run."""
    if output["output_type"] == "stream":
        return str(output["text"])
    return str(output["data"].get("text/html") or output["data"]["text/plain"])
