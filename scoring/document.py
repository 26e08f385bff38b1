"""Outcomes as documents: the same in the service's answer and in `treescore score`."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import orjson

import scoring
from scoring.registry import ERROR, SKIP, STATUS_NAMES, Outcome

if TYPE_CHECKING:
    from scoring.arrays import Counts
    from scoring.params import Json
    from scoring.scores import ScoreTable
    from scoring.spec import Entry, FormatChoice
    from scoring.trees import Treebank


def metric_document(entry: Entry, outcome: Outcome, signature: Mapping[str, Json]) -> dict[str, Json]:
    """Scores, counts and signature of one metric over a whole text."""
    scores, undefined = score_values(entry.metric.table, outcome.totals)
    document: dict[str, Json] = {"scores": scores}
    if undefined:
        document["undefined"] = undefined
    document["counts"] = count_values(entry.metric.table.count_names, outcome.totals)
    document["sentences"] = {
        "total": len(outcome.rows),
        "error": int((outcome.status == ERROR).sum()),
        "skip": int((outcome.status == SKIP).sum()),
    }
    extra = outcome.extra()
    if extra:
        document["extra"] = extra
    document["signature"] = signature
    return document


def item_document(table: ScoreTable, outcome: Outcome, index: int, gold: Treebank) -> dict[str, Json]:
    """One sentence: number, name, scores, counts, status and what the metric shows of it."""
    scores, _ = score_values(table, outcome.rows[index])
    document: dict[str, Json] = {"item": index + 1}
    sent_ids = gold.sentences.sent_ids
    if len(sent_ids) and sent_ids[index] is not None:
        document["sent_id"] = sent_ids[index]
    document["status"] = STATUS_NAMES[int(outcome.status[index])]
    problem = outcome.problems.get(index)
    if problem is not None:
        document["problem"] = {"code": problem.code, "detail": problem.gold_detail or problem.detail}
    return {
        **document,
        "scores": scores,
        "counts": count_values(table.count_names, outcome.rows[index]),
        **outcome.details(index),
    }


def score_values(table: ScoreTable, totals: Counts) -> tuple[dict[str, Json], dict[str, Json]]:
    """Scores of summed counts (k,), dots nested, and why the undefined ones are."""
    scores: dict[str, Json] = {}
    undefined: dict[str, Json] = {}
    for name, value in table.values(totals).items():
        number = float(value)
        if math.isnan(number):
            _nest(undefined, name, table.by_name[name].undefined)
        _nest(scores, name, None if math.isnan(number) else number)
    return scores, undefined


def count_values(names: Sequence[str], totals: Counts) -> dict[str, Json]:
    """Counts by name, dots nested; integers stay integers."""
    integer = np.issubdtype(totals.dtype, np.integer)
    counts: dict[str, Json] = {}
    for name, value in zip(names, totals, strict=True):
        _nest(counts, name, int(value) if integer or float(value).is_integer() else float(value))
    return counts


def signature_document(
    entry: Entry, gold_format: FormatChoice, system_format: FormatChoice, gold_digest: str, output_digest: str
) -> dict[str, Json]:
    """Everything that the numbers depend on, and the command that makes them again."""
    return {
        "metric": entry.name,
        "params": dict(entry.metric.values),
        "transforms": [step.document() for step in entry.steps],
        "format": gold_format.document(),
        "system_format": system_format.document(),
        "version": f"{scoring.__version__}/{entry.name}.{type(entry.metric).version}",
        "gold": gold_digest,
        "output": output_digest,
        "command": command(entry, gold_format, system_format),
    }


def command(entry: Entry, gold_format: FormatChoice, system_format: FormatChoice) -> str:
    """The shell command that scores the same files without the service."""
    words = ["treescore", "score", "--format", _argument(gold_format.document())]
    if system_format.document() != gold_format.document():
        words += ["--system-format", _argument(system_format.document())]
    for step in entry.steps:
        words += ["--transform", _argument({"name": step.name, "params": dict(step.params), "on": step.on})]
    metric: dict[str, Json] = {"name": entry.name}
    if entry.key != entry.name:
        metric["key"] = entry.key
    if entry.params:
        metric["params"] = dict(entry.params)
    words += ["--metric", _argument(metric if len(metric) > 1 else entry.name)]
    return shlex.join([*words, "GOLD", "OUTPUT"])


def _argument(value: Json) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _nest(document: dict[str, Json], name: str, value: Json) -> None:
    *path, last = name.split(".")
    for step in path:
        document = document.setdefault(step, {})
    document[last] = value
