"""What is loaded and compiled at its first use, used once before the first job waits for it."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.jit import load_compiler
from treescore.core.structure import walk_chains
from treescore.core.vocabulary import Vocabulary
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.formats.shared.fields import numbered_fields
from treescore.metrics.shared.align import align_words
from treescore.metrics.shared.projectivity import projective_arcs
from treescore.significance.warm import warm_kernels


def warm() -> None:
    """Touch every compiled function with tiny arrays of the types it will see, and every library loaded on demand."""
    load_compiler()
    _warm_dependencies()
    _warm_constituents()
    warm_kernels()


def _warm_dependencies() -> None:
    text = b"1\t2\n"
    starts, ends = _integers(0), _integers(3)
    numbered_fields(text, starts, ends, 2, Vocabulary())
    projective_arcs(_integers(0), _integers(1), _integers(0, 1))
    spans = (_integers(0, 0), _integers(2, 2), np.ones(2, bool))
    align_words(*spans, _integers(1, 2), *spans, _integers(3, 4), 1000)


def _warm_constituents() -> None:
    tree = b"(S (NP (DT the) (NN dog)) (VP (VBD ran)))\n"
    other = b"(S (DT the) (NP (NN dog) (VP (VBD ran))))\n"
    document = {
        "format": "bracketed",
        "transforms": ["flatten"],
        "metrics": ["parseval", "leaf_ancestor", {"name": "conformance", "params": {"categories": {}}}],
    }
    spec = parse_spec(document)
    for outcome in Evaluation(spec, tree).score(other)[0].values():
        outcome.extra()
        outcome.details(0)
    # A parameter beside its default also loads what checks it.
    emptied = {"name": "parseval", "params": {"preset": "kikas-treumuth"}}
    Evaluation(parse_spec({"format": "bracketed", "metrics": [emptied]}), b"(S (NP) (X x))\n").score(other)
    walk_chains(_integers(-1), _integers(0), _integers(0))


def _integers(*values: int) -> IntArray:
    return np.array(values, np.int64)


if __name__ == "__main__":
    warm()
