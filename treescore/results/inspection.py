"""Single sentences and errors of a scored system: `Result.errors`, `sentence`, `slices` and `diff`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from treescore.core.params import Json
from treescore.core.registry import ERROR, OK, SKIP, STATUS_NAMES, Metric, Outcome
from treescore.core.scores import flat_values, value_at, with_values
from treescore.core.wording import PERCENT, counted, did_you_mean, figures_of, one_line
from treescore.errors import InputError, Problem
from treescore.evaluation.document import item_details, warning_lines, warnings_of_metric
from treescore.evaluation.evaluate import sentence_lengths
from treescore.evaluation.report import Report
from treescore.evaluation.spec import Entry
from treescore.render.forms import headline_scores
from treescore.results import views

SCORES = "scores."
AT_ONCE = 1000
"""Sentences whose items are made at once: a long text's are never all in memory."""
ERROR_MARK = "error"
"""Member of a row of `Metric.beside_gold` that is not empty where the output is wrong."""
NOTHING = "The output has nothing here that could be compared."
COMMON = 20
"""Values that an empty view names."""
OWN_NUMBERS = "Heads are numbers of each side's own words: one number may stand for two words."
FEW_SCORES = 6
"""Scores of a slice that are shown where none of them is one of the metric's headline."""
UNSCORED = (STATUS_NAMES[ERROR], STATUS_NAMES[SKIP])


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


@dataclass(frozen=True, slots=True)
class Scored:
    """One system under one metric.

    Attributes:
        report: of all systems.
        system: its place in the report.
        name: its name.
        entry: the metric.
    """

    report: Report
    system: int
    name: str
    entry: Entry

    @property
    def outcome(self) -> Outcome:
        """The outcome of the metric."""
        return self.report.outcomes[self.system][self.entry.key]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be known of the texts to read its errors."""
        own = [each for each in self.report.warnings if each.get("system", self.name) == self.name]
        return tuple(warning_lines(warnings_of_metric(own, self.entry.key)))

    def items(self, start: int, stop: int) -> list[dict[str, Json]]:
        """Return the items of sentences `start` to `stop`, without scores and counts."""
        return item_details(self.outcome, self.report.gold, start, stop)

    def errors(self, filters: views.Filters) -> views.View:
        """Return the errors of a system, a row for each. Raises InputError for unknown filters and wrong values."""
        rows = []
        chosen = _Choice(self, filters)
        for number in chosen.sentences:
            rows += chosen.errors_of(number)
        title = f"{counted(len(rows), 'error')} of {one_line(self.name)} under {self.entry.key}{chosen.words}"
        return _errors_view(title, rows, chosen, self.warnings)

    def by_sentence(self) -> views.View:
        """Return scores and counts of each sentence of gold, a row for each."""
        table, outcome, sent_ids = self.entry.metric.table, self.outcome, self.report.gold.sentences.sent_ids
        counts = table.shown(outcome.rows)
        columns: dict[str, Sequence[Json]] = {
            "sentence": range(1, len(counts) + 1),
            "sent_id": sent_ids if len(sent_ids) else [None] * len(counts),
            "status": [STATUS_NAMES[status] for status in outcome.status],
        }
        columns |= {
            f"{SCORES}{name}": list(map(_defined, found.tolist())) for name, found in table.values(counts).items()
        }
        columns |= {f"counts.{name}": counts[:, at].tolist() for at, name in enumerate(table.count_names)}
        rows = tuple(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        shares = frozenset(f"{SCORES}{score.name}" for score in table.scores if (score.low, score.high) == (0, 1))
        title = f"Sentences of {one_line(self.name)} under {self.entry.key}"
        return views.View(title, tuple(columns), rows, self.warnings, shares=shares)

    def diff(self, worse: Scored, filters: views.Filters) -> views.View:
        """Return the errors of one system in the sentences in which another one has none of that kind."""
        without, chosen = _Choice(self, filters), _Choice(worse, filters)
        rows: list[dict[str, Json]] = []
        sentences = 0
        for number in chosen.sentences:
            if self.outcome.status[number] != OK:
                continue
            found = chosen.errors_of(number)
            if found and not without.errors_of(number):
                rows += found
                sentences += 1
        title = (
            f"{counted(sentences, 'sentence')} that {one_line(self.name)} has right and {one_line(worse.name)} "
            f"wrong under {worse.entry.key}{chosen.words}, with the errors of {one_line(worse.name)}"
        )
        return _errors_view(title, rows, chosen, tuple(dict.fromkeys([*self.warnings, *worse.warnings])))

    def sentence(self, name: views.SentenceName) -> views.SentenceView:
        """Return gold and output of one sentence side by side, its errors marked, its scores below, and a picture.

        Args:
            name: number from 1, or the sentence's own name.

        Raises:
            InputError: `unknown-sentence`.
        """
        number = _sentence_number(self, name)
        [item] = self.items(number, number + 1)
        entry, outcome = self.entry, self.outcome
        gold = self.report.evaluation.gold_of(entry)
        rows = tuple(entry.metric.beside_gold(item, gold))
        [valued] = with_values(entry.metric.table, outcome.rows[number : number + 1], [item])
        named = f" ({one_line(item['sent_id'])})" if item.get("sent_id") else ""
        title = f"Sentence {number + 1}{named}, {one_line(self.name)} beside gold under {entry.key}"
        notes = [_scores_line(self, valued), *_own_numbers(rows)]
        if "problem" in item:
            notes.append(f"{item['status']}: {item['problem']['detail']}")
        notes += [f"{side}: {item[f'{side}_tree']}" for side in ("gold", "system") if f"{side}_tree" in item]
        columns = [name for name in _columns(rows) if name != ERROR_MARK]
        from treescore.render.sentence_shapes import drawing_of  # noqa: PLC0415 - other views are not drawn

        drawing = drawing_of(entry.metric, gold, item, rows, title)
        return views.SentenceView(
            title, (*columns, ERROR_MARK), rows, self.warnings, tuple(notes),
            drawing=drawing, name=f"sentence-{self.system + 1}-{number + 1}",
        )  # fmt: skip

    def groupings(self) -> list[str]:
        """Return the names of the groupings of `slices`."""
        return sorted(self.outcome.slices())

    def slices(self, by: str) -> views.View:
        """Return scores by groups of sentences, words or brackets.

        Raises:
            InputError: `unknown-grouping`, with the known ones.
        """
        found = self.outcome.slices()
        if by not in found:
            choice = f"Choose one of: {', '.join(sorted(found))}.{did_you_mean(by, found)}" if found else "It has none."
            detail = f"Unknown grouping {by!r} of {self.entry.name}. {choice}"
            raise InputError(Problem("unknown-grouping", detail, pointer="/by"))
        flat = [dict(flat_values(row)) for row in found[by]]
        columns = _columns(flat)
        plain = {score.name for score in self.entry.metric.table.scores if not score.is_share}
        scores = [name for name in columns if name.startswith(SCORES)]
        shares = frozenset(name for name in scores if name.removeprefix(SCORES) not in plain)
        headline = _with_parts(name for name in self.entry.metric.own_headline if SCORES + name in columns)
        headline = [SCORES + name for name in headline if SCORES + name in columns]
        counts = [name for name in columns if name in ("sentences", "counts.gold", "counts.system", "counts.words")]
        shown = ("value", *(counts or [name for name in columns if name.startswith("counts.")][:1]))
        title = f"{one_line(self.name)} by {by} under {self.entry.key}"
        heads = {SCORES + name: head for name, head in self.entry.metric.own_headline.items()}
        for side in ("precision", "recall"):
            heads |= {name.removesuffix("f1") + side: f"{head} {side[0].upper()}" for name, head in heads.items()
                      if name.endswith("_f1")}  # fmt: skip
        return views.View(
            title, columns, tuple(flat), self.warnings, (), shares, (*shown, *(headline or scores[:FEW_SCORES])), heads
        )


def _with_parts(names: Iterable[str]) -> list[str]:
    """Return names of scores, those of plain `f1`, and those of precision and recall beside each F1."""
    shown = [*names, "f1"]
    families = [name.removesuffix("f1") for name in shown if name.endswith("f1")]
    parts = [f"{family}{part}" for family in families for part in ("precision", "recall")]
    return list(dict.fromkeys([*shown, *parts]))


def _errors_view(
    title: str, rows: Sequence[Mapping[str, Json]], chosen: _Choice, warnings: tuple[str, ...]
) -> views.View:
    """Return errors as a table that shows of the output's place and form only what differs from gold's."""
    columns = _columns(rows)
    hidden = {"system_sentence", "system_word"}
    if all(row.get("system_form") in (None, row.get("form")) for row in rows):
        hidden.add("system_form")
    notes = _own_numbers(rows) if rows else tuple(chosen.why_empty())
    shown = tuple(name for name in columns if name not in hidden)
    return views.View(title, columns, tuple(rows), warnings, notes, shown=shown).first(chosen.limit)


def _own_numbers(rows: Iterable[Mapping[str, Json]]) -> tuple[str, ...]:
    """Return what must be known to read heads where both sides have other words."""
    for row in rows:
        same_number = row.get("gold_head") is not None and row["gold_head"] == row.get("system_head")
        if (same_number and "head" in (row.get("kind"), row.get(ERROR_MARK))) or (
            row.get("system_word") not in (None, row.get("word"))
        ):
            return (OWN_NUMBERS,)
    return ()


def _scores_line(scored: Scored, item: Mapping[str, Json]) -> str:
    system = {"metrics": {scored.entry.key: item}}
    parts = []
    for head, score in headline_scores(scored.entry, [system]).items():
        value = value_at(item["scores"], score.name)
        parts.append(f"{head} {figures_of(PERCENT, share=score.is_share).value(value)}")
    return "Scores of the sentence: " + ", ".join(parts)


def _columns(rows: Iterable[Mapping[str, Json]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in rows for name in row))


def _sentence_number(scored: Scored, name: Json) -> int:
    """Return the number of a sentence from 0."""
    total = len(scored.outcome.rows)
    if isinstance(name, str):
        sent_ids = scored.report.gold.sentences.sent_ids
        if name in sent_ids:
            return list(sent_ids).index(name)
        if name.isascii() and name.isdigit():
            name = int(name)
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 1 <= name <= total:
        return int(name) - 1
    detail = f"Unknown sentence {name!r}. Give a number from 1 to {total}, or a sent_id of gold."
    raise InputError(Problem("unknown-sentence", detail, pointer="/sentence"))


class _Choice:
    """The sentences and errors of a system that filters leave."""

    def __init__(self, scored: Scored, filters: views.Filters) -> None:
        self._scored = scored
        self._gold = scored.report.evaluation.gold_of(scored.entry)
        self._known = scored.entry.metric.error_filters
        self._asked = {
            name: views.values_of(name, value)
            for name, value in filters.items()
            if name not in views.OF_EVERY_METRIC and value is not None
        }
        self._check(filters)
        self.limit = views.limit_of(filters.get("limit"))
        self.sentences = self._sentences(filters)
        asked = {name: value for name, value in filters.items() if value is not None and name != "limit"}
        self.words = "".join(f", {name} {_asked_words(value)}" for name, value in asked.items())
        self._items: tuple[int, list[dict[str, Json]]] = (-1, [])

    def errors_of(self, number: int) -> list[dict[str, Json]]:
        """Return the errors of the sentence of this number from 0."""
        return [row for row in self._all_errors_of(number) if self._fits(row)]

    def why_empty(self) -> Iterator[str]:
        """Yield for each filter which values errors have, where none has the asked ones."""
        if type(self._scored.entry.metric).errors_of is Metric.errors_of:
            yield f"The metric {self._scored.entry.name} lists no errors."
        for name, asked in self._asked.items():
            found: Counter[str] = Counter()
            for number in self.sentences:
                for row in self._all_errors_of(number):
                    found.update(list(dict.fromkeys(self._values_of(name, row))))
            if not any(views.MATCHES[name](value, each) for value in found for each in asked):
                common = ", ".join(f"{one_line(value)} ({count})" for value, count in found.most_common(COMMON))
                yield f"No error has {name} {_asked_words(asked)}. Errors have: {common or 'none'}."

    def _fits(self, row: Mapping[str, Json]) -> bool:
        return all(
            any(views.MATCHES[name](value, each) for value in self._values_of(name, row) for each in asked)
            for name, asked in self._asked.items()
        )

    def _values_of(self, name: str, row: Mapping[str, Json]) -> Iterable[str]:
        """Return what a filter looks at in a row; a sentence that was not scored has nothing of it."""
        return () if row["kind"] in UNSCORED else self._known[name](row)

    def _all_errors_of(self, number: int) -> list[dict[str, Json]]:
        item = self._item(number)
        head: dict[str, Json] = {name: item[name] for name in ("item", "sent_id") if name in item}
        rows = [{**head, **row} for row in self._scored.entry.metric.errors_of(item, self._gold)]
        if rows or item["status"] not in UNSCORED:
            return rows
        return [{**head, "kind": item["status"], "detail": item.get("problem", {}).get("detail", NOTHING)}]

    def _item(self, number: int) -> dict[str, Json]:
        start, items = self._items
        if not 0 <= number - start < len(items) or start < 0:
            stop = min(number + AT_ONCE, len(self._scored.outcome.rows))
            near = number + 1 if len(self.sentences) < AT_ONCE else stop
            start, items = number, self._scored.items(number, near)
            self._items = start, items
        return items[number - start]

    def _check(self, filters: views.Filters) -> None:
        known = sorted({*self._known, *views.OF_EVERY_METRIC})
        for name in filters:
            if name not in known:
                detail = (
                    f"Unknown filter {name!r} of {self._scored.entry.name}. Filters: {', '.join(known)}."
                    f"{did_you_mean(name, known)}"
                )
                raise InputError(Problem("unknown-parameter", detail, pointer=f"/{name}"))

    def _sentences(self, filters: views.Filters) -> Sequence[int]:
        numbers: Sequence[int] = range(len(self._scored.outcome.rows))
        asked = filters.get("sentence")
        if asked is not None:
            names = asked if isinstance(asked, (list, tuple, set, frozenset, range)) else [asked]
            numbers = sorted({_sentence_number(self._scored, name) for name in names})
        length = filters.get("length")
        if length is None:
            return numbers
        low, high = views.bounds_of(length)
        lengths = sentence_lengths(self._gold, self._scored.report.evaluation.items)
        if lengths is None:
            detail = 'The lengths of the sentences are unknown. Give them as items: {"lengths": [[7, 8], ...]}.'
            raise InputError(Problem("alignment-lengths-needed", detail, pointer="/length"))
        return [number for number in numbers if low <= lengths[number] <= high]


def _asked_words(value: Json) -> str:
    values = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
    return ", ".join(one_line(str(each)) for each in values)
