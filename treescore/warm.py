"""Load and compile before the first job what the first job would otherwise wait for, by calls with tiny arrays."""

import scipy.fft
import scipy.special  # noqa: F401

import treescore.significance  # noqa: F401
from treescore.core.compiling import say_compiled
from treescore.core.jit import forced, state
from treescore.core.registry import METRICS, Example, load_all
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec


def warm() -> None:
    """Compile every function, or load its machine code: score the examples of every metric, so that each is called."""
    load_all()
    with forced("always"):
        for metric in METRICS.values():
            for example in metric.examples:
                _score(metric.name, example)
    say_compiled()


def _score(metric: str, example: Example) -> None:
    twice = (*range(len(example.sentences)),) * 2  # some tables list what occurs more than once
    evaluation = Evaluation(parse_spec(example.request(metric)), example.gold(twice))
    for outcome in evaluation.score(example.output(twice))[0].values():
        outcome.extra()
        dict(outcome.slices())
        outcome.item(0)


if __name__ == "__main__":
    load_all()
    if state() != "compiled":
        warm()
