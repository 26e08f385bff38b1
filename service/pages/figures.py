"""Name scores for people, and write their figures as the pictures do; words of the pages for values of the API.

Scores are printed as the field prints them, differences with their sign. Of a benchmark its state is said.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from service.api import calls
from service.caller import Caller
from service.contract.benchmarks import Benchmark
from service.lru import LruCache
from service.pages.visitors import visitor
from service.usecases.benchmarks import benchmarks
from service.usecases.runs import Shown
from service.usecases.scoring.config import stored_spec
from treescore.core import params, scores, wording
from treescore.errors import InputError
from treescore.evaluation import report, spec
from treescore.render.drawing import MISSING, interval_words, signed_words, stepped, value_words
from treescore.render.forms import extra_notes

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class ScoreFigures:
    """Writes the figures of one score.

    Attributes:
        share: whether its range is 0 to 1, so that it is shown in percent.
        step: to which scores are rounded; None where they are not.
        rounded: whether bounds of intervals have fewer digits, as below the level that shows exact figures.
    """

    share: bool
    step: float | None = None
    rounded: bool = False

    @property
    def figures(self) -> wording.Figures:
        """How they are written."""
        return replace(stepped(wording.figures_of(wording.PERCENT, share=self.share), self.step), rounded=self.rounded)

    @property
    def factor(self) -> float:
        """By what figures are multiplied."""
        return self.figures.factor

    def value(self, value: float | None) -> str:
        """Return a score; a dash where there is none."""
        return value_words(value, self.figures)

    def difference(self, value: float | None) -> str:
        """Return a difference with its sign; a dash where there is none."""
        return MISSING if value is None else signed_words(value, self.figures)

    def interval(self, low: float | None, high: float | None) -> str:
        """Return the bounds of a score's interval, with no digit that the level does not show; nothing without one."""
        return interval_words(low, high, self.figures)

    def span(self, low: float | None, high: float | None) -> str:
        """Return the bounds of a difference's interval; nothing where there is none."""
        return interval_words(low, high, self.figures, signed=True)


def p_value(p: float | None) -> str:
    """Return a p-value; a dash where there is none."""
    return wording.p_words(p) or MISSING


def whole(number: int | None) -> str:
    """Return a whole number in groups of three; a dash where there is none."""
    return MISSING if number is None else f"{number:,}".replace(",", "\u2009")


def time(moment: str | None) -> Markup:
    """Return a moment (RFC 3339, UTC) as an element for people and programs; a dash where there is none."""
    if moment is None:
        return escape(MISSING)
    at = datetime.fromisoformat(moment)
    shown = f"{at.day} {_MONTHS[at.month - 1]} {at.year} {at:%H:%M} UTC"
    return Markup('<time datetime="{}">{}</time>').format(moment, shown)


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
EARTH = timedelta(hours=-12)
"""Offset from UTC of the zone in which a day ends last: anywhere on earth."""


def ends_day_on_earth(at: datetime) -> bool:
    """Return whether a time is in the last minute of a day anywhere on earth, as deadlines are."""
    return (at.hour, at.minute) == (11, 59)


def deadline(moment: str | None) -> Markup:
    """Return a moment as `time`, with the day of the week; the end of a day anywhere on earth is called so."""
    if moment is None:
        return escape(MISSING)
    at = datetime.fromisoformat(moment).astimezone(UTC)
    day = at + EARTH if ends_day_on_earth(at) else at
    words = f"{_DAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]} {day.year}, {day:%H:%M}"
    words += f" anywhere on earth ({at:%H:%M} UTC the day after)" if day != at else " UTC"
    return Markup('<time datetime="{}">{}</time>').format(moment, words)


_CAPITALS = frozenset(
    ("las", "uas", "clas", "mlas", "blex", "elas", "eulas", "ulas", "la", "upos", "xpos", "ufeats", "aer", "f1", "f")
)
METRIC_NAMES: Mapping[str, str] = {
    "parseval": "PARSEVAL", "leaf_ancestor": "leaf-ancestor", "ud": "UD", "dependency_relations": "relations",
    "parallel_treebank": "parallel treebank", "mwe": "MWE", "semantic_dependencies": "semantic dependencies",
}  # fmt: skip
_KINDS: Mapping[str, str] = {
    "parseval": "Constituents", "leaf_ancestor": "Constituents", "conformance": "Constituents",
    "attachment": "Dependencies", "ud": "Dependencies from raw text", "enhanced": "Enhanced dependencies",
    "dependency_relations": "Dependency relations", "alignment": "Word alignment",
    "parallel_treebank": "Parallel treebank", "mwe": "Multiword expressions",
    "semantic_dependencies": "Semantic dependencies",
}  # fmt: skip
MOST_COLUMNS = 6


class NamedScore(NamedTuple):
    """A score as pages show it.

    Attributes:
        address: such as `ud.las_f1`.
        label: such as `LAS F1`.
        head: of a column: as the metric's own tables call it, else the label without `F1`.
        doc: what the score is, in a sentence; empty where this version does not know it.
        figures: writes its figures.
        lower_is_better: whether it is an error rate.
    """

    address: str
    label: str
    head: str
    doc: str
    figures: ScoreFigures
    lower_is_better: bool


class ScoreNames:
    """The scores of a benchmark or of a job.

    Args:
        scoring: a document with `format`, `transforms` and `metrics`.
        step: to which the caller's scores are rounded.
        rounded: whether the caller's bounds of intervals are.
    """

    def __init__(self, scoring: Mapping[str, params.Json], step: float | None = None, *, rounded: bool = False) -> None:
        self._spec = stored_spec(scoring)
        self._step, self._rounded = step, rounded

    def __call__(self, address: str) -> NamedScore:
        """Return a score by its address."""
        key, _, name = address.partition(".")
        entry, score = self._score(address)
        label = score_label(name or key)
        head = self._headline(entry).get(name) or label.replace(" F1", "")
        if len(self._spec.entries) > 1:
            label = f"{label} ({METRIC_NAMES.get(key, key)})"
        share = score is not None and score.is_share
        doc = "" if score is None else score.doc
        lower = score is not None and not score.higher_is_better
        return NamedScore(address, label, head, doc, ScoreFigures(share, self._step, self._rounded), lower)

    def columns(self, ranking: str, listed: Sequence[str]) -> list[NamedScore]:
        """Return the scores beside the ranking one, at most MOST_COLUMNS.

        First those of its metric, in the order of the metric's own tables; scores that these lack come last.
        """
        metric = ranking.partition(".")[0]

        def order(address: str) -> tuple[bool, int]:
            key, _, name = address.partition(".")
            tables = list(self._headline(self._score(address)[0]))
            return key != metric, tables.index(name) if name in tables else len(tables)

        others = sorted((address for address in listed if address != ranking), key=order)
        return [self(address) for address in others[:MOST_COLUMNS]]

    def shown(self, main: str, listed: Iterable[str], *, every: bool) -> tuple[list[NamedScore], int]:
        """Return the scores to show, the main one first, and how many are left out unless `every` one is shown."""
        others = [address for address in dict.fromkeys(listed) if address != main]
        shown = [self(address) for address in others] if every else self.columns(main, others)
        return [self(main), *shown], len(others) - len(shown)

    def notes(self, systems: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return what stands under the table of these systems of a job."""
        found = [system["metrics"] for system in systems]
        return [
            note for entry in self._spec.entries for note in extra_notes(entry, [each[entry.key] for each in found])
        ]

    def note_of(self, metric: str, member: str) -> str:
        """Return what a metric says of a member of its `extra`; nothing where it lacks it."""
        return next((each.metric.extra_notes.get(member, "") for each in self._spec.entries if each.key == metric), "")

    @staticmethod
    def _headline(entry: spec.Entry | None) -> Mapping[str, str]:
        """Return the scores that a metric's own tables show, and what they call them."""
        if entry is None:
            return {}
        return {**entry.metric.own_headline, **entry.metric.headline_below_best}

    def _score(self, address: str) -> tuple[spec.Entry, scores.Score] | tuple[None, None]:
        try:
            return report.find_score(self._spec, address)
        except InputError:  # of a revision with other metrics
            return None, None


def score_label(name: str) -> str:
    """Return the name of a score for people: `labelled_f1` as `Labelled F1`."""
    words = [word.upper() if word in _CAPITALS else word for word in name.replace(".", "_").split("_") if word]
    label = " ".join(words)
    return label[:1].upper() + label[1:]


def kind_of(metrics: Sequence[params.Json]) -> str:
    """Return what a benchmark scores, by the first of its metrics."""
    first = metrics[0]
    name = first if isinstance(first, str) else first["name"]
    return _KINDS.get(name, name)


MOST_OLD = 15
"""Seconds for which times and notice of a benchmark are kept: 300 viewers ask for its state 20 times a second."""
_KNOWN = LruCache[Benchmark](64, lambda _: 1)


def benchmark_document(caller: Caller, slug: str) -> Benchmark:
    """Return a benchmark as the caller sees it.

    Raises:
        NotFound: it does not exist, or the caller may not know of it.
    """
    return benchmarks.view_benchmark(calls.context(), caller, slug).document


def heading_now(benchmark: str, view: Shown[Any]) -> tuple[object, ...]:
    """Return what the pages of a board show that its validators do not count; the state first.

    It is that of the benchmark as it was at most MOST_OLD seconds ago.

    Args:
        benchmark: its id.
        view: of the board, as the visitor may see it.
    """
    caller, now = visitor().caller, calls.context().now()
    name = f"{benchmark} {view.etag} {int(now.timestamp()) // MOST_OLD}"
    document = _KNOWN.get_or_make(name, lambda: benchmark_document(caller, benchmark))
    shown = (document[name] for name in ("closes_at", "about", "notice", "tracks", "leaderboard"))
    return state_of(document, now), frozen_since(document, now), *shown


def frozen_since(document: Benchmark, now: datetime) -> str | None:
    """Return from when on teams and visitors see the board as it was; None where it still changes."""
    at = document["leaderboard"]["frozen_at"]
    return at if at is not None and datetime.fromisoformat(at) <= now else None


def state_of(document: Benchmark, now: datetime) -> str:
    """Return whether a benchmark is open, and until when, in words."""
    if document["active_revision"] is None:
        return (
            "not open: its gold cannot be used"
            if document["state"] == "failed"
            else "not open yet: its gold is being checked"
        )
    times = document["opens_at"], document["closes_at"]
    opens, closes = (None if each is None else datetime.fromisoformat(each) for each in times)
    if opens is not None and now < opens:
        return f"opens in {_time_between(now, opens)}"
    if closes is None:
        return "open"
    return "closed" if now >= closes else f"open, {_time_between(now, closes)} left"


def is_open(state: str) -> bool:
    """Return whether teams may submit, choose and withdraw in a state of `state_of`."""
    return state.partition(",")[0] == "open"


def _time_between(now: datetime, then: datetime) -> str:
    """Return days, or hours, or minutes, rounded down, at least one minute; no number of more than a year."""
    seconds = (then - now).total_seconds()
    if seconds > 366 * 86_400:
        return "more than a year"
    for unit, length in (("day", 86_400), ("hour", 3_600)):
        if seconds >= length:
            return wording.counted(int(seconds // length), unit)
    return wording.counted(max(1, int(seconds // 60)), "minute")
