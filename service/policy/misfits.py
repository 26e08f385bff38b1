"""Say of outputs that do not fit gold's text only that, where the organisers do not publish the text.

A place, a count or a kind of the misfit would tell words of gold, one guess after the other. Problems of the output
alone keep their places.
"""

from __future__ import annotations

from collections.abc import Iterable

from service.policy.items import Document, object_of, objects_of
from service.policy.levels import Level
from service.store.benchmarks import Benchmark
from treescore.errors import Problem

CODE = "does-not-fit"
CLOSED = "closed"
"""Member of a stored failure: the failure for those who may not know the text."""
COMPARED = "compared"
"""Member of a stored warning that comes from a comparison with gold's text."""
_OWN_CODES = (
    *("head-missing", "head-out-of-range", "cycle", "several-roots", "no-root", "sentence-without-parse"),
    *("invalid-utf8", "nul-character", "broken-tree"),
    *("rule-limit", "lineage-limit", "too-many-enhanced-paths", "alignment-suspicious-indices"),
)
"""Problems that metrics and transforms find in an output without gold's text. All others count as misfits."""
_OWN_PREFIXES = ("enhanced-", "bracketed-", "conllu-", "conllx-", "cupt-")
"""The last three are codes of readers, which an output has in sentences that it may lack."""


def is_misfit(problem: Problem) -> bool:
    """Return whether a problem that a metric found tells about gold's text."""
    return problem.code not in _OWN_CODES and not problem.code.startswith(_OWN_PREFIXES)


def closed_problem(pointer: str, part: str) -> Problem:
    """Return the one problem that replaces all misfits of a part."""
    detail = (
        "The output does not fit gold's text, which the organisers do not publish. Send one parse for each sentence of "
        "the text that was given out, with its words, in its order."
    )
    return Problem(code=CODE, pointer=pointer, part=part, detail=detail)


def hidden(level: Level, benchmark: Benchmark) -> bool:
    """Return whether a caller of this level may not know where an output differs from gold's text."""
    return level < Level.GOLD and not benchmark.settings["publish_input"]


def closed_submission(document: Document) -> dict[str, object]:
    """Return a submission's document without places of misfits. The gate filters it further."""
    shown = dict(document)
    if shown.get("failure") is not None:
        shown["failure"] = _failure(object_of(shown["failure"]))
    shown["failures"] = [_failure(failure) for failure in objects_of(shown["failures"])]
    shown["warnings"] = _warnings(objects_of(shown["warnings"]))
    if shown["scores"] is not None:
        scores = dict(object_of(shown["scores"]))
        scores["parts"] = _closed_parts(object_of(scores["parts"]))
        scores["metrics"] = {
            key: _closed_metric(object_of(metric)) for key, metric in object_of(scores["metrics"]).items()
        }
        shown["scores"] = scores
    return shown


def closed_validation(results: Document) -> dict[str, object]:
    """Return the results of a validation without places of misfits. The gate filters them further."""
    return {**results, "parts": _closed_parts(object_of(results["parts"]))}


def closed_items(documents: Iterable[Document]) -> list[dict[str, object]]:
    """Return items whose problems do not tell how a sentence differs from gold's."""
    shown = [dict(document) for document in documents]
    for document in shown:
        if document.get("problem") is not None:
            document["problem"] = {"code": CODE, "detail": ""}
    return shown


def _failure(failure: Document) -> dict[str, object]:
    return dict(object_of(failure.get(CLOSED, failure)))


def _warnings(warnings: Iterable[Document]) -> list[Document]:
    """Keep the warnings of the output alone, and one for each part that does not fit."""
    own: list[Document] = []
    parts: dict[object, Document] = {}
    for warning in warnings:
        if COMPARED in warning:
            parts.setdefault(warning.get("part"), object_of(warning[COMPARED]))
        else:
            own.append(warning)
    return own + list(parts.values())


def _closed_parts(parts: Document) -> dict[str, object]:
    shown: dict[str, object] = {}
    for name, value in parts.items():
        part = dict(object_of(value))
        if part.get("failure") is not None:
            part["failure"] = _failure(object_of(part["failure"]))
        if "warnings" in part:
            part["warnings"] = _warnings(objects_of(part["warnings"]))
        shown[name] = part
    return shown


def _closed_metric(metric: Document) -> dict[str, object]:
    """Leave out how many sentences gold has, and how many of them do not fit."""
    shown = {name: value for name, value in metric.items() if name != "sentences"}
    if shown.get("parts") is not None:
        shown["parts"] = {
            name: None if part is None else _closed_metric(object_of(part))
            for name, part in object_of(shown["parts"]).items()
        }
    return shown
