"""Results are pickled and copied: figures, items, slices, errors and comparisons are the same afterwards."""

import pickle
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from treescore.api import Output, compare, evaluate
from treescore.core.registry import METRICS
from treescore.results import Result

_T = TypeVar("_T")


def scored(metric: str, number: int) -> Result:
    """Score an example of a metric, by its output and by gold itself."""
    example = METRICS[metric].examples[number]
    outputs = [Output("A", example.output()), Output("B", example.gold())]
    return evaluate({**example.request(metric), "significance": {}}, example.gold(), outputs)


def views(result: Result) -> list[str]:
    """Return what a result shows of its first system."""
    sentences = range(1, len(result.report.gold) + 1)
    return [
        result.to_json(),
        result.errors("A").to_json(),
        *(result.sentence("A", number).to_json() for number in sentences),
        *(result.slices("A", by).to_json() for by in result.groupings("A")),
        compare(result).to_json(),
    ]


def pickled(value: _T) -> _T:
    """Pickle a value and read it back."""
    found: _T = pickle.loads(pickle.dumps(value))  # noqa: S301 - bytes of this test
    return found


@pytest.mark.parametrize(
    ("metric", "number"), [(name, number) for name in METRICS for number in range(len(METRICS[name].examples))]
)
@pytest.mark.filterwarnings("ignore::treescore.TreescoreWarning")
def test_a_result_is_the_same_after_pickling_and_copying(metric: str, number: int) -> None:
    result = scored(metric, number)
    shown = views(result)  # which keep what they compute
    for other in (pickled(result), deepcopy(result)):
        assert views(other) == shown
        for before, after in zip(result.report.outcomes, other.report.outcomes, strict=True):
            assert all(np.array_equal(before[key].rows, after[key].rows) for key in before)
    assert dict(pickled(result["A"])) == pytest.approx(dict(result["A"]), nan_ok=True)


def test_another_process_reads_a_comparison(tmp_path: Path) -> None:
    result = scored("ud", 0)
    path = tmp_path / "comparison.pickle"
    path.write_bytes(pickle.dumps(result.comparison))
    code = "import pathlib, pickle, sys; print(pickle.loads(pathlib.Path(sys.argv[1]).read_bytes()).to_json(), end='')"
    found = subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=True, text=True)
    assert result.comparison is not None
    assert found.stdout == result.comparison.to_json()
