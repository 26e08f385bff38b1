"""The page of a submission: state and queue, scores by part, what is wrong, slices, and what may be changed."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from flask import Response, request

from service.api import calls
from service.caller import Caller
from service.contract import submissions as contract
from service.contract.comparisons import ComparisonRequest
from service.errors import BadRequest
from service.pages import answers, figures, slices, standing, visitors
from service.pages.standing import OTHER
from service.policy.gate import LEVELS, Level
from service.policy.release import DEFAULT_STEP
from service.requests import LINKS, MACRO, POOLED
from service.usecases import comparisons
from service.usecases.benchmarks import benchmarks
from service.usecases.runs import Shown
from service.usecases.scoring.config import stored_spec
from service.usecases.submissions import submissions
from service.usecases.submissions.results import heading_of
from treescore.core.scores import flat_values, member_at
from treescore.render.heat_maps import TOGETHER


class ScoreRow(NamedTuple):
    """The scores of a part, or of all parts.

    Attributes:
        name: of the part.
        part: whether it is a part, not all of them.
        cells: as they are written, in the order of the columns.
        interval: of the first.
        note: what is the matter with the part.
    """

    name: str
    part: bool
    cells: Sequence[str]
    interval: str
    note: str


def rows_of(
    scores: contract.SubmissionScores, columns: Sequence[figures.NamedScore], parts: Iterable[str], sent: Iterable[str]
) -> list[ScoreRow]:
    """Return a row for all parts together where there are several, then one for each part.

    Args:
        scores: of the submission's document.
        columns: the scores to show.
        parts: of the benchmark.
        sent: parts that the submission has an output of.
    """
    known, outputs = list(parts), set(sent)

    def row(name: str, label: str, note: str = "") -> ScoreRow:
        found = [_figure(scores["metrics"], column.address, name, alone=len(known) == 1) for column in columns]
        bounds = found[0][1]
        interval = "" if bounds is None else columns[0].figures.interval(bounds["low"], bounds["high"])
        cells = [column.figures.value(value) for column, (value, _) in zip(columns, found, strict=True)]
        return ScoreRow(label, name not in (MACRO, POOLED), cells, interval, note)

    rows = [row(name, label) for name, label in TOGETHER.items() if len(known) > 1]
    for part in known:
        state = scores["parts"].get(part)
        failed = state is not None and state["failure"] is not None
        note = "not sent" if part not in outputs else "could not be scored" if failed else ""
        rows.append(row(part, part, note))
    return rows


def _addresses(metrics: Mapping[str, Any]) -> Iterable[str]:
    for key, metric in metrics.items():
        parts = [part["scores"] for part in (metric.get("parts") or {}).values() if part is not None]
        for group in (metric.get("scores"), metric.get("macro"), *parts):
            yield from (f"{key}.{name}" for name, _ in flat_values(group or {}))


def _figure(metrics: Mapping[str, Any], address: str, name: str, *, alone: bool) -> tuple[float | None, Any]:
    """Return a score over a part, or over all of them, and its interval."""
    key, _, score = address.partition(".")
    metric = metrics.get(key)
    if metric is None:
        return None, None
    if name == MACRO:
        return member_at(metric.get("macro"), score), member_at(metric.get("macro_ci95"), score)
    found = metric if name == POOLED else (metric.get("parts") or {}).get(name)
    if found is None and alone:
        found = metric
    if found is None:
        return None, None
    return member_at(found.get("scores"), score), member_at(found.get("ci95"), score)


blueprint = answers.pages("submission", "/s/<submission>")

READERS = ("submit", "read")
FIELDS = ("name", "notes", *LINKS)
CHANGES: Mapping[str, Mapping[str, bool]] = {
    "edit": {}, "cancel": {}, "retry": {},
    "withdraw": {"withdrawn": True}, "restore": {"withdrawn": False},
    "choose": {"chosen": True}, "unchoose": {"chosen": False},
}  # fmt: skip
"""What the buttons do, and the members that they set."""
COMPARE = "compare"
"""What the button does that asks for the test of two submissions."""
SLICED = ("items", "gold")
"""Feedback levels from which counts and slices are shown."""
ALL_SCORES = "scores"
SAVED = "saved"
"""Says that name, notes and links were changed."""


@blueprint.get("")
def show_submission(submission: str) -> Response:
    """Show a submission."""
    caller = visitors.member(*READERS)
    view = submissions.view_submission(calls.context(), caller, submission)
    return answers.page("submission.html", **_submission_values(caller, view))


@blueprint.get("/live")
def show_submission_live(submission: str) -> Response:
    """Show state and scores again, if they differ from what the page shows."""
    caller = visitors.member(*READERS)
    view = submissions.view_submission(calls.context(), caller, submission)
    shown = partial(_submission_values, caller, view, live=True)
    return answers.fragment("submission_state.html", view.etag, final=view.final, values=shown)


@blueprint.post("")
def change_submission(submission: str) -> Response:
    """Rename, annotate, withdraw, choose, cancel or retry. What is refused is said on the page."""
    caller = visitors.sender("submit")
    asked = request.form.get("do", "")
    if asked not in (*CHANGES, COMPARE):
        raise BadRequest("The form does not say what to change. Load the page again.")
    if asked == COMPARE:
        return _compared(caller, submission, request.form.get(OTHER, ""))
    try:
        _change(caller, submission, asked)
    except answers.REFUSED as error:
        view = submissions.view_submission(calls.context(), caller, submission)
        values = _submission_values(caller, view)
        if asked == "edit":
            values |= {"edited": True, "kept": {name: request.form.get(name, "") for name in FIELDS}}
        return answers.refused("submission.html", error, **values)
    return answers.go_to(f"/s/{quote(submission, safe='')}{f'?{SAVED}=yes#change-h' if asked == 'edit' else ''}")


@blueprint.get("/delete")
def ask_delete(submission: str) -> Response:
    """Ask once more before deleting, where that is not refused."""
    caller = visitors.member("submit")
    submissions.check_deletable(calls.context(), caller, submission)
    document = submissions.view_submission(calls.context(), caller, submission).document
    return answers.page("submission_delete.html", submission=document)


@blueprint.post("/delete")
def delete_submission(submission: str) -> Response:
    """Delete outputs, scores and name."""
    caller = visitors.sender("submit")
    document = submissions.view_submission(calls.context(), caller, submission).document
    submissions.delete_submission(calls.context(), caller, submission)
    chosen = f"?{urlencode({'benchmark': document['benchmark']})}" if caller.organises(document["benchmark"]) else ""
    return answers.go_to(f"/submit{chosen}")


@blueprint.get("/output")
def get_output(submission: str) -> Response:
    """Send the output of one part, byte for byte."""
    caller = visitors.member(*READERS)
    query, _ = answers.query(contract.OutputQuery)
    view = submissions.submission_output(calls.context(), caller, submission, query.part)
    document = submissions.view_submission(calls.context(), caller, submission).document
    spec = stored_spec(figures.benchmark_document(caller, document["benchmark"]))
    suffix = ".json" if spec.format.format.fields else next(iter(spec.format.format.suffixes), ".txt")
    name = query.part or next(iter(document["outputs"] or ()), submission)
    return answers.download(answers.sent(view), f"{name}{suffix}")


def _change(caller: Caller, submission: str, asked: str) -> None:
    if asked == "cancel":
        submissions.cancel_submission(calls.context(), caller, submission)
    elif asked == "retry":
        submissions.retry_submission(calls.context(), caller, submission)
    else:
        members: Mapping[str, object] = _edited() if asked == "edit" else CHANGES[asked]
        if asked == "withdraw" and (reason := request.form.get("reason", "").strip()):
            members = {**members, "reason": reason}
        changes = calls.loaded(contract.SubmissionChanges, members)
        submissions.patch_submission(calls.context(), caller, submission, changes)


def _compared(caller: Caller, submission: str, other: str) -> Response:
    """Ask whether a submission differs from another one, and show them beside each other."""
    document = submissions.view_submission(calls.context(), caller, submission).document
    asked = calls.loaded(ComparisonRequest, {"submissions": [submission, other]})
    comparisons.ask(calls.context(), caller, document["benchmark"], asked)
    return answers.go_to(f"/s/{quote(submission, safe='')}?{urlencode({OTHER: other})}#beside")


def _edited() -> dict[str, object]:
    notes = request.form.get("notes", "").replace("\r\n", "\n").strip()
    links = {name: request.form.get(name, "").strip() or None for name in LINKS}
    return {"name": request.form.get("name", "").strip(), "notes": notes or None, "links": links}


def _fields(document: contract.Submission) -> dict[str, str]:
    """Return what the fields of the form hold: name, notes and links."""
    links = {name: str(document["links"].get(name) or "") for name in LINKS}
    return {"name": document["name"], "notes": document["notes"] or "", **links}


def _submission_values(caller: Caller, view: Shown[contract.Submission], *, live: bool = False) -> dict[str, Any]:
    """Return what the templates of a submission show.

    Args:
        caller: who looks.
        view: of the submission.
        live: whether the page asks, whose address has no query of its own.
    """
    context = calls.context()
    document = view.document
    benchmark = figures.benchmark_document(caller, document["benchmark"])
    level = benchmarks.level_of(context, caller, document["benchmark"])
    state = figures.state_of(benchmark, context.now())
    step = benchmark["rounding"] or DEFAULT_STEP if level == "rounded" else None
    names = figures.ScoreNames(benchmark, step, rounded=LEVELS[level] <= Level.SCORES)
    query, own = (
        (contract.SubmissionSlicesQuery(), {})
        if live
        else answers.query(contract.SubmissionSlicesQuery, ALL_SCORES, OTHER, SAVED, *slices.OWN)
    )
    heading = heading_of(context, caller, document["id"])
    values: dict[str, Any] = {
        "submission": document, "team": heading.team,
        "benchmark": benchmark, "level": level, "version": view.etag, "final": view.final,
        "may_change": visitors.visitor().caller.allowed("submit"), "state": state, "open": figures.is_open(state),
        "acts": figures.is_open(state) or caller.organises(benchmark["id"]),
        "chooses": benchmark["leaderboard"]["pick"] == "chosen",
        "problem": None, "edited": False, "saved": SAVED in own, "links": LINKS, "kept": _fields(document),
        "columns": (), "rows": (), "left": 0, "every": False, "sliced": None, "live": live, "quota": document["quota"],
        "headline": "", "place": None, "beside": None,
    }  # fmt: skip
    scores = document["scores"]
    if scores is None:
        return values
    every = own.get(ALL_SCORES) == "all"
    columns, left = names.shown(scores["main"]["score"], _addresses(scores["metrics"]), every=every)
    values |= {"columns": columns, "left": left, "every": every}
    values["rows"] = rows_of(scores, columns, benchmark["parts"], document["outputs"] or ())
    board = standing.board_of(caller, benchmark["id"])
    values["headline"] = columns[0].figures.value(scores["main"]["value"])
    values["place"] = standing.place_of(board, document, columns[0], heading.runs)
    values["beside"] = standing.beside(caller, document, own.get(OTHER), benchmark, board, columns[0], level)
    if level in SLICED:
        other = values["beside"]["other"] if OTHER in own else None
        values["sliced"] = slices.sliced(caller, document, names, query, own, other)
    return values
