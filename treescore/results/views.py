"""What results show of themselves: the same figures on a terminal, in a notebook, in a paper and for programs.

A view becomes a data frame of pandas or polars, whichever is installed. A sentence beside gold is a view that can be
drawn. Filters choose errors: by relation, part of speech, label, length of sentence, sentence.
"""

from __future__ import annotations

import importlib
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypedDict, overload

import orjson

from treescore.core.params import Json
from treescore.core.wording import PERCENT, UNDEFINED, UNITS, Unit, figures_of
from treescore.errors import InputError, MissingExtra, Problem, missing_extra

if TYPE_CHECKING:
    from rich.console import RenderableType

    from treescore.render.sentence_shapes import Drawable
    from treescore.render.table import Table

LIBRARIES = ("pandas", "polars")
"""In the order in which they are looked for."""


def frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return columns of equal length as a pandas data frame, else as one of polars.

    Raises:
        MissingExtra: neither is installed.
    """
    for name in LIBRARIES:
        try:
            library = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            continue
        return library.DataFrame(dict(columns))
    raise MissingExtra(missing_extra("A data frame", "frames"))


def columns_of(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return rows as columns of these names; a row without a member has None there."""
    return {name: [row.get(name) for row in rows] for name in names}


FORMS = ("text", "markdown", "latex", "html", "csv", "json")
"""The forms of every view."""
LISTED = 200
"""Rows that a terminal or a notebook shows of a view; its other forms hold all."""


class Renderable(ABC):
    """Something that shows itself in every form: printed, in a notebook, or by `render(form)`."""

    __slots__ = ()
    forms: tuple[str, ...] = FORMS

    @abstractmethod
    def tables(self, unit: Unit = PERCENT, *args: Any, **shown: Any) -> Sequence[Table]:
        """Return what it shows as tables; scores in `unit`."""

    @abstractmethod
    def to_csv(self) -> str:
        """Return CSV with all digits; no spreadsheet takes a name in it for a formula."""

    @abstractmethod
    def to_json(self) -> str:
        """Return JSON with all digits."""

    @abstractmethod
    def to_frame(self) -> Any:
        """Return a data frame of pandas, else of polars.

        Raises:
            MissingExtra: neither is installed.
        """

    def render(self, form: str, unit: Unit = PERCENT, *, width: int = 0, **shown: Any) -> str:
        """Return one of `forms`.

        Args:
            form: `text`, `markdown`, `latex`, `html`, `csv` or `json`.
            unit: `percent` shows scores from 0 to 1 in percent with two decimals, `fraction` with four; CSV and JSON
                hold fractions with all digits.
            width: columns at which the prose of plain text breaks; 0 for none.
            shown: what `tables` takes beside the unit.

        Raises:
            InputError: an unknown form or unit.
        """
        check_form(form, self.forms, unit)
        if form in ("csv", "json"):
            return self.to_csv() if form == "csv" else self.to_json()
        return _written(form, self.tables(unit, **shown), width)

    def to_text(self, unit: Unit = PERCENT, **shown: Any) -> str:
        """Return plain text. Here and below `shown` is as in `render`."""
        return self.render("text", unit, **shown)

    def to_markdown(self, unit: Unit = PERCENT, **shown: Any) -> str:
        """Return Markdown."""
        return self.render("markdown", unit, **shown)

    def to_latex(self, unit: Unit = PERCENT, **shown: Any) -> str:
        """Return LaTeX; it needs the packages booktabs and textcomp."""
        return self.render("latex", unit, **shown)

    def to_html(self, unit: Unit = PERCENT, **shown: Any) -> str:
        """Return a fragment of HTML."""
        return self.render("html", unit, **shown)

    def __str__(self) -> str:
        return _written("text", map(_shortened, self.tables())).rstrip("\n")

    def _repr_html_(self) -> str:
        return _written("html", map(_shortened, self.tables()))

    def __rich__(self) -> RenderableType:
        from treescore.render.table import renderable  # noqa: PLC0415 - only a terminal needs rich

        return renderable([_shortened(table) for table in self.tables()])


def check_form(form: str, known: Sequence[str], unit: str) -> None:
    """Check a form and a unit of `render`. Raises InputError."""
    for name, value, values in (("form", form, known), ("unit", unit, UNITS)):
        if value not in values:
            detail = f"Unknown {name} {value!r}. Choose one of: {', '.join(values)}."
            raise InputError(Problem("bad-parameter", detail, pointer=f"/{name}"))


def _written(form: str, tables: Iterable[Table], width: int = 0) -> str:
    from treescore.render.table import written  # noqa: PLC0415 - a program that prints nothing needs no writers

    return "\n".join(written(table, form, width) for table in tables)


def csv_text(columns: Sequence[str], rows: Sequence[Mapping[str, Json]]) -> str:
    """Return rows as CSV with a header; lists are JSON in their cell."""
    from treescore.render.table import separated  # noqa: PLC0415 - as above

    return separated([list(columns), *([_csv_value(row.get(name)) for name in columns] for row in rows)]).decode()


def json_text(value: Json) -> str:
    """Return JSON, indented, with a line break at its end."""
    return orjson.dumps(
        value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS
    ).decode()


def _csv_value(value: Json) -> Json:
    return orjson.dumps(value).decode() if isinstance(value, (list, dict)) else value


def _shortened(table: Table) -> Table:
    more = len(table.rows) - LISTED
    if more <= 0:
        return table
    return replace(table, rows=table.rows[:LISTED], notes=[f"... and {more} more rows.", *table.notes])


@dataclass(frozen=True, eq=False, repr=False)
class View(Renderable, Sequence[Mapping[str, Json]]):
    """Rows of one kind: errors, words of a sentence, slices, differences between two systems.

    Attributes:
        title: what the rows are.
        columns: their members.
        rows: the rows, in order.
        warnings: what must be known to read them.
        notes: what is said below them.
        shares: the columns whose values are scores from 0 to 1.
        shown: the columns that tables show; all unless given.
        heads: of columns in tables, where they are not their names.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Json], ...]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    shares: frozenset[str] = frozenset()
    shown: tuple[str, ...] | None = None
    heads: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Json]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Json]]: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Json] | Sequence[Mapping[str, Json]]:
        return self.rows[index]

    def __iter__(self) -> Iterator[Mapping[str, Json]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"View({self.title!r}, {len(self)} rows)"

    def first(self, limit: int, advice: str = "") -> View:
        """Return the view with at most so many rows, 0 for all; a note says how many more there are, then `advice`."""
        more = len(self) - limit
        if limit == 0 or more <= 0:
            return self
        return replace(self, rows=self.rows[:limit], notes=(f"... and {more} more.{advice}", *self.notes))

    def tables(self, unit: Unit = PERCENT) -> Sequence[Table]:
        """Return one table."""
        from treescore.render.table import Column, Table  # noqa: PLC0415 - as above

        names = self.columns if self.shown is None else self.shown
        numeric = {name for name in names if all(_is_number(row.get(name)) for row in self.rows)}
        columns = [Column(self.heads.get(name, _head(name)), name in numeric) for name in names if self.rows]
        rows = [[_cell(row.get(name), unit, share=name in self.shares) for name in names] for row in self.rows]
        title = f"{self.title}, scores in percent" if self.shares and unit == PERCENT else self.title
        return [Table(title, columns, rows, self.warnings, self.notes)]

    def to_csv(self) -> str:
        """Return all columns as CSV, and the warnings in a last one; without a row they have one to themselves."""
        said = {"warnings": " ".join(self.warnings)}
        rows = [{**row, **said} for row in self.rows] or ([said] if self.warnings else [])
        return csv_text([*self.columns, "warnings"], rows)

    def to_json(self) -> str:
        """Return an object with `title`, `rows`, `warnings` and `notes`."""
        return json_text({"title": self.title, "rows": self.rows, "warnings": self.warnings, "notes": self.notes})

    def to_frame(self) -> Any:
        """Return a data frame with a column for each member."""
        return frame(columns_of(self.rows, self.columns))


def _head(name: str) -> str:
    """Return the last step of a column's path, in words."""
    return name.rpartition(".")[2].replace("_", " ")


def _is_number(value: Json) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _cell(value: Json, unit: Unit, *, share: bool) -> str:
    if value is None:
        return UNDEFINED if share else ""
    if isinstance(value, float):
        return figures_of(unit, share=True).value(value) if share else f"{value:.4f}"
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


@dataclass(frozen=True, eq=False, repr=False)
class SentenceView(View):
    """Gold and output of one sentence: rows as every view has them, and a picture of both.

    Attributes:
        drawing: what the picture shows; None where the metric compares what cannot be drawn, or the output has other
            words than gold.
        name: of the picture, for its ids.
    """

    drawing: Drawable | None = None
    name: str = "sentence"

    @property
    def forms(self) -> Sequence[str]:  # type: ignore[override]
        """What `render` returns: the forms of every view, and `svg` where there is a picture."""
        return FORMS if self.drawing is None else (*FORMS, "svg")

    def svg(self) -> str:
        """Return the picture as SVG: gold above, the output below, what differs in colour.

        Raises:
            InputError: the sentence has no picture.
        """
        if self.drawing is None:
            detail = (
                "This sentence has no picture: the metric compares neither dependencies, brackets nor links, or the "
                "output has other words than gold."
            )
            raise InputError(Problem("bad-parameter", detail, pointer="/form"))
        from treescore.render.sentence_pictures import sentence_svg  # noqa: PLC0415 - scores alone are not drawn

        return sentence_svg(self.drawing, self.name)

    def render(self, form: str, unit: Unit = PERCENT, *, width: int = 0, **shown: Any) -> str:
        """Return one of `forms`. Raises InputError for an unknown form or unit."""
        if form != "svg":
            return super().render(form, unit, width=width, **shown)
        check_form(form, (*FORMS, "svg"), unit)
        return self.svg()

    def _repr_svg_(self) -> str | None:
        return None if self.drawing is None else self.svg()

    def _repr_html_(self) -> str:
        return super()._repr_html_() if self.drawing is None else f"{self.svg()}\n{super()._repr_html_()}"


Values = str | Sequence[str]
SentenceName = int | str


class Filters(TypedDict, total=False):
    """Which errors are shown; where several are given, all must hold.

    Attributes:
        deprel: relation, of gold or of the output; `obl` stands for its subtypes too, `obl:tmod` for itself.
        upos: part of speech of gold's word.
        label: of a bracket or in a lineage; `NP` stands for `NP-SBJ` too.
        length: words of gold's sentence: a number or a range (`"10-20"`, `"10-"`, `"-20"`).
        sentence: numbers from 1, or names (`sent_id`), of sentences.
        limit: how many errors are shown at most; 0 or None for all.
    """

    deprel: Values
    upos: Values
    label: Values
    length: int | str
    sentence: SentenceName | Sequence[SentenceName]
    limit: int | None


def _is_relation(value: str, asked: str) -> bool:
    return value == asked or value.startswith(f"{asked}:")


def _is_label(value: str, asked: str) -> bool:
    from treescore.transforms.edits import base_label  # noqa: PLC0415 - for labels alone

    return asked in (value, base_label(value))


MATCHES: Mapping[str, Callable[[str, str], bool]] = {"deprel": _is_relation, "label": _is_label, "upos": operator.eq}
"""Filter of a metric -> whether a value of an error is what was asked."""
OF_EVERY_METRIC = ("length", "sentence", "limit")


def values_of(name: str, value: Json) -> tuple[str, ...]:
    """Return the values that a filter of a metric asks for. Raises InputError."""
    values = (value,) if isinstance(value, str) else value
    if (
        not isinstance(values, (list, tuple, set, frozenset))
        or not values
        or not all(isinstance(each, str) for each in values)
    ):
        detail = f"Invalid {name} {value!r}. Give a string, or a list of strings."
        raise InputError(Problem("bad-parameter", detail, pointer=f"/{name}"))
    return tuple(values)


def limit_of(limit: Json) -> int:
    """Return how many errors are shown, 0 for all. Raises InputError."""
    if limit is None:
        return 0
    if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 0:
        detail = f"Invalid limit {limit!r}. Give the number of errors that are shown; 0 for all."
        raise InputError(Problem("bad-parameter", detail, pointer="/limit"))
    return int(limit)


_RANGE = re.compile(r"(\d{0,9})-(\d{0,9})", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)


def bounds_of(length: int | str) -> tuple[float, float]:
    """Return the bounds of a filter by length. Raises InputError."""
    words = str(length).strip()
    if not isinstance(length, bool) and _NUMBER.fullmatch(words):
        return int(words), int(words)
    found = _RANGE.fullmatch(words)
    if found is None or found.group() == "-":
        detail = f'Invalid length {length!r}. Give a number of words, or a range as in "10-20", "10-" or "-20".'
        raise InputError(Problem("bad-parameter", detail, pointer="/length"))
    low, high = found.groups()
    return int(low or 0), int(high) if high else float("inf")
