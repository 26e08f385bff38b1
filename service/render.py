"""A leaderboard and a matrix for people and programs: as JSON, CSV, TSV, Markdown, LaTeX or SVG.

Cells, headline and notes are shared by the formats for people. The picture is the table, with a dot and its interval
in each row, readable in black and white.

Of a matrix, CSV and TSV have a row for each submission, for programs. Markdown and LaTeX have a row for each part: a
page holds more parts than columns.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, partial, reduce
from itertools import groupby
from string import ascii_uppercase
from typing import Any, Protocol, TypeVar, cast

import orjson

import treescore.metrics  # noqa: F401 - importing the package fills the registry
from service.contract import leaderboards
from service.contract.leaderboards import Leaderboard
from treescore.core import registry, wording
from treescore.render import crosstable, drawing, forms, heat_maps
from treescore.render.dot_table import DotColumn, DotRow, DotTable, Mark, Scale, dot_table, in_units, scale_of
from treescore.render.drawing import stepped as figures_stepped
from treescore.render.table import CSV, LATEX, TABLE_FORMS, TSV, Column, Table, separated
from treescore.significance.notes import AGREE, BY_SENTENCE, OTHER_PARTS, notes


def percent_of(addresses: Iterable[str], form: str = "svg") -> frozenset[str]:
    """Return those scores that people see in percent in this format; the others of the service print fractions."""
    return frozenset(each for each in addresses if form == "svg" and shown_as(each).in_percent)


@lru_cache(maxsize=256)
def shown_as(address: str, step: float | None = None) -> wording.Figures:
    """Return how the figures of a score are written.

    Args:
        address: of the score; one of a metric that is not registered is written as a fraction.
        step: to which scores are rounded; they have as many decimals as it has.
    """
    key, _, name = address.partition(".")
    if key not in registry.METRICS:
        figures = wording.IN_FRACTIONS
    else:
        table = registry.make_metric(key, {}).table
        score = table.by_name.get(name, table.scores[0])
        figures = wording.figures_of(wording.PERCENT, share=score.is_share)
    return figures_stepped(figures, step)


def exact(document: Mapping[str, Any]) -> bool:
    """Return whether bounds and p of a board have all their digits: they are rounded below level `gold`."""
    return bool(document["feedback"] == "gold")


def _figures(document: Leaderboard) -> wording.Figures:
    """Return how the figures of the score that ranks are written for people."""
    return replace(shown_as(document["score"], document["rounding"]), rounded=not exact(document))


HEADS = (
    *("rank", "ranks", "cluster", "team", "submission", "score", "covered", "parts", "95 % interval", "p to next"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        cells: by the heads of HEADS.
        baseline: whether it is a baseline.
        begins_cluster: whether a line is drawn above it.
    """

    cells: Mapping[str, str]
    baseline: bool
    begins_cluster: bool

    @property
    def label(self) -> str:
        """Return rank, team and submission in one line, and what it covers where it lacks sentences."""
        rank, covered = self.cells["rank"], self.cells["covered"]
        scored, _, total = covered.partition("/")
        system = ": ".join(filter(None, (self.cells["team"], self.cells["submission"])))
        system += f" ({covered})" if scored != total else ""
        return f"{rank}. {system}" if rank != "-" else system


def board_rows(document: Leaderboard) -> list[Row]:
    """Return the rows as cells."""
    rows = []
    step, fractions = document["rounding"], replace(wording.IN_FRACTIONS, rounded=not exact(document))
    for row, begins in zip(document["rows"], cluster_starts(document), strict=True):
        low, high = crosstable.bounds(row["ci95"])
        cells = {
            "rank": "-" if row["rank"] is None else str(row["rank"]),
            "ranks": crosstable.rank_range(row["rank_interval"]),
            "cluster": "" if row["cluster"] is None else str(row["cluster"]),
            "team": team_words(row),
            "submission": _system_name(row),
            "score": stepped(row["score"], step),
            "covered": row["covered"] or "",
            "parts": _lacking_parts(row, len(document["parts"])),
            "95 % interval": fractions.interval(low, high) if low is not None else "",
            "p to next": "" if row["p_next"] is None else wording.p_figure(row["p_next"]),
        }
        rows.append(Row(cells, row["role"] == "baseline", begins))
    return rows


def cluster_starts(document: Leaderboard) -> list[bool]:
    """Return whether a line is drawn above each row: where the cluster changes from one ranked row to the next.

    None is drawn beside a ranked row that was not tested: nothing is known of the sides that it would stand on.
    """
    found, last = [], None
    for row in document["rows"]:
        cluster = last if row["cluster"] is None else row["cluster"]
        found.append(last is not None and cluster != last)
        last = None if row["rank"] is not None and row["tested"] is False else cluster
    return found


def _label(row: leaderboards.LeaderboardRow) -> str:
    return ": ".join(filter(None, (team_words(row), wording.one_line(row["name"] or "")))) or row["submission"]


def _system_name(row: leaderboards.LeaderboardRow | leaderboards.MatrixRow) -> str:
    """Return the name of a row's submission, and how many training runs it stands for where there are several."""
    runs = "" if row["runs"] is None else f"({wording.counted(row['runs']['count'], 'run')})"
    return " ".join(filter(None, (wording.one_line(row["name"] or ""), runs)))


def stepped(value: float | None, step: float | None) -> str:
    """Format a score with four decimals, or with those of its rounding step."""
    if value is None or step is None:
        return wording.IN_FRACTIONS.value(value)
    exponent = Decimal(str(step)).normalize().as_tuple().exponent
    return f"{value:.{max(0, -exponent) if isinstance(exponent, int) else 4}f}"


def shown_columns(rows: Sequence[Row]) -> list[str]:
    """Return the heads of the columns that are not empty in every row; all without rows."""
    return [head for head in HEADS if not rows or any(row.cells[head] for row in rows)]


def direction_of(document: leaderboards.Sheet) -> str:
    """Say which values of the score that ranks are better, and whether an output without an analysis has the best."""
    better = "higher is better" if document["higher_is_better"] else "lower is better"
    return f"{better}; one-sided, won without an analysis" if document["one_sided"] else better


def board_headline(document: Leaderboard) -> str:
    """Describe the board in one line."""
    part = "" if document["part"] is None else _part(document["part"], len(document["parts"]))
    picked = f"{document['pick']} of each team" if document["pick"] != "all" else "all submissions"
    return sheet_headline(document, document["score"], part, picked)


def sheet_headline(document: leaderboards.Sheet, score: str, part: str = "", picked: str = "") -> str:
    """Describe a board or a matrix in one line.

    Args:
        document: the board or the matrix.
        score: what it shows.
        part: of what.
        picked: which submissions it has.
    """
    said = [
        f"{wording.one_line(document['title'])}: {score} ({direction_of(document)})",
        f"revision {document['revision']}",
        part,
        f"{document['split']} share" if document["split"] is not None else "",
        picked,
        f"rows as of {document['as_of']}" if document["as_of"] is not None else "",
        "frozen" if document["frozen"] else "",
    ]
    return "; ".join(filter(None, said))


def _part(name: str, parts: int) -> str:
    known = {"macro": "mean of the parts", "pooled": "all parts pooled"}.get(name)
    return known or (f"part {name}" if parts == 1 else f"{name} (mean of {parts} parts)")


def claims_of(document: Leaderboard) -> list[str]:
    """Return the notes of the comparison behind a board, with the names of its rows: its intervals are of scores."""
    names = {row["submission"]: _label(row) for row in document["rows"]}

    def named(note: str) -> str:
        return reduce(lambda words, each: words.replace(each, names[each]), names, plain(note).removesuffix(AGREE))

    return [named(note) for note in document["significance"]["notes"]]


def claims_of_pair(document: Mapping[str, Any], pair: Mapping[str, Any]) -> list[str]:
    """Return the notes of a comparison that hold of one of its pairs alone, the first of its units, without marks."""
    systems = [each for each in document["systems"] if each["name"] in (pair["a"], pair["b"])]
    own = notes({**document, "systems": systems, "pairs": [pair]})
    said = [each for each in wording.notes_of_views(document) if each in (document["notes"][0], *own)]
    unmarked = {OTHER_PARTS: "", "Not marked": "Not significant", "a marked": "a significant"}
    return [reduce(lambda words, each: words.replace(each, unmarked[each]), unmarked, note) for note in said]


def plain(note: str) -> str:
    """Return a note without the letter that stands for a number."""
    return note.replace("team's k submissions", "team's submissions")


def _units(significance: leaderboards.BoardSignificance) -> tuple[str, str]:
    mixed = any(note.endswith(BY_SENTENCE) for note in significance["notes"])
    return wording.unit_words(significance["unit"] or "sentence", mixed=mixed)


def tested_words(significance: leaderboards.BoardSignificance) -> str:
    """Return over what and how a board was tested: `60 sentences, Holm, alpha 0.05`."""
    unit, several = _units(significance)
    units = (
        several if significance["unit_count"] is None else wording.counted(significance["unit_count"], unit, several)
    )
    return f"{units}, {wording.correction_name(significance['correction'] or '')}, alpha {significance['alpha']:g}"


def teams_compared(document: Leaderboard) -> str:
    """Return what a line between rows is about: `team`, `row` where one has several; `tested` where a row is not."""
    untested = document["significance"]["as_of"] or any(row["tested"] is False for row in document["rows"])
    return f"{'tested ' if untested else ''}{'row' if document['pick'] == 'all' else 'team'}"


def line_words(document: Leaderboard) -> str:
    """Return what the lines between rows and the intervals mean."""
    significance, team = document["significance"], teams_compared(document)
    return (
        f"A line is drawn where every {team} above is significantly better than every {team} below "
        f"({tested_words(significance)}); intervals are over the same {_units(significance)[1]}."
    )


def board_notes(document: Leaderboard) -> list[str]:
    """Return the notes below the board."""
    lines = []
    significance = document["significance"]
    if significance["as_of"] is not None:
        lines.append(f"Tests as of {significance['as_of']}; rows that are newer are not tested yet.")
    elif significance["pending"]:
        lines.append("The significance of this board is being computed. Request the board again in a moment.")
    if significance["test"] is not None and significance["pairs"]:
        lines.append(line_words(document))
        if any(row["tested"] is False for row in document["rows"]):
            lines.append(f"Tested: the first {wording.counted(significance['first_rows'], 'row')} and the baselines.")
    lines += claims_of(document)
    if significance["reason"]:
        lines.append(significance["reason"])
    lines += [*_rows_note(document), *_missing_note(document, _label), *_lacking_notes(document)]
    if any(row["role"] == "baseline" for row in document["rows"]):
        lines.append("Baselines have no rank.")
    return lines


def _lacking_notes(document: Leaderboard) -> list[str]:
    """Say of rows that rank last for the sentences that they lack what they would have if these were charged."""
    reasons = [(row, row["reason"] or "") for row in document["rows"]]
    found = [f"{_label(row)}: {wording.one_line(reason)}" for row, reason in reasons if "`errors: zero`" in reason]
    more = [f"{len(found) - _LISTED} more rows lack sentences."] if len(found) > _LISTED else []
    return [*found[:_LISTED], *more]


Sheet = TypeVar("Sheet", bound=Mapping[str, Any])


class Rowlike(Protocol):
    """A row of a board or a matrix."""

    def __getitem__(self, name: Any, /) -> Any: ...


def _lacking_parts(row: Rowlike, total: int) -> str:
    """Return how many parts a row has, where it lacks some: `2 of 3`."""
    scored = row["scored_parts"]
    return "" if scored is None or scored == total else f"{scored} of {total}"


def _parts_words(row: Rowlike) -> str:
    """Return the names of the parts that a row lacks, as far as they are shown, in one cell."""
    return " ".join(row["missing_parts"] or ())


def _rows_note(document: Leaderboard | leaderboards.Matrix) -> list[str]:
    """Say how many rows there are, where some follow."""
    if document["next"] is None:
        return []
    return [f"{len(document['rows'])} of {document['total_rows']} rows; next cursor: {document['next']}."]


def _missing_note(document: Leaderboard | leaderboards.Matrix, name_of: Callable[[Any], str]) -> list[str]:
    """Say which rows lack parts, where some do; `name_of` tells what a row is called."""
    said = []
    for row in document["rows"]:
        words = _lacking_parts(row, len(document["parts"]))
        names = ", ".join(row["missing_parts"] or ())
        if words:
            said.append(f"{name_of(row)} has {words}{f' (without {names})' if names else ''}")
    return [f"Parts without a scored output: {'; '.join(said)}."] if said else []


def lettered(document: Sheet) -> Sheet:
    """Return a board or a matrix without names with `Team A`, `Team B` for those of its teams.

    Letters go by the ids of the submissions that stand there: they are the same on a board and in its matrix. A board
    that picks others may give another letter: one for each team would tell which attempts are of one.
    """
    if not document["anonymous"]:
        return document
    hidden = sorted(row["submission"] for row in document["rows"] if row["team"] is None and row["role"] != "baseline")
    names = {each: f"Team {letters(at)}" for at, each in enumerate(hidden)}
    rows = [{**row, "team_name": names.get(row["submission"], row["team_name"])} for row in document["rows"]]
    return cast("Sheet", {**document, "rows": rows})


def letters(at: int) -> str:
    """Return `A` to `Z`, then `AA` and so on."""
    return ("" if at < len(ascii_uppercase) else letters(at // 26 - 1)) + ascii_uppercase[at % 26]


def team_words(row: Rowlike) -> str:
    """Name the team of a row for people."""
    if row["role"] == "baseline":
        return "baseline"
    return wording.one_line(row["team_name"] or row["team"] or "anonymous")


PICTURE_COLUMNS = (
    DotColumn("#", right=True, soft=True),
    DotColumn("Ranks", soft=True),
    DotColumn("Team"),
    DotColumn("Submission", soft=True, most=200),
    DotColumn("Score", right=True, bold=True),
    DotColumn("95 % interval", right=True, soft=True),
    DotColumn("p to next", right=True, soft=True),
    DotColumn("Sentences", right=True, warns=True),
    DotColumn("Parts", right=True, warns=True),
)
_DOTS_AFTER = 5
_AXIS = 260
_MIDDLE, _FAR = 8, 1.5
"""Rows from which on a middle half is looked at; how far outliers are from it (Tukey's fences)."""
_LISTED = 40
"""Rows that the description names; all are drawn."""
_UNRANKED = "Without a score"


def board_picture(document: Leaderboard) -> bytes:
    """Draw all rows, best first; equal documents give equal bytes in any thread."""
    figures = _figures(document)
    scale = board_scale(document, figures)
    table = DotTable(
        title=wording.one_line(document["title"]), above=[_subtitle(document)], columns=PICTURE_COLUMNS,
        lines=list(_lines(document, figures)), scale=scale, dots_after=_DOTS_AFTER, below=_below(document, scale),
    )  # fmt: skip
    return dot_table(drawing.Drawing("board", board_headline(document), _described(document, figures)), table).encode()


def board_scale(document: Leaderboard, figures: wording.Figures, size: float = _AXIS) -> Scale:
    """Return the axis of a board: it spans the tested rows with their intervals, all rows where none was tested.

    Rows that are far worse than the middle half, by more than _FAR times its width, are left out.

    Args:
        document: the board.
        figures: the unit of the axis.
        size: of the axis in pixels.
    """
    rows = [row for row in document["rows"] if row["tested"]] or document["rows"]
    sign = 1 if document["higher_is_better"] else -1
    scores = sorted(sign * row["score"] for row in rows if row["score"] is not None)
    if len(scores) >= _MIDDLE:
        low, high = scores[len(scores) // 4], scores[-1 - len(scores) // 4]
        rows = [row for row in rows if row["score"] is None or sign * row["score"] >= low - _FAR * (high - low)]
    shown = [each for row in rows for each in (row["score"], *crosstable.bounds(row["ci95"]))]
    return scale_of(in_units(figures.factor, shown), size)


ARROW = "An arrow points to a score beyond the axis."


def beyond_axis(document: Leaderboard, scale: Scale, figures: wording.Figures) -> bool:
    """Return whether a row has a score beyond the axis, which is drawn as an arrow."""
    marks = [row_mark(row, figures).value for row in document["rows"]]
    return any(value is not None and scale.side(value) for value in marks)


def row_mark(row: leaderboards.LeaderboardRow, figures: wording.Figures) -> Mark:
    """Return what is drawn of a row, in the unit of the axis."""
    low, high = crosstable.bounds(row["ci95"])
    return Mark(row["score"], low, high, diamond=row["role"] == "baseline").in_units(figures.factor)


def _lines(document: Leaderboard, figures: wording.Figures) -> Iterator[DotRow]:
    """Yield the tested rows, then the others under what is said of them."""
    every = list(zip(document["rows"], board_rows(document), strict=True))
    ordered = sorted(every, key=lambda each: _group(each[0])[0])
    for (_, words), rows in groupby(ordered, key=lambda each: _group(each[0])):
        if words:
            yield DotRow(heading=words)
        for row, cells in rows:
            yield DotRow(
                _cells(document, row, cells.cells), row_mark(row, figures), ruled=cells.begins_cluster and not words,
                italic=row["role"] == "baseline",
            )  # fmt: skip


def _group(row: leaderboards.LeaderboardRow) -> tuple[int, str]:
    """Return where a row stands, and the words above its group; none above the first."""
    if row["score"] is None:
        return 2, _UNRANKED
    if row["tested"] is False:
        return 1, "Not tested" + (f": {wording.one_line(row['reason'])}" if row["reason"] else "")
    return 0, ""


def _cells(document: Leaderboard, row: leaderboards.LeaderboardRow, cells: Mapping[str, str]) -> Sequence[str]:
    """Return the cells of PICTURE_COLUMNS; those of the other formats give rank, team and submission."""
    figures = _figures(document)
    ranks = row["rank_interval"]
    scored, _, total = (row["covered"] or "").partition("/")
    return (
        "" if row["rank"] is None else cells["rank"],
        drawing.ranks_words(None if ranks is None else (ranks[0], ranks[1])),
        cells["team"],
        cells["submission"],
        drawing.value_words(row["score"], figures),
        drawing.interval_words(*crosstable.bounds(row["ci95"]), figures),
        wording.p_words(row["p_next"]),
        f"{scored} of {total}" if scored != total else "",
        _lacking_parts(row, len(document["parts"])),
    )


def _subtitle(document: Leaderboard) -> str:
    """Return the headline without the title, which stands above it."""
    words = board_headline(document).removeprefix(f"{wording.one_line(document['title'])}: ")
    if not shown_as(document["score"]).in_percent:
        return words
    score = document["score"]
    return words.replace(f"{score} (", f"{score} (percent, ", 1)


def _below(document: Leaderboard, scale: Scale) -> list[str]:
    """Return what the marks mean, then the notes of the board."""
    whiskers = any(row["ci95"] is not None for row in document["rows"])
    legend = ["Dot: score." + (" Whisker: 95 % interval." if whiskers else "")]
    if any(row["role"] == "baseline" for row in document["rows"]):
        legend.append("Diamond, slanted: baseline.")
    if beyond_axis(document, scale, _figures(document)):
        legend.append(ARROW)
    return [" ".join(legend), *board_notes(document)]


def _described(document: Leaderboard, figures: wording.Figures) -> str:
    """Return the ranking and the notes for people who cannot see the picture."""
    listed = [
        f"{cells.label} {drawing.value_words(row['score'], figures)}"
        + (f" ({drawing.interval_words(*crosstable.bounds(row['ci95']), figures)})" if row["ci95"] else "")
        for row, cells in zip(document["rows"], board_rows(document), strict=True)
        if row["score"] is not None
    ]
    total = len(document["rows"])
    more = f" {total} rows in all." if total > min(len(listed), _LISTED) else ""
    return " ".join([f"Ranking: {'; '.join(listed[:_LISTED])}.{more}", *board_notes(document)])


BOARD_COLUMNS = (
    *("rank", "rank_low", "rank_high", "cluster", "role", "team", "team_name", "submission", "name", "created_at"),
    *("score", "covered", "scored_parts", "parts", "missing_parts", "ci95_low", "ci95_high", "p_next", "detectable"),
    *("considered", "runs", "runs_sd", "tested", "reason", "notes"),
)
"""Columns of CSV and TSV. The score addresses follow. The notes are the same in all rows of a board."""


def _flat_board_rows(document: Leaderboard) -> Iterator[Sequence[object]]:
    """Yield the header, then all rows with unrounded numbers."""
    addresses = document["scores"]
    notes = " ".join(claims_of(document))
    yield [*BOARD_COLUMNS, *addresses]
    for row in document["rows"]:
        low, high = row["rank_interval"] or (None, None)
        flat: dict[str, object] = {
            **row,
            "rank_low": low,
            "rank_high": high,
            "runs": row["runs"] and row["runs"]["count"],
            "runs_sd": row["runs"] and row["runs"]["sd"],
            "ci95_low": row["ci95"] and row["ci95"]["low"],
            "ci95_high": row["ci95"] and row["ci95"]["high"],
            "detectable": row["detectable"] and row["detectable"]["difference"],
            "notes": notes,
            "parts": len(document["parts"]),
            "missing_parts": _parts_words(row),
        }
        values = [*(flat[column] for column in BOARD_COLUMNS), *(row["scores"].get(address) for address in addresses)]
        yield [_one_line(value) for value in values]


def _one_line(value: object) -> object:
    """Replace tabs and line ends in text: not every reader of TSV accepts them in quotes."""
    return " ".join(value.split()) if isinstance(value, str) else value


def _board_table(document: Leaderboard, form: str) -> Table:
    """Return the board in LaTeX with a rule between clusters, and what is claimed as a paragraph below."""
    rows = board_rows(document)
    paper = form == LATEX
    kept = [head for head in shown_columns(rows) if not paper or head != "cluster"]
    dash = "--" if paper else "-"
    cells = [[row.cells[head].replace("-", dash if head == "ranks" else "-") for head in kept] for row in rows]
    claims = claims_of(document) if paper else []
    return Table(
        board_headline(document),
        [Column(head, paper="l" if head in ("team", "submission") else "r") for head in kept],
        cells,
        notes=[note for note in board_notes(document) if note not in claims],
        rules={at for at, row in enumerate(rows) if row.begins_cluster},
        slanted={at for at, row in enumerate(rows) if row.baseline},
        claim=["\n".join(claims)] if claims else (),
        commented=True,
    )


def _rendered(
    flat: Callable[[Any], Iterable[Sequence[object]]],
    table: Callable[[Any, str], Table],
    picture: Callable[[Any], bytes],
    document: Mapping[str, Any],
    form: str,
) -> forms.Rendered:
    """Render a document in one of SHEET_FORMATS; equal documents give equal bytes.

    Args:
        flat: gives the header and the rows of CSV and TSV.
        table: gives what a form for people shows.
        picture: draws it.
        document: what is rendered.
        form: name of the format.

    Raises:
        KeyError: the format is unknown.
    """
    media_type = leaderboards.SHEET_FORMATS[form]
    if form == "json":
        content = orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
    elif form == "svg":
        content = picture(lettered(document))
    elif form in (CSV, TSV):
        content = separated(flat(document), form)
    else:
        content = TABLE_FORMS[form](table(lettered(document), form)).encode()
    return forms.Rendered(content, media_type)


render_leaderboard = partial(_rendered, _flat_board_rows, _board_table, board_picture)

MATRIX_COLUMNS = (
    *("rank", "role", "team", "team_name", "submission", "name"),
    *("score", "scored_parts", "parts", "missing_parts"),
)
"""Columns of CSV and TSV. The parts follow, under `part:` and their names, so that none has the name of a column."""


def _flat_matrix_rows(document: leaderboards.Matrix) -> Iterator[Sequence[object]]:
    """Yield the header, then all rows with unrounded numbers."""
    yield [*MATRIX_COLUMNS, *(f"part:{part['name']}" for part in document["parts"])]
    for row in document["rows"]:
        flat: dict[str, object] = {**row, "parts": len(document["parts"]), "missing_parts": _parts_words(row)}
        values = [*(flat[column] for column in MATRIX_COLUMNS), *row["values"]]
        yield [wording.one_line(value) if isinstance(value, str) else value for value in values]


def _matrix_picture(document: leaderboards.Matrix) -> bytes:
    return heat_maps.matrix_svg(document, share=shown_as(document["score"]).in_percent).encode()


def _matrix_table(document: leaderboards.Matrix, _form: str) -> Table:
    """Return a row for each part, a column for each system, and the score that ranks at the end."""
    step, rows = document["rounding"], document["rows"]
    names = [*(part["name"] for part in document["parts"]), document["part"] or "all"]
    hidden = ", ".join(document["hidden"])
    few = (
        f"Not shown, because of few sentences: {hidden}. Figures of such parts are shown from feedback level items on."
    )
    lines = [*zip(names, [*heat_maps.by_part(document), [row["score"] for row in rows]], strict=True)]
    return Table(
        sheet_headline(document, f"{document['score']} by part"),
        [Column("part"), *(Column(_matrix_system(row), numeric=True) for row in rows)],
        [[name, *(stepped(value, step) for value in values)] for name, values in lines],
        notes=[*([few] if hidden else []), *_missing_note(document, _matrix_system), *_rows_note(document)],
        rules={len(lines) - 1} - {0},
        commented=True,
    )


def _matrix_system(row: leaderboards.MatrixRow) -> str:
    """Name a system in one line: its team, or where that is not shown its submission."""
    named = ": ".join(filter(None, (team_words(row), _system_name(row))))
    return named if row["team_name"] or row["role"] == "baseline" else row["submission"]


render_matrix = partial(_rendered, _flat_matrix_rows, _matrix_table, _matrix_picture)


BADGE_HEIGHT = 20
BADGE_MARGIN = 8


def badge_svg(rank: int | None, rows: int) -> bytes:
    """Draw the rank of a team among so many rows, on a ground of its own; None is not ranked."""
    words = "not ranked" if rank is None else f"rank {rank} of {rows}"
    picture = drawing.Drawing("badge", words, f"On the leaderboard: {words}.")
    width = round(drawing.width(words, 13)) + 2 * BADGE_MARGIN
    picture.add("rect", width=width, height=BADGE_HEIGHT, rx=3, fill=drawing.PAPER, stroke=drawing.RULE)
    picture.text(BADGE_MARGIN, 14.5, words)
    return picture.svg(width, BADGE_HEIGHT).encode()
