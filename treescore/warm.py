"""Load and compile before the first job what the first job would otherwise wait for, by calls with tiny arrays."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import appearing
from treescore.core.jit import forced, say_compiled, state
from treescore.core.registry import FORMATS, METRICS, Example, load_all, make_format
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import DiscontinuousTreebank, Vocabulary
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.evaluation.tree_marks import marks_of


def warm() -> None:
    """Compile every function, or load its machine code: score the examples of every metric, so that each is called."""
    load_all()
    with forced("always"):
        for metric in METRICS.values():
            for example in metric.examples:
                _score(metric.name, example)
        _read()
        appearing(np.zeros(1, np.int64), 1)
    say_compiled()


def _score(metric: str, example: Example) -> None:
    twice = (*range(len(example.sentences)),) * 2  # some tables list what occurs more than once
    evaluation = Evaluation(parse_spec(example.request(metric)), example.gold(twice))
    for outcome in evaluation.score(example.output(twice))[0].values():
        outcome.extra()
        dict(outcome.slices())
        outcome.item(0)


def _read() -> None:
    """Read trees with gaps, and compare them, as is done where no metric says what is wrong with them."""
    for form in FORMATS.values():
        if form.yields is DiscontinuousTreebank:
            trees = make_format(form.name, {}).read(form.example, Vocabulary(), DEFAULT_LIMITS)
            marks_of((), {}, trees, trees)


if __name__ == "__main__":
    load_all()
    if state() != "compiled":
        warm()
