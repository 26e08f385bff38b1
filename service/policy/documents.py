"""What of a document leaves the service while gold is secret: of items, comparisons, failures and trees.

Items: an output's own errors without gold's annotation. Each metric declares what it shows
(`treescore.core.registry`); a metric, member or grouping without a declaration is not shown.

Comparisons: rounded figures, and nothing that counts sentences; notes are made of these figures. JSON, CSV, Markdown,
LaTeX and pictures are made of this one document. Exact figures stay stored, for organisers and for level `gold`. How p
was computed, and with which error, is not shown: it tells how many units differ.

Outputs that do not fit gold's text: only that, where the organisers do not publish the text. A place, a count or a
kind of the misfit would tell words of gold, one guess after the other. Problems of the output alone keep their
places. Scores that a ladder holds: only that it holds them.

Trees: below `items` the output alone, at `items` what of it is wrong, at `gold` all. At `items` a wrong head looks
like a wrong relation, and a word that gold does not have is not marked: a mark tells one bit of each word, span, edge
or link of the output, and nothing of gold's words.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

import treescore.metrics  # noqa: F401 - importing the package fills the registry
from service.policy import figures
from treescore.core import params, registry
from treescore.errors import Problem
from treescore.significance import assembly, notes

Document: TypeAlias = Mapping[str, Any]

SHELL = ("item", "status")
"""Members that every item shows: the number of the sentence, and whether it could be scored."""


def disclosure_of(metric: str) -> registry.Disclosure:
    """Return what a metric declares; nothing for an unknown name."""
    known = registry.METRICS.get(metric)
    return registry.NOTHING_DISCLOSED if known is None else known.disclosure


def shown_item(metric: str, document: Document) -> dict[str, Any]:
    """Return one item as a participant may see it at level `items`.

    A sentence without a scored output shows no figures and no words: they would be gold's, which are charged to it.
    """
    disclosure = disclosure_of(metric)
    shown = chosen(document, SHELL)
    if document.get("problem") is not None:
        shown["problem"] = {"code": document["problem"]["code"]}
    scored = document["status"] == "ok"
    for kind, names in (("scores", disclosure.scores), ("counts", disclosure.counts)):
        if kind in document:
            shown[kind] = chosen(document[kind], names if scored else ())
    shown |= chosen(document, disclosure.members)
    if not scored:
        return shown
    return shown | {
        name: _in_part(fields, document[name]) for name, fields in disclosure.fields.items() if name in document
    }


def shown_items(metric: str, documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return a page of items; of metrics that score the division into sentences, by the output's own sentences."""
    shown = [shown_item(metric, document) for document in documents]
    if not disclosure_of(metric).output_sentences:
        return shown
    by_sentence: dict[int, list[Document]] = {}
    for document in shown:
        for word in document.get("words", ()):
            sentence = word["sentence"]
            if isinstance(sentence, int):
                kept = {name: value for name, value in word.items() if name != "sentence"}
                by_sentence.setdefault(sentence, []).append(kept)
    return [{"item": sentence, "status": "ok", "words": words} for sentence, words in sorted(by_sentence.items())]


def shown_groupings(metric: str) -> tuple[str, ...]:
    """Return the groupings by which a participant may see slices at level `items`."""
    return tuple(disclosure_of(metric).slices)


def shown_rows(metric: str, grouping: str, documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return the rows of one grouping, only of what the output itself has, in an order that does not depend on gold."""
    declared = disclosure_of(metric).slices.get(grouping)
    if declared is None:
        return []
    kept: list[tuple[float, dict[str, Any]]] = []
    for row in documents:
        counts, scores = row["counts"], row["scores"]
        size = counts[declared.counts[0]]
        # The last row of a long table sums up the rarest values, and which values are rare depends on gold.
        if row["value"] is None or not isinstance(size, int | float) or not size:
            continue
        shown_scores = {name: scores.get(name) for name in declared.scores}
        shown = {"value": row["value"], "counts": chosen(counts, declared.counts), "scores": shown_scores}
        kept.append((size, shown))
    return [shown for _, shown in sorted(kept, key=lambda pair: (-pair[0], str(pair[1]["value"])))]


def chosen(document: Document, names: Iterable[str]) -> dict[str, Any]:
    """Return the members of these names that the document has, in the order of the names."""
    return {name: document[name] for name in names if name in document}


def _in_part(fields: registry.Fields, value: Any) -> object:
    """Return the declared members of an object, or of each object in a list."""
    if isinstance(value, Mapping):
        return _fields(fields, value)
    return [_fields(fields, each) for each in value if not fields.required or each.get(fields.required) is not None]


def _fields(fields: registry.Fields, document: Document) -> dict[str, Any]:
    shown = {name: document[member] for member, name in fields.shown.items() if member in document}
    return shown | {name: document[score] == 1.0 for score, name in fields.perfect.items()}


Number = Callable[[float], float]

SUPPORTED = "Figures are rounded to what the number of sentences supports"
EXACT = "Differences are of exact scores."
ROUNDED = (
    f"{SUPPORTED}: scores to 4 digits, bounds of intervals to 3, p to 2 with a floor of 0.0001, differences and their "
    f"bounds to 4 decimals. {EXACT}"
)
"""The note of every comparison that is shown so."""

_HEAD = (
    *("id", "benchmark", "revision", "state", "created_at", "finished_at", "expires_at", "score", "part", "split"),
    *("submissions", "settings", "progress", "labels", "failure"),
)
_COMPARISON = (
    *("higher_is_better", "range", "statistic", "numerator", "denominator", "terms", "test", "alternative", "units"),
    *("parts", "parts_by_sentence", "gold_digest", "alpha", "correction", "family", "untested", "clusters"),
    *("rank_ranges", "warnings", "part_names", "selection"),
)
_SYSTEM = ("name", "rank", "cluster", "rank_interval", "missing_parts")
_PAIR = ("a", "b", "better", "test", "significant", "reason")
_NOT_WORSE = ("established",)
_INTERVAL = ("level", "method")
_PARTS = ("k_bonferroni", "k_fisher", "holm")
_COMPARISON_SIGNATURE = (
    *("score", "test", "alternative", "unit", "shuffles", "resamples", "interval", "level", "correction"),
    *("alpha", "clusters", "mcnemar", "runs", "margin", "power", "gold", "version"),
)
_P = ("p", "p_parts", "p_unselected", "p_holm", "p_hochberg", "p_bh", "p_by", "p_bonferroni", "p_adjusted")
_NOT_WORSE_P = ("p", "p_adjusted")
_PARTS_P = ("p", "bonferroni", "fisher")


_MANY = 2


def shown_comparison(document: Document, *, by_part: bool, counts: bool = False) -> dict[str, params.Json]:
    """Return a comparison, answered or not, as it is shown below level `gold`.

    Args:
        document: the whole comparison.
        by_part: whether tests of single parts, and of their differences, are shown.
        counts: whether the number of units is shown.
    """
    # the command needs the question, which is shown with gold
    shown = chosen(document, _HEAD) | chosen(document, _COMPARISON) | {"command": None}
    if "pairs" not in document:
        return shown
    shown["rounded"] = True
    if not by_part:
        shown.pop("part_names", None)
    shown |= _ranked(shown, [_system(each) for each in document.get("systems", ())])
    shown["pairs"] = [_pair(each, by_part=by_part) for each in document["pairs"]]
    shown["signature"] = chosen(document.get("signature", {}), _COMPARISON_SIGNATURE)
    if counts:
        shown["unit_count"] = document["unit_count"]
    documents = document.get("documents")
    # a note says whether gold marks none, one or more, and not how many
    marked = min(documents, _MANY) if isinstance(documents, int) else None
    shown["notes"] = [*notes.notes({**shown, "documents": marked}), ROUNDED]
    return shown


def _system(system: Document) -> dict[str, Any]:
    shown = chosen(system, _SYSTEM) | _rounded(system, ("score",), figures.rounded_score)
    if "runs" in system:
        runs = system["runs"]
        shown["runs"] = chosen(runs, ("count",)) | _rounded(runs, ("mean", "sd"), figures.rounded_score)
    return {**shown, "ci": _interval(system.get("ci"), figures.rounded_bound)}


def _ranked(document: Document, systems: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the systems, and what is listed in their order, ranked by scores as they are shown."""
    scores = np.array([system["score"] for system in systems], np.float64)
    losses = -scores if document.get("higher_is_better", True) else scores
    order = sorted(range(len(systems)), key=lambda at: (losses[at], str(systems[at]["name"])))
    ranks = assembly.ranks_of(losses[order])
    ranked: dict[str, Any] = {"systems": [{**systems[at], "rank": rank} for at, rank in zip(order, ranks, strict=True)]}
    if document.get("clusters") is not None:
        clusters = document["clusters"]
        ranked["clusters"] = {**clusters, "cluster": _in_order(clusters["cluster"], order)}
    if document.get("rank_ranges") is not None:
        ranked["rank_ranges"] = _in_order(document["rank_ranges"], order)
    return ranked


def _in_order(values: object, order: list[int]) -> list[object]:
    return [values[at] for at in order] if isinstance(values, (list, tuple)) else []


def _pair(pair: Document, *, by_part: bool) -> dict[str, Any]:
    shown = chosen(pair, _PAIR)
    shown |= _rounded(pair, ("score_a", "score_b"), figures.rounded_score)
    shown |= _rounded(pair, ("difference", "difference_tested"), figures.rounded_difference)
    if not shown.get("difference") and not pair.get("significant"):
        # the sign of what is shown as 0 would tell more digits
        shown["better"] = None
    shown |= _rounded(pair, _P, figures.rounded_p)
    if not by_part:
        # of a few parts it has few values, each of which says how the hidden ones differ
        shown["p_parts"] = None
    for name in ("ci", "ci_adjusted"):
        shown[name] = _interval(pair.get(name), figures.rounded_difference_bound)
    if isinstance(shown["ci_adjusted"], dict):
        shown["ci_adjusted"]["level"] = None  # the pair's divisor, from which the rank of p and an exact p follow
    shown["detectable"] = _detectable(pair["detectable"])
    shown["noninferiority"] = _not_worse(pair["noninferiority"], (pair["a"], pair["b"]))
    if by_part and "parts" in pair:
        shown["parts"] = {
            side: chosen(tests, _PARTS) | _rounded(tests, _PARTS_P, figures.rounded_p)
            for side, tests in pair["parts"].items()
        }
    return shown


def _detectable(known: Any) -> dict[str, Any] | None:
    if known is None:
        return None
    shown = chosen(known, ("power",)) | _rounded(known, ("difference",), figures.rounded_difference)
    return {**shown, "alpha": None}  # as the level of `ci_adjusted`


def _not_worse(known: Any, names: tuple[object, object]) -> dict[str, Any] | None:
    """Return the tests that each of a pair is not worse by the margin, which are under the names of both."""
    if known is None:
        return None
    shown = chosen(known, ("margin",))
    for name in map(str, names):
        if name in known:
            test = known[name]
            shown[name] = chosen(test, _NOT_WORSE) | _rounded(test, _NOT_WORSE_P, figures.rounded_p)
    return shown


def _interval(known: Any, bound: Number) -> dict[str, Any] | None:
    if known is None:
        return None
    return chosen(known, _INTERVAL) | _rounded(known, ("low", "high"), bound)


def _rounded(document: Document, names: tuple[str, ...], number: Number) -> dict[str, Any]:
    """Return the members of these names that the document has, with every number in them rounded."""
    return {name: _number(document[name], number) for name in names if name in document}


def _number(value: object, number: Number) -> object:
    if isinstance(value, (list, tuple)):
        return [_number(each, number) for each in value]
    return number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


CODE = "does-not-fit"
CLOSED = "closed"
"""Member of a stored failure: the failure for those who may not know the text."""
COMPARED = "compared"
"""Member of a stored warning that comes from a comparison with gold's text."""
_BY_LABELS_AND_LINKS = ("alignment-suspicious-indices", "alignment-swapped", "root-label")
_BY_ANNOTATION = (*_BY_LABELS_AND_LINKS, "alignment-link-out-of-range", "other-words")
"""Warnings of metrics that follow from gold's links, labels or tags; links out of range are named where no other
reading of them fits gold's."""
_OWN_CODES = (
    *("head-missing", "head-out-of-range", "cycle", "several-roots", "no-root", "sentence-without-parse"),
    *("invalid-utf8", "nul-character", "broken-tree", "column-missing"),
    *("rule-limit", "lineage-limit", "tree-distance-limit", "too-many-overlaps", "too-long-expressions"),
    *("too-many-enhanced-paths", *_BY_LABELS_AND_LINKS),
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


def closed_submission(document: Document) -> dict[str, Any]:
    """Return a submission's document without places of misfits. The gate filters it further."""
    shown = dict(document)
    if shown.get("failure") is not None:
        shown["failure"] = _failure(shown["failure"])
    shown["failures"] = [_failure(failure) for failure in shown["failures"]]
    shown["warnings"] = _warnings(shown["warnings"])
    if shown["scores"] is not None:
        scores = dict(shown["scores"])
        scores["parts"] = _closed_parts(scores["parts"])
        scores["metrics"] = {key: _closed_metric(metric) for key, metric in scores["metrics"].items()}
        shown["scores"] = scores
    return shown


def closed_validation(results: Document) -> dict[str, Any]:
    """Return the results of a validation without places of misfits. The gate filters them further."""
    return {**results, "parts": _closed_parts(results["parts"])}


def validation_of_text(results: Document) -> dict[str, Any]:
    """Return the results of a validation without warnings that follow from gold's annotation."""
    parts = {name: dict(part) for name, part in results["parts"].items()}
    for part in parts.values():
        if "warnings" in part:
            part["warnings"] = [
                warning
                for warning in part["warnings"]
                if "metric" not in warning or warning["code"] not in _BY_ANNOTATION
            ]
    return {**results, "parts": parts}


def closed_items(documents: Iterable[Document]) -> list[dict[str, Any]]:
    """Return items whose problems do not tell how a sentence differs from gold's."""
    shown = [dict(document) for document in documents]
    for document in shown:
        if document.get("problem") is not None:
            document["problem"] = {"code": CODE, "detail": ""}
    return shown


def _failure(failure: Document) -> dict[str, Any]:
    return dict(failure.get(CLOSED, failure))


def _warnings(warnings: Iterable[Document]) -> list[Document]:
    """Keep the warnings of the output alone, and one for each part that does not fit."""
    own: list[Document] = []
    parts: dict[object, Document] = {}
    for warning in warnings:
        if COMPARED in warning:
            parts.setdefault(warning.get("part"), warning[COMPARED])
        else:
            own.append(warning)
    return own + list(parts.values())


def _closed_parts(parts: Document) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for name, value in parts.items():
        part = dict(value)
        if part.get("failure") is not None:
            part["failure"] = _failure(part["failure"])
        if "warnings" in part:
            part["warnings"] = _warnings(part["warnings"])
        shown[name] = part
    return shown


def _closed_metric(metric: Document) -> dict[str, Any]:
    """Leave out how many sentences gold has, and how many of them do not fit."""
    shown = {name: value for name, value in metric.items() if name != "sentences"}
    if shown.get("parts") is not None:
        shown["parts"] = {name: None if part is None else _closed_metric(part) for name, part in shown["parts"].items()}
    return shown


def held_submission(document: Document) -> dict[str, Any]:
    """Return a submission's document without its scores and without what a metric says of them."""
    return {**without_comparison(document), "scores": None}


def without_comparison(document: Document) -> dict[str, Any]:
    """Return a submission's document without what metrics warn of: they compare all sentences with gold."""
    warnings = [warning for warning in document["warnings"] if "metric" not in warning]
    return {**document, "warnings": warnings}


WRONG = "wrong"
"""The only mark below `gold`."""
_OWN = ("item", "kind", "sent_id", "line", "words", "tokens", "expressions", "annotation", "target_words", "system")
_OF_GOLD = ("gold", "gold_words", "gold_target_words", "gold_expressions", "gold_annotation", "pairs", "missed")
_TELLING = ("word",)
"""Marks that would tell of gold's words."""


def marks_shown(level: figures.Level, metric: str | None) -> bool:
    """Return whether a caller may see which units of the own output are wrong.

    Args:
        level: of the caller.
        metric: the name in the catalogue of the metric that made the marks, "" where its items show only their
            status, None for a plain comparison.
    """
    if level is figures.Level.GOLD:
        return True
    disclosure = disclosure_of(metric or "")
    return level >= figures.Level.ITEMS and bool(disclosure.fields or disclosure.members)


def require_marks(level: figures.Level, *, shown: bool) -> None:
    """Check that sentences may be chosen by their errors.

    Raises:
        Forbidden: the level does not show errors, or no metric shows them at this level.
    """
    figures.require(level, figures.Level.ITEMS, "errors of single sentences")
    if not shown:
        raise figures.not_shown(
            "No metric of the benchmark shows the errors of single sentences at feedback level items."
        )


def require_kind(level: figures.Level, kind: str) -> None:
    """Check that sentences may be chosen by a kind of error.

    Raises:
        Forbidden: the level shows only that something is wrong.
    """
    if kind != "any":
        figures.require(level, figures.Level.GOLD, f"which errors are of kind {kind}")


def tree_view(level: figures.Level, document: Document, *, marks: bool) -> dict[str, Any]:
    """Return one sentence's trees.

    Args:
        level: of the caller.
        document: with everything that is known.
        marks: what `marks_shown` says.
    """
    if level is figures.Level.GOLD:
        return dict(document)
    shown = chosen(document, _OWN) | {name: None for name in _OF_GOLD if name in document}
    shown["wrong"] = None
    found = document.get("wrong")
    if marks and isinstance(found, list):
        shown["wrong"] = marks_view(level, found)
    return shown


def marks_view(level: figures.Level, marks: Sequence[str | None]) -> list[str | None]:
    """Return what a caller who may see that units are wrong sees of each."""
    if level is figures.Level.GOLD:
        return list(marks)
    return [None if each is None or each in _TELLING else WRONG for each in marks]
