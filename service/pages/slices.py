"""Slices of a submission: by groups of words or brackets how many gold and the output have, and how many agree.

Groups are summed over the parts, beside those of another submission where one is chosen. All columns that a metric has
are shown of one part.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from flask import request
from markupsafe import Markup

from service.api import calls
from service.caller import Caller
from service.contract import submissions as contract
from service.errors import Conflict, Forbidden, Gone, NotFound
from service.pages import figures
from service.pages.answers import drawn
from service.requests import POOLED
from service.usecases.submissions import results
from treescore.core.scores import flat_values, member_at
from treescore.render.dot_table import groups_svg, share_svg

MOST_SLICES = 500
MOST_TOGETHER = 10
"""Parts that are summed unless that is asked for: the slices of each are made when they are first asked for."""
COLUMNS, SORT = "columns", "sort"
OWN = (COLUMNS, SORT)
"""Parameters of the page: whether all columns are shown; by which of HEADS rows are sorted, `-` from high to low."""
HEADS: Mapping[str, str] = {
    "gold": "Gold", "output": "Output", "f1": "F1", "precision": "Precision", "recall": "Recall",
    "difference": "F1 less its F1",
}  # fmt: skip
AGREED = (
    ("gold_correct", "system_correct"), ("gold_correct_both", "system_correct_both"), ("matched", "matched"),
    ("correct", "correct"),
)  # fmt: skip
"""Names of the counts that say how many of gold and of the output are right, the first that a metric has: of arcs head
and relation, in every grouping."""
ORDERED = ("distance", "sentence_length", "length", "depth")
"""Groupings whose groups stay in their own order."""
FILTERED = ("deprel", "udeprel", "label")
"""Groupings by what sentences can be filtered by; the second where a metric compares relations without subtypes."""
GROUPS: Mapping[str, str] = {
    "deprel": "relation", "udeprel": "relation without subtype", "upos": "UPOS", "xpos": "XPOS",
}  # fmt: skip
UNKNOWN_AT_ZERO = ("source_words", "target_words")
"""Counts that are 0 where gold does not state what is counted."""
_ONE = figures.ScoreFigures(share=True)


class Sums(NamedTuple):
    """Of a group how many gold and the output have, and how many of each agree."""

    gold: int
    output: int
    gold_agreed: int
    output_agreed: int

    @property
    def shares(self) -> tuple[float | None, float | None, float | None]:
        """F1, precision and recall; None where nothing is there to be counted, F1 too unless the other share is 0."""
        precision = self.output_agreed / self.output if self.output else None
        recall = self.gold_agreed / self.gold if self.gold else None
        if precision is None or recall is None:
            return 0.0 if 0.0 in (precision, recall) else None, precision, recall
        return (2 * precision * recall / (precision + recall) if precision + recall else 0.0), precision, recall


def sums_of(parts: Iterable[Sequence[Mapping[str, Any]]]) -> dict[object, Sums]:
    """Return the groups of several parts by their values; empty where a metric has other counts of them."""
    found: dict[object, Sums] = {}
    for rows in parts:
        for row in rows:
            counts = row.get("counts") or {}
            names = next((each for each in AGREED if all(isinstance(counts.get(name), int) for name in each)), None)
            if names is None or not {"gold", "system"} <= counts.keys():
                return {}
            own = (counts["gold"], counts["system"], *(counts[name] for name in names))
            before = found.get(row["value"], (0, 0, 0, 0))
            found[row["value"]] = Sums(*map(sum, zip(before, own, strict=True)))
    return found


def chart_of(
    own: Mapping[Any, float | None], other: Mapping[Any, float | None], score: str, title: str
) -> Markup | None:
    """Return shares over lengths or distances as a picture; None where fewer than two groups have one.

    Args:
        own: of each group, which begins with a number where it is one of lengths: a line with filled dots.
        other: those of another submission: a dashed line with hollow dots.
        score: what the shares are.
        title: of the picture.
    """
    begins = {group: int(found[0]) for group in own if (found := re.match("[0-9]+", str(group)))}
    groups = sorted((group for group in begins if own[group] is not None), key=begins.__getitem__)
    if len(groups) < 2:
        return None
    lines = [[None if (share := line.get(group)) is None else 100 * share for group in groups] for line in (own, other)]
    words = [f"{group} {_ONE.value(own[group])}" for group in groups]
    return drawn(groups_svg([str(group) for group in groups], lines, title, f"{score} by group: {', '.join(words)}."))


class SliceRow(NamedTuple):
    """A group as it is shown: its value, what each column holds, its bar, and part and address of its sentences."""

    value: str
    cells: Mapping[str, str]
    bar: Markup
    part: str
    link: str


def summed_table(
    own: Mapping[object, Sums], other: Mapping[object, Sums] | None, by: str, sort: str,
    links: Mapping[object, tuple[str, str]],
) -> dict[str, Any]:  # fmt: skip
    """Return heads and rows of the groups, and how many are left out.

    Args:
        own: the groups.
        other: those of another submission; None without one.
        by: the grouping.
        sort: by which column; empty for the groups' own order, else the most frequent first.
        links: parts and addresses of the sentences of groups that can be found by them.
    """
    heads = {name: head for name, head in HEADS.items() if other is not None or name != "difference"}
    figures_of: dict[object, dict[str, float | None]] = {}
    for value, sums in own.items():
        f1, precision, recall = sums.shares
        beside = None if other is None or value not in other else other[value].shares[0]
        figures_of[value] = {
            "gold": sums.gold, "output": sums.output, "f1": f1, "precision": precision, "recall": recall,
            "difference": None if f1 is None or beside is None else f1 - beside,
        }  # fmt: skip
    column = sort.removeprefix("-") or ("" if by in ORDERED else "gold")
    order = list(own)
    if column in heads:
        down = sort.startswith("-") or not sort
        known = [each for each in order if figures_of[each][column] is not None]
        known.sort(key=lambda each: figures_of[each][column] or 0.0, reverse=down)
        order = [*known, *(each for each in order if figures_of[each][column] is None)]
    rows = []
    for value in order[:MOST_SLICES]:
        row = figures_of[value]
        cells = {name: figures.whole(int(row[name] or 0)) for name in ("gold", "output")}
        cells |= {name: _ONE.value(row[name]) for name in ("f1", "precision", "recall")}
        cells["difference"] = _ONE.difference(row["difference"])
        words = "others" if value is None else str(value)
        rows.append(SliceRow(words, cells, drawn(share_svg(row["f1"] or 0.0)), *links.get(value, ("", ""))))
    return {"heads": heads, "rows": rows, "left": len(order) - len(rows), "sort": sort}


def group_words(by: str) -> str:
    """Return what a grouping groups by."""
    return GROUPS.get(by, by.replace("_", " "))


def counts_of(scores: contract.SubmissionScores, metric: str, part: str) -> list[tuple[str, str]]:
    """Return the counts of a part, or of all, under a metric, where they are shown."""
    whole: Mapping[str, Any] = scores["metrics"].get(metric) or {}
    of_part = (whole.get("parts") or {}).get(part) or (whole if not part or not whole.get("parts") else {})
    return [
        (figures.score_label(name), _count(name, value)) for name, value in flat_values(of_part.get("counts") or {})
    ]


def _count(name: str, value: Any) -> str:
    """Return a count as it is shown; a dash where it is not known."""
    known = value or name not in UNKNOWN_AT_ZERO
    return figures.whole(value if known else None) if isinstance(value, int | None) else str(value)


def slices_table(names: figures.ScoreNames, metric: str, slices: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    """Return heads and rows of the slices of a grouping, and how many are left out."""
    scores = list(dict.fromkeys(name for row in slices for name, _ in flat_values(row["scores"])))
    counts = list(dict.fromkeys(name for row in slices for name, _ in flat_values(row["counts"])))
    known = {name: names(f"{metric}.{name}") for name in scores}
    # those that only slices have are shares
    written = {name: each.figures if each.doc else figures.ScoreFigures(share=True) for name, each in known.items()}
    rows = [
        (
            str(row["value"]),
            [written[name].value(member_at(row["scores"], name)) for name in scores],
            [_count(name, member_at(row["counts"], name)) for name in counts],
        )
        for row in slices[:MOST_SLICES]
    ]
    return {
        "scores": [figures.score_label(name) for name in scores],
        "counts": [figures.score_label(name) for name in counts],
        "rows": rows,
        "left": max(0, len(slices) - MOST_SLICES),
    }


def _looks(submission: str, found: dict[str, Any]) -> dict[object, tuple[str, str]]:
    """Return part and address of the sentences of each group: of several parts, the first one that has it."""
    homes = {row["value"]: part for part in reversed(found) for row in found[part] if row["value"]}
    query = {value: urlencode({"part": part, "label": value}) for value, part in homes.items()}
    return {value: (homes[value], f"/s/{submission}/sentences?{words}") for value, words in query.items()}


def sliced(
    caller: Caller, document: contract.Submission, names: figures.ScoreNames, query: contract.SubmissionSlicesQuery,
    own: Mapping[str, str], other: Mapping[str, Any] | None,
) -> dict[str, object] | None:  # fmt: skip
    """Return counts and slices, of all parts together unless one is named; None where nothing is kept and asked for.

    Args:
        caller: who looks.
        document: of a submission with scores.
        names: of the scores.
        query: which slices.
        own: parameters of the page.
        other: the submission that is chosen beside it.

    Raises:
        NotFound: what was asked for is unknown.
        Gone: slices are not kept any more.
    """
    scores = document["scores"]
    if scores is None:
        return None
    states: Mapping[str, Mapping[str, Any]] = scores["parts"]
    parts = [name for name in document["outputs"] or () if states.get(name, {}).get("failure") is None]
    chosen = parts if query.part == POOLED or len(parts) <= MOST_TOGETHER else parts[:1]
    chosen = chosen if query.part in (None, POOLED) else [query.part]
    metric = query.metric or scores["main"]["score"].partition(".")[0]
    if metric not in scores["metrics"]:
        metric = next(iter(scores["metrics"]), metric) if query.metric is None else metric

    def look(by: str | None, part: str | None, submission: str = document["id"]) -> contract.SubmissionSlices:
        asked = contract.SubmissionSlicesQuery(part=part, metric=metric, by=by)
        return results.submission_slices(calls.context(), caller, submission, asked).document

    try:
        groupings = look(None, next(iter(chosen), None))["groupings"]
    except (NotFound, Gone, Conflict):
        if query != contract.SubmissionSlicesQuery():
            raise
        return None
    note, title = names.note_of(metric, "subtypes"), figures.METRIC_NAMES.get(metric, metric)
    shown: dict[str, object] = {
        "all": len(states), "title": title, "words": group_words,
        "part": chosen[0] if len(chosen) == 1 else None, "parts": parts, "metric": metric, "by": query.by,
        "metrics": list(scores["metrics"]), "groupings": groupings, "table": None, "summed": None, "chart": None,
        "counts": counts_of(scores, metric, chosen[0] if len(chosen) == 1 else ""), "together": len(parts) > 1,
        "slow": len(parts) > MOST_TOGETHER,
        "other": other, "default": None, "note": note if query.by == "deprel" else "",
        "query": {"part": query.part, "metric": query.metric, "by": query.by, "a": other and other["id"]},
    }  # fmt: skip
    if query.by is None:
        offered = [each for each in FILTERED[bool(note) :] if each in groupings and not request.args]
        return shown | {"default": next(iter(offered), None)}
    by, first = query.by, chosen[0]
    if own.get(COLUMNS) != "all":
        found = {part: look(by, part)["slices"] for part in chosen}
        sums = sums_of(found.values())
        beside = None
        if other is not None:
            try:
                beside = sums_of(look(by, part, other["id"])["slices"] for part in chosen)
            except (NotFound, Gone, Conflict, Forbidden):
                beside = {}
        if sums:
            links = _looks(document["id"], found) if by in FILTERED else {}
            mine, others = ({value: each.shares[0] for value, each in line.items()} for line in (sums, beside or {}))
            return shown | {
                "summed": summed_table(sums, beside, by, own.get(SORT, ""), links),
                "chart": chart_of(mine, others, "F1", f"F1 of {title} by {group_words(by)}") if by in ORDERED else None,
            }
    rows = look(by, first)["slices"]
    score = next((name for row in rows for name, _ in flat_values(row["scores"])), None)
    if by in ORDERED and score is not None:
        line, label = {row["value"]: member_at(row["scores"], score) for row in rows}, figures.score_label(score)
        shown["chart"] = chart_of(line, {}, label, f"{label} of {title} by {group_words(by)}")
    return shown | {"table": slices_table(names, metric, rows), "part": first, "together": False}
