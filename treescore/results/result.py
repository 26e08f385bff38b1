"""Results of the library: scores by system and address, comparisons, pictures, and what they show of themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Literal, Unpack

from treescore.core.params import Json
from treescore.core.registry import METRICS
from treescore.core.scores import value_at
from treescore.core.wording import PERCENT, Unit, did_you_mean
from treescore.errors import InputError, MissingExtra, Problem, missing_extra
from treescore.evaluation.document import warning_lines
from treescore.evaluation.report import Report, System, find_score, percent_scores
from treescore.evaluation.spec import Entry, Spec
from treescore.results import views

if TYPE_CHECKING:
    from treescore.render.table import Table
    from treescore.results.inspection import Scored


@dataclass(frozen=True, eq=False, repr=False)
class SystemScores(Mapping[str, float]):
    """The scores of one system, by address or as attributes.

        scores = result["A"]
        scores["ud.las_f1"]     # by address; scores["ud"] is the metric's main score
        scores.las_f1           # where only one metric of the result has a score of this name
        scores.by_sentence()    # a row for each sentence

    A score that is undefined is nan; `defined` tells.

    Attributes:
        name: of the system.
        metrics: metric key -> its document (`scores`, `counts`, `undefined`, `signature`, ...).
        result: the scores of all systems.
    """

    name: str
    metrics: Mapping[str, Mapping[str, Json]]
    result: Result = field(repr=False)

    @property
    def spec(self) -> Spec:
        """Formats and metrics."""
        return self.result.report.spec

    def defined(self, address: str) -> bool:
        """Return whether a score is defined. Raises KeyError for an unknown address."""
        return not math.isnan(self[address])

    def by_sentence(self, metric: str | None = None) -> views.View:
        """Return the scores and counts of each sentence of gold.

        Args:
            metric: key of the metric; the first one unless given.

        Returns:
            A row for each sentence: `sentence` (from 1), `sent_id`, `status`, `scores.NAME`, `counts.NAME`; a score
            that is undefined is None.

        Raises:
            InputError: an unknown metric.
        """
        return self.result._scored(self.name, metric).by_sentence()  # noqa: SLF001 - of this module

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    @property
    def signature(self) -> dict[str, Mapping[str, Json]]:
        """Everything that the scores depend on, by metric key, with the command that repeats them."""
        return {key: document["signature"] for key, document in self.metrics.items()}

    def __getitem__(self, address: str) -> float:
        """Return a score; nan where it is undefined.

        Raises:
            KeyError: an unknown address.
        """
        of_name = [each for each in self if each.partition(".")[2] == address]
        try:
            entry, score = find_score(self.spec, of_name[0] if len(of_name) == 1 else address)
        except InputError as error:
            raise KeyError(str(error)) from error
        value = value_at(self.metrics[entry.key]["scores"], score.name)
        return math.nan if value is None else value

    def __getattr__(self, name: str) -> float:
        """Return the score of this name; a dot in it is an underscore (`cutoff_labelled_f1`).

        Raises:
            AttributeError: no metric has it, or several have.
        """
        if name.startswith("_") or name in ("name", "metrics", "result", "spec"):
            raise AttributeError(name)
        found = [address for address in self if _attribute(address) == name]
        if len(found) == 1:
            return self[found[0]]
        if found:
            raise AttributeError(f"Several metrics have a score {name!r}. Use scores[{found[0]!r}].")
        known = [_attribute(address) for address in self]
        longer = next((f" Did you mean {each!r}?" for each in known if each.endswith(f"_{name}")), "")
        raise AttributeError(f"Unknown score {name!r}.{longer or did_you_mean(name, known)}")

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *filter(str.isidentifier, map(_attribute, self))})

    def __iter__(self) -> Iterator[str]:
        for entry in self.spec.entries:
            for score in entry.metric.table.scores:
                yield f"{entry.key}.{score.name}"

    def __len__(self) -> int:
        return sum(len(entry.metric.table.scores) for entry in self.spec.entries)

    def __repr__(self) -> str:
        from treescore.render.forms import headline_scores  # noqa: PLC0415 - scores alone are not drawn

        shown = []
        for entry in self.spec.entries:
            for score in headline_scores(entry, [{"metrics": self.metrics}]).values():
                value = value_at(self.metrics[entry.key]["scores"], score.name)
                shown.append(f"{entry.key}.{score.name}={'None' if value is None else f'{value:.4f}'}")
        return f"SystemScores({', '.join([repr(self.name), *shown])})"


def _attribute(address: str) -> str:
    """Return the name of a score as an attribute has it."""
    return address.partition(".")[2].replace(".", "_")


PICTURE_SUFFIXES = (".svg", ".png", ".pdf")
_PIXELS = 2
"""Of a PNG to a pixel of the SVG."""
PAIRS, DOTS, INTERVALS, POWER, AGAINST = "pairs", "dots", "intervals", "power", "against"
PICTURE_KINDS = (PAIRS, DOTS, INTERVALS, POWER, AGAINST)
"""A heat map of pairs, pairs as dots, scores with intervals, detectable differences, one system against all others."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture of a comparison: a notebook shows it, `save` writes it.

    Attributes:
        svg: the picture.
    """

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the picture to a file.

        Args:
            path: ends in `.svg`; or, with the extra `pictures` installed, in `.png` or `.pdf`.

        Raises:
            InputError: another suffix.
            MissingExtra: the extra is not installed.
            OSError: the file cannot be written.
        """
        convert = converter(path)
        Path(path).write_bytes(convert(self.svg.encode()))


def converter(path: str | Path) -> Callable[[bytes], bytes]:
    """Return what makes of an SVG what a file of this name holds.

    Raises:
        InputError: another suffix than those of pictures.
        MissingExtra: what makes PNG and PDF is not installed.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in PICTURE_SUFFIXES:
        detail = f"No picture can be written to {str(path)!r}. Name a file that ends in {', '.join(PICTURE_SUFFIXES)}."
        raise InputError(Problem("bad-parameter", detail, pointer="/path"))
    if suffix == PICTURE_SUFFIXES[0]:
        return bytes
    try:
        import cairosvg  # noqa: PLC0415 - optional
    except (ImportError, OSError) as error:  # the second where the system has no Cairo
        raise MissingExtra(missing_extra("A picture as PNG or PDF", "pictures")) from error
    if suffix == ".pdf":
        return cairosvg.svg2pdf  # type: ignore[no-any-return]
    return partial(cairosvg.svg2png, scale=_PIXELS, background_color="white")


def drawn(
    documents: Sequence[Mapping[str, Json]], kind: str, shares: frozenset[str], system: str | None = None
) -> Picture:
    """Draw comparisons.

    Args:
        documents: of the comparisons; every kind but `pairs` takes one.
        kind: one of KINDS.
        shares: the scores that are shown in percent.
        system: for `against` the one that is compared, for `dots` the one whose pairs are darker.

    Raises:
        InputError: an unknown kind or system, a kind of picture without a system, or of several comparisons.
    """
    if kind not in PICTURE_KINDS:
        words = f"Unknown kind of picture {kind!r}.{did_you_mean(kind, PICTURE_KINDS)}"
        raise _refused(words, PICTURE_KINDS, "/kind")
    from treescore.render import comparison_pictures as pictures  # noqa: PLC0415 - scores alone are not drawn

    if kind == PAIRS:
        return Picture(pictures.picture(documents, shares).decode())
    if len(documents) != 1:
        scores = [str(document["score"]) for document in documents]
        words = f"A picture of kind {kind!r} shows one score: compare with `scores` naming one."
        raise _refused(words, scores, "/kind")
    names = [each["name"] for each in documents[0]["systems"]]
    if system not in names and (system is not None or kind == AGAINST):
        given = "Name the system." if system is None else f"Unknown system {system!r}.{did_you_mean(system, names)}"
        raise _refused(given, names, "/system")
    if kind == AGAINST and system is not None:
        return Picture(pictures.against_svg(documents[0], system, shares))
    if kind == DOTS:
        return Picture(pictures.pairs_svg(documents[0], system, shares))
    draw = pictures.intervals_svg if kind == INTERVALS else pictures.power_svg
    return Picture(draw(documents[0], shares))


def _refused(words: str, known: Sequence[str], pointer: str) -> InputError:
    return InputError(Problem("bad-parameter", f"{words} Choose one of: {', '.join(known)}.", pointer=pointer))


_TIDY = ("system", "metric", "score", "value")


@dataclass(frozen=True, eq=False, repr=False)
class Result(Mapping[str, SystemScores], views.Renderable):
    """Scores of systems: `result["A"]["ud.las_f1"]`; printed, a table for each metric.

        result = score("gold.conllu", {"A": "a.conllu", "B": "b.conllu"}, metric="ud")
        result["A"].las_f1
        result.errors("A", deprel="obl")
        print(result.sentence("A", 12).to_markdown())
        result.to_frame()

    Attributes:
        report: outcomes by sentence, for further comparisons and for programs.
        systems: what was scored, without the texts.
        gold_digest: name of the gold text in signatures.
    """

    report: Report
    systems: tuple[System, ...]
    gold_digest: str

    def __reduce__(self) -> tuple[Callable[..., Result], tuple[Any, ...]]:
        """Pickle the treebanks and the documents; `_restored` makes the outcomes by sentence of them."""
        return _restored, (self.report._replace(outcomes=()), self.systems, self.gold_digest)

    def __repr__(self) -> str:
        return f"Result({', '.join(map(repr, self))})"

    @property
    def document(self) -> Mapping[str, Json]:
        """The `results` of a job: JSON with `systems` and `comparisons`."""
        return self.report.document

    @property
    def warnings(self) -> Sequence[Mapping[str, Json]]:
        """What is unusual in the texts or parameters, each with its place: `code`, `detail`, `system`, ..."""
        return self.report.warnings

    @property
    def comparisons(self) -> Sequence[Mapping[str, Json]]:
        """One document for each compared score; empty where nothing was compared."""
        compared: Sequence[Mapping[str, Json]] = self.report.document["comparisons"]
        return compared

    @property
    def across(self) -> Mapping[str, Json] | None:
        """The comparisons of several scores as one family; None where fewer than two scores were compared."""
        return self.report.document.get("across")

    @property
    def comparison(self) -> Comparison | None:
        """What was compared, as `compare` gives it; None where nothing was compared."""
        return Comparison(self) if self.comparisons else None

    @property
    def signature(self) -> dict[str, dict[str, Mapping[str, Json]]]:
        """The signatures by system and metric key."""
        return {name: scores.signature for name, scores in self.items()}

    def __getitem__(self, name: str) -> SystemScores:
        """Return the scores of one system.

        Raises:
            KeyError: an unknown name.
        """
        for document in self.document["systems"]:
            if document["name"] == name:
                return SystemScores(name, document["metrics"], self)
        raise KeyError(f"Unknown system {name!r}. Systems: {', '.join(self)}.")

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __iter__(self) -> Iterator[str]:
        return (system.name for system in self.systems)

    def __len__(self) -> int:
        return len(self.systems)

    def errors(self, system: str, metric: str | None = None, **filters: Unpack[views.Filters]) -> views.View:
        """Return what a system has wrong, a row for each error: what costs the metric's main score.

            result.errors("A", deprel="obl", length="10-20")
            result.errors("A", label=["NP", "PP"]).to_frame()

        Args:
            system: its name.
            metric: key of the metric; the first one unless given.
            filters: `deprel`, `upos`, `label`, `length`, `sentence`, `limit`, as `Filters` describes them.

        Raises:
            InputError: an unknown system, metric or filter, or a filter's value has another form.
        """
        return self._scored(system, metric).errors(filters)

    def sentence(self, system: str, sentence: views.SentenceName, metric: str | None = None) -> views.SentenceView:
        """Return gold and output of one sentence side by side, errors marked, with its scores and a picture.

            result.sentence("A", 8).svg()

        Args:
            system: its name.
            sentence: number from 1, or the sentence's own name (`sent_id`).
            metric: key of the metric; the first one unless given.

        Raises:
            InputError: one of them is unknown.
        """
        return self._scored(system, metric).sentence(sentence)

    def groupings(self, system: str, metric: str | None = None) -> list[str]:
        """Return the names of the groupings of `slices`. Raises InputError as `slices`."""
        return self._scored(system, metric).groupings()

    def slices(self, system: str, by: str, metric: str | None = None) -> views.View:
        """Return scores by groups of sentences, words or brackets.

            result.slices("A", "deprel")

        Args:
            system: its name.
            by: one of `groupings`.
            metric: key of the metric; the first one unless given.

        Raises:
            InputError: one of them is unknown.
        """
        return self._scored(system, metric).slices(by)

    def diff(self, a: str, b: str, metric: str | None = None, **filters: Unpack[views.Filters]) -> views.View:
        """Return the errors of b in the sentences that a has right and b wrong.

        A sentence is right where it has none of the errors that the filters leave: with `deprel="obl"` those in which
        a has every `obl` right and b has not. A sentence of a that could not be scored is not right.

        Args:
            a: name of the system that is right.
            b: name of the system that is wrong.
            metric: key of the metric; the first one unless given.
            filters: as in `errors`.

        Raises:
            InputError: as `errors`.
        """
        return self._scored(a, metric).diff(self._scored(b, metric), filters)

    def tables(
        self, unit: Unit = PERCENT, *, scores: Sequence[str] = (), decimals: int | None = None
    ) -> Sequence[Table]:
        """Return a table for each metric.

            result.to_latex(scores=["UPOS", "LAS"], decimals=1)

        Args:
            unit: as in `render`.
            scores: that are shown, by head (`LAS`), name (`las_f1`, `upos`) or address (`ud.las_f1`); those that the
                field reports unless given.
            decimals: of scores; those of the unit unless given.

        Raises:
            InputError: an unknown score.
        """
        from treescore.render.forms import score_tables  # noqa: PLC0415 - as above

        systems = self.document["systems"]
        return score_tables(self.report.spec, systems, self.warnings, unit, scores=scores, decimals=decimals)

    def render(self, form: str, unit: Unit = PERCENT, *, width: int = 0, **shown: Any) -> str:
        """Return one of `forms`; CSV and JSON take `scores` as tables do, and always have all digits."""
        if form not in ("csv", "json"):
            return super().render(form, unit, width=width, **shown)
        views.check_form(form, self.forms, unit)
        scores = shown.get("scores") or ()
        return self.to_csv(scores) if form == "csv" else self.to_json(scores)

    def to_csv(self, scores: Sequence[str] = ()) -> str:
        """Return CSV with all digits: a row for each system and score, and the warnings in a last column.

        Args:
            scores: that are shown, named as in `tables`; all unless given.

        Raises:
            InputError: an unknown score.
        """
        said, chosen = " ".join(warning_lines(self.warnings)), self._chosen(scores)
        rows = [{**row, "warnings": said} for row in self._rows() if (row["metric"], row["score"]) in chosen]
        return views.csv_text([*_TIDY, "undefined", "warnings"], rows)

    def to_json(self, scores: Sequence[str] = ()) -> str:
        """Return what `treescore score` prints: `results` and `warnings`; `scores` is as in `to_csv`."""
        systems = self.document["systems"]
        if scores:
            chosen = {(key, name.partition(".")[0]) for key, name in self._chosen(scores)}
            systems = [{**system, "metrics": {
                key: {**metric, "scores": {name: value for name, value in metric["scores"].items()
                                           if (key, name) in chosen}}
                for key, metric in system["metrics"].items()
            }} for system in systems]  # fmt: skip
        return views.json_text({"results": {**self.document, "systems": systems}, "warnings": self.warnings})

    def _chosen(self, names: Sequence[str]) -> set[tuple[str, str]]:
        """Return scores by their metrics and names; all where none is named. Raises InputError."""
        if not names:
            return {(row["metric"], row["score"]) for row in self._rows()}
        from treescore.render.forms import chosen_scores  # noqa: PLC0415 - as above

        return {(entry.key, score.name) for entry, _, score in chosen_scores(self.report.spec, names)}

    def to_frame(self, level: Literal["system", "sentence"] = "system") -> Any:
        """Return a data frame.

        Args:
            level: `system`, one row for each system and score: `system`, `metric`, `score`, `value`; `sentence`, one
                row for each system, metric and sentence, as `SystemScores.by_sentence` has them.

        Raises:
            InputError: another level.
            MissingExtra: neither pandas nor polars is installed.
        """
        if level not in ("system", "sentence"):
            raise _refused(f"Unknown level {level!r}.", ("system", "sentence"), "/level")
        columns, rows = (_TIDY, self._rows()) if level == "system" else self._sentences()
        return views.frame(views.columns_of(rows, columns))

    def sentences_csv(self) -> str:
        """Return CSV with all digits: a row for each system, metric and sentence, with its scores and counts."""
        return views.csv_text(*self._sentences())

    def _sentences(self) -> tuple[Sequence[str], Sequence[Mapping[str, Json]]]:
        columns: dict[str, None] = dict.fromkeys(("system", "metric"))
        rows: list[Mapping[str, Json]] = []
        for name, scores in self.items():
            for entry in self.report.spec.entries:
                view = scores.by_sentence(entry.key)
                columns |= dict.fromkeys(view.columns)
                rows += [{"system": name, "metric": entry.key, **row} for row in view]
        return tuple(columns), rows

    def to_text(
        self,
        unit: Unit = PERCENT,
        *,
        style: str | None = None,
        system: str | None = None,
        metric: str | None = None,
        **shown: Any,
    ) -> str:
        """Return plain text: the tables, or the layout of the original program.

        Args:
            unit: as in `render`.
            style: the layout of an original program (`evalb`, `conll18`, ...), as `list_metrics` names them in
                `reports`; the tables unless given.
            system: the one whose report is wanted; all, each below its name, unless given.
            metric: key of the metric that prints the style; the first one unless given.
            shown: as in `tables`.

        Raises:
            InputError: an unknown style, system or metric.
        """
        if style is None:
            return super().to_text(unit, **shown)
        able = [each.key for each in self.report.spec.entries if style in each.metric.own_styles]
        entry = self._entry(able[0] if metric is None and able else metric)
        known = entry.metric.own_styles
        if style not in known:
            words = f"Unknown style {style!r} of {entry.name}.{did_you_mean(style, known)}"
            if style in entry.metric.styles:
                words = f"{entry.name} prints the style {style!r} where its parameter of this name is true."
            of_others = [name for name, each in METRICS.items() if style in each.styles and name != entry.name]
            words += f" Styles: {', '.join(known) or 'none'}."
            words += f" The metric {' and '.join(of_others)} prints it." if of_others else ""
            raise InputError(Problem("bad-parameter", words, pointer="/style"))
        names = list(self) if system is None else [system]
        parts = [entry.metric.report(style, self._scored(name, entry.key).outcome) for name in names]
        if len(parts) == 1:
            return parts[0]
        return "".join(f"{name}:\n{part}" for name, part in zip(names, parts, strict=True))

    def _rows(self) -> list[dict[str, Json]]:
        rows = []
        for system in self.document["systems"]:
            for entry in self.report.spec.entries:
                scores = system["metrics"][entry.key]["scores"]
                for score in entry.metric.table.scores:
                    value = value_at(scores, score.name)
                    reason = score.undefined if value is None else None
                    head = {"system": system["name"], "metric": entry.key, "score": score.name}
                    rows.append({**head, "value": value, "undefined": reason})
        return rows

    def _scored(self, system: str, metric: str | None) -> Scored:
        names = list(self)
        if system not in names:
            detail = f"Unknown system {system!r}. Systems: {', '.join(names)}.{did_you_mean(system, names)}"
            raise InputError(Problem("unknown-system", detail, pointer="/system"))
        from treescore.results.inspection import Scored  # noqa: PLC0415 - scores alone need none of it

        return Scored(self.report, names.index(system), system, self._entry(metric))

    def _entry(self, key: str | None) -> Entry:
        entries = self.report.spec.entries
        if key is None:
            return entries[0]
        try:
            return self.report.spec.entry(key)
        except KeyError as error:
            keys = [entry.key for entry in entries]
            detail = f"Unknown metric {key!r}. Metrics of this result: {', '.join(keys)}.{did_you_mean(key, keys)}"
            raise InputError(Problem("unknown-metric", detail, pointer="/metric")) from error


def _restored(report: Report, systems: tuple[System, ...], gold_digest: str) -> Result:
    """Return an unpickled result: the treebanks are compared with gold as they were."""
    outcomes = [
        report.evaluation.compare(treebank, system.format, system.pointer, system.name)
        for treebank, system in zip(report.treebanks, systems, strict=True)
    ]
    return Result(report._replace(outcomes=outcomes), systems, gold_digest)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The difference between two systems on one score; a value that was not computed is nan.

    Attributes:
        a: name of the first system.
        b: name of the second one.
        score: address of the score.
        score_a: of the first system.
        score_b: of the second one.
        difference: `score_a` less `score_b`.
        ci: ends of the interval of the difference; None where there is none.
        p: of the test.
        p_adjusted: corrected for all pairs that were tested.
        significant: whether `p_adjusted` is at most alpha; False where nothing was tested.
    """

    a: str
    b: str
    score: str
    score_a: float
    score_b: float
    difference: float
    ci: tuple[float, float] | None
    p: float
    p_adjusted: float
    significant: bool

    @property
    def turned(self) -> Pair:
        """The same with the second system first."""
        ci = None if self.ci is None else (-self.ci[1], -self.ci[0])
        return replace(
            self, a=self.b, b=self.a, score_a=self.score_b, score_b=self.score_a, difference=-self.difference, ci=ci
        )


def _pair(score: str, pair: Mapping[str, Json]) -> Pair:
    numbers = {name: _number(pair[name]) for name in ("score_a", "score_b", "difference", "p", "p_adjusted")}
    ci = None if pair["ci"] is None else (_number(pair["ci"]["low"]), _number(pair["ci"]["high"]))
    return Pair(a=pair["a"], b=pair["b"], score=score, ci=ci, significant=bool(pair["significant"]), **numbers)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(views.Renderable):
    """Which differences between systems are real; printed, a table of ranks and one of pairs.

        table = compare(result, unit="block")
        print(table)
        table.to_latex()
        table.plot("differences.svg")

    Attributes:
        result: the scores that were compared, with the comparisons.
    """

    forms = (*views.FORMS, "svg")
    result: Result

    def __repr__(self) -> str:
        names = ", ".join(repr(document["score"]) for document in self.comparisons)
        return f"Comparison({names} of {', '.join(map(repr, self.result))})"

    @property
    def comparisons(self) -> tuple[Mapping[str, Json], ...]:
        """One document for each compared score."""
        return tuple(self.result.comparisons)

    @property
    def across(self) -> Mapping[str, Json] | None:
        """All of them as one family; None where only one score was compared."""
        return self.result.across

    @property
    def document(self) -> Mapping[str, Json]:
        """The `results` of a job: `systems`, `comparisons` and perhaps `across`."""
        return self.result.document

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be known of texts, metrics and tests to read the comparisons, each once."""
        return tuple(dict.fromkeys(words for document in self.comparisons for words in document["warnings"]))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs of systems, score after score."""
        return tuple(_pair(document["score"], pair) for document in self.comparisons for pair in document["pairs"])

    def __getitem__(self, names: tuple[str, str] | tuple[str, str, str]) -> Pair:
        """Return a pair by the names of its systems, in either order, and by the score where several were compared.

            table["A", "B"].p_adjusted
            table["A", "B", "ud.uas_f1"]

        Raises:
            KeyError: an unknown pair, several scores of which none is named, or a one-sided test of the other order.
        """
        scores = list(dict.fromkeys(each["score"] for each in self.comparisons))
        if not isinstance(names, tuple) or len(names) not in (2, 3):
            raise KeyError(
                f"{names!r} is not a pair. Use table['A', 'B'], with a score after them if several were compared."
            )
        asked = names[2:] or scores
        if len(asked) > 1:
            raise KeyError(f"Several scores were compared. Use table[{names[0]!r}, {names[1]!r}, {asked[0]!r}].")
        if asked[0] not in scores:
            raise KeyError(f"The score {asked[0]!r} was not compared. Compared: {', '.join(scores)}.")
        for pair in self.pairs:
            if (pair.a, pair.b, pair.score) == (*names[:2], *asked):
                return pair
            if (pair.b, pair.a, pair.score) == (*names[:2], *asked):
                if self.comparisons[0]["alternative"] in ("greater", "less"):
                    raise KeyError(f"The test was one-sided. Use table[{pair.a!r}, {pair.b!r}].")
                return pair.turned
        known = ", ".join(dict.fromkeys(f"{pair.a!r}, {pair.b!r}" for pair in self.pairs))
        raise KeyError(f"Unknown pair {names!r}. Pairs: {known}.")

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __contains__(self, names: object) -> bool:
        try:
            return bool(self[names])  # type: ignore[index]  # a KeyError refuses other things
        except KeyError:
            return False

    def _ipython_key_completions_(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys((pair.a, pair.b) for pair in self.pairs))

    def render(self, form: str, unit: Unit = PERCENT, **shown: Any) -> str:
        """Return one of `forms`: those of every view, and `svg`.

        Args:
            form: one of them.
            unit: as in every view.
            shown: `width` as in every view; `decimals`; `p_values`, whether adjusted p follow the differences; `fit`,
                the columns of a terminal that a table of pairs keeps to.

        Raises:
            InputError: an unknown form or unit.
        """
        views.check_form(form, self.forms, unit)
        if form == "json":
            return self.result.to_json()
        shares = self._shares if unit == PERCENT else frozenset()
        from treescore.render.forms import render_comparisons  # noqa: PLC0415 - as above

        shown = {"p_values": False, **shown}
        return render_comparisons(self.comparisons, form, self.across, shares, **shown).content.decode()

    @property
    def _shares(self) -> frozenset[str]:
        return percent_scores(self.result.report.spec, self.comparisons)

    def tables(self, unit: Unit = PERCENT, *_args: Any, **shown: Any) -> Sequence[Table]:
        """Return the tables of ranks and of pairs of each compared score; `shown` is as in `render`."""
        from treescore.render.forms import across_table, comparison_tables  # noqa: PLC0415 - as above

        shares = self._shares if unit == PERCENT else frozenset()
        tables = [table for document in self.comparisons for table in comparison_tables(document, shares, **shown)]
        return tables if self.across is None else [*tables, across_table(self.across)]

    def __str__(self) -> str:
        width = get_terminal_size().columns
        return self.render("text", width=width, fit=width).rstrip("\n")

    def to_csv(self) -> str:
        """Return CSV: a row for each pair of systems and score."""
        return self.render("csv")

    def to_json(self) -> str:
        """Return what `treescore compare` prints: `results` and `warnings`, as those of `score`."""
        return self.render("json")

    def to_frame(self) -> Any:
        """Return a data frame with one row for each pair of systems and score.

        Raises:
            MissingExtra: neither pandas nor polars is installed.
        """
        from treescore.render.forms import comparison_rows  # noqa: PLC0415 - as above

        columns, rows = comparison_rows(self.comparisons)
        return views.frame(views.columns_of(rows, columns))

    def plot(
        self, path: str | Path | None = None, unit: Unit = PERCENT, *, kind: str = PAIRS, system: str | None = None
    ) -> Picture:
        """Draw an SVG picture; a notebook shows what is returned.

        Args:
            path: a file to write too, as `Picture.save` takes it.
            unit: as in `render`.
            kind: `pairs`, a heat map of adjusted p with the differences; `dots`, pairs as dots; `intervals`, scores
                with their intervals; `power`, detectable differences; `against`, one system against all others.
            system: for `against`, and for `dots` to show its pairs darker.

        Raises:
            InputError: another suffix, an unknown kind or system, or several scores where the kind shows one.
        """
        if path is not None:
            converter(path)
        picture = drawn(self.comparisons, kind, self._shares if unit == PERCENT else frozenset(), system)
        if path is not None:
            picture.save(path)
        return picture
