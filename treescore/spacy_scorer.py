"""A scorer for spaCy pipelines: LAS, UAS and the other scores of the CoNLL shared tasks, over all tokens.

    nlp.add_pipe("parser", config={"scorer": {"@scorers": "treescore.las.v1"}})

or in the configuration of a training run

    [components.parser.scorer]
    @scorers = "treescore.las.v1"

spaCy's own scorer leaves out punctuation and tokens that are aligned with several; this one is that of the shared
tasks (metric `ud`): predicted and reference tokens are aligned by their characters, and what one of them lacks counts.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from treescore import SystemScores, score

SPACY = {"dep_uas": "uas_f1", "dep_las": "las_f1"}
"""Names under which spaCy looks for scores of a parser, and the names of this library."""
OTHERS = ("clas_f1", "mlas_f1", "blex_f1", "upos_f1", "ufeats_f1", "lemmas_f1", "words_f1", "sentences_f1")

Scorer = Callable[..., dict[str, Any]]


def make_las_scorer() -> Scorer:
    """Return the scorer; spaCy calls this where a configuration names `treescore.las.v1`."""
    return score_examples


def score_examples(examples: Iterable[Any], **_: Any) -> dict[str, Any]:
    """Score examples of spaCy by their dependencies.

    Examples whose reference has no dependencies are left out, as spaCy leaves them out.

    Args:
        examples: each with `reference` and `predicted`.

    Returns:
        `dep_las`, `dep_uas`, `dep_las_per_type` as spaCy's scorer of parsers, and `ud_clas_f1`, `ud_mlas_f1`, ...;
        all None where no reference has dependencies.

    Raises:
        ScoringError: a predicted document has no dependencies, or a document cannot be scored.
    """
    pairs = [(each.reference, each.predicted) for each in examples if each.reference.has_annotation("DEP")]
    if not pairs:
        return {**dict.fromkeys([*SPACY, *(f"ud_{name}" for name in OTHERS)]), "dep_las_per_type": None}
    gold, predicted = ([pair[side] for pair in pairs] for side in (0, 1))
    result = score(gold, {"predicted": predicted}, "ud", format="conllu")
    found = result["predicted"]
    outcome = result.report.outcomes[0]["ud"]
    return {
        **{name: _given(found, f"ud.{own}") for name, own in SPACY.items()},
        "dep_las_per_type": _by_relation(outcome.slices()["deprel"]),
        **{f"ud_{name}": _given(found, f"ud.{name}") for name in OTHERS},
    }


def _given(scores: SystemScores, address: str) -> float | None:
    """Return a score as spaCy has it: None where it is undefined."""
    return scores[address] if scores.defined(address) else None


def _by_relation(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Return precision, recall and F1 of LAS by relation, from the slices of the metric."""
    found = {}
    for row in rows:
        counts, scores = row["counts"], row["scores"]
        both = counts["gold"] + counts["system"]
        f1 = (counts["gold_correct"] + counts["system_correct"]) / both if both else 0.0
        found[row["value"]] = {
            "p": scores["las_precision"] or 0.0,  # as spaCy gives what is undefined
            "r": scores["las_recall"] or 0.0,
            "f": f1,
        }
    return found
