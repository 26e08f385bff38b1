"""Scoring jobs: the page that scores files against gold, without a benchmark, and the page of a job.

The form takes gold, one output or several, format and metric. The page of a job has its state, scores of each system,
what the tests say of differences, and exports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any, cast
from urllib.parse import quote

from flask import Response, request

from service.api import answers as api_answers
from service.api import calls
from service.api.answers import problem_of
from service.api.calls import item_page
from service.caller import Caller
from service.contract.jobs import ComparisonsQuery, ItemsQuery, Job, JobRequest, Results, job_schema
from service.errors import BadRequest, Conflict, TooManyRequests, Unprocessable, invalid, refuse
from service.pages import answers, uploads
from service.pages.answers import EXPORT_NAMES, download, finished, with_status_of
from service.pages.figures import NamedScore, ScoreNames
from service.pages.uploads import File, Upload
from service.pages.visitors import check_form, scorer
from service.requests import Query
from service.usecases import jobs
from service.usecases.runs import Shown
from treescore.core.params import Json
from treescore.core.registry import FORMATS, METRICS, Format
from treescore.core.scores import flat_values, member_at
from treescore.core.wording import MAX_NAME
from treescore.render.crosstable import bounds, cross_table, headline, interval_head, notes, shown_interval
from treescore.sources.files import unpacked_name
from treescore.sources.texts import format_of_name

blueprint = answers.pages("job", "/j/<job_id>")

KEY_COOKIE = "treescore_job"
KEPT_SECONDS = 30 * 24 * 3600
ALL_SCORES = "scores"
MOST_PAIRS = 300
"""Pairs on the page; exports have all."""
MOST_ITEMS = 1000
"""Sentences of an export from the page."""
EXPORTS = tuple((words, form) for form, words in EXPORT_NAMES.items() if form != "tsv")


def keep_key(response: Response, job_id: str, key: str | None) -> Response:
    """Let this browser change a job that was made without a token: it keeps the key for the job's own addresses."""
    if key is not None:
        response.set_cookie(
            KEY_COOKIE, key, max_age=KEPT_SECONDS, path=_job_address(job_id), httponly=True, samesite="Strict",
            secure=request.scheme == "https",
        )  # fmt: skip
    return response


@blueprint.get("")
def show_job(job_id: str) -> Response:
    """Show a job."""
    caller = scorer()
    view = jobs.view_job(calls.context(), caller, job_id)
    return answers.page("job.html", **_job_values(caller, view))


@blueprint.get("/live")
def show_job_live(job_id: str) -> Response:
    """Show the job again, if it differs from what the page shows."""
    caller = scorer()
    view = jobs.view_job(calls.context(), caller, job_id)
    return answers.fragment(
        "job_state.html", view.etag, final=view.final, values=partial(_job_values, caller, view, live=True)
    )


@blueprint.post("")
def cancel_job(job_id: str) -> Response:
    """Cancel an unfinished job."""
    caller = scorer()
    check_form()
    if request.form.get("do") != "cancel":
        raise BadRequest("The form does not say what to change. Load the page again.")
    try:
        jobs.cancel_job(calls.context(), caller, job_id, request.cookies.get(KEY_COOKIE))
    except Conflict as error:
        view = jobs.view_job(calls.context(), caller, job_id)
        values = {**_job_values(caller, view), "problem": problem_of(error)}
        return with_status_of(answers.page("job.html", **values), error)
    return answers.go_to(_job_address(job_id))


@blueprint.get("/delete")
def ask_delete(job_id: str) -> Response:
    """Ask once more before deleting."""
    jobs.view_job(calls.context(), scorer(), job_id)
    return answers.page("job_delete.html", job_id=job_id)


@blueprint.post("/delete")
def delete_job(job_id: str) -> Response:
    """Delete texts and results."""
    caller = scorer()
    check_form()
    jobs.delete_job(calls.context(), caller, job_id, request.cookies.get(KEY_COOKIE))
    return answers.go_to("/jobs/new")


@blueprint.get("/comparisons")
def get_comparisons(job_id: str) -> Response:
    """Send the comparisons in one of the export formats."""
    query, _ = answers.query(ComparisonsQuery, file=True)
    view = jobs.job_comparisons(calls.context(), scorer(), job_id, query)
    return finished(api_answers.conditional(view, kind=api_answers.Kind.PAGE))


@blueprint.get("/items")
def get_items(job_id: str) -> Response:
    """Send sentence by sentence what a metric found in an output."""
    query, _ = answers.query(ItemsQuery, file=True)
    form = query.format or "json"
    page = jobs.job_items(calls.context(), scorer(), job_id, query)
    return finished(download(item_page(page, form), f"{query.system}.{query.metric}.{form}"))


def _job_address(job_id: str) -> str:
    return f"/j/{quote(job_id, safe='')}"


def _job_values(caller: Caller, view: Shown[Job], *, live: bool = False) -> dict[str, Any]:
    """Return what the templates of a job show.

    Args:
        caller: who looks.
        view: of the job.
        live: whether the page asks, whose address has no query of its own.
    """
    document = view.document
    own = {} if live else answers.query(Query, ALL_SCORES)[1]
    every = own.get(ALL_SCORES) == "all"
    values: dict[str, Any] = {
        "job": document, "version": view.etag, "final": view.final, "problem": None, "exports": EXPORTS,
        "may_change": not caller.anonymous or KEY_COOKIE in request.cookies, "most_items": MOST_ITEMS,
        "unsigned": caller.anonymous, "columns": (), "rows": (), "notes": (), "left": 0, "every": every, "compared": (),
        "errors": _placed(document.get("failure")), "metrics": (),
    }  # fmt: skip
    found = cast("Results | None", document["results"])  # those of a check have no systems
    if found is None or not found.get("systems"):
        return values
    systems, comparisons = found["systems"], found.get("comparisons") or ()
    names = ScoreNames(_scoring(systems[0]["metrics"]))
    columns, left = _columns(systems, comparisons, names, every=every)
    return values | {
        "columns": columns, "left": left, "rows": [_system_row(system, columns, comparisons) for system in systems],
        "notes": names.notes(systems), "compared": [_job_comparison(comparison, names) for comparison in comparisons],
        "metrics": list(systems[0]["metrics"]), "item_total": _sentences(systems[0]["metrics"]),
    }  # fmt: skip


def _placed(failure: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the errors of a failure with the file that each is in."""
    placed = []
    for error in (failure or {}).get("errors", ()):
        steps = error.get("pointer", "").split("/")
        file = "gold" if steps[1:2] == ["gold"] else ""
        if steps[1:2] == ["systems"] and steps[2:3] and steps[2].isdecimal():
            file = f"output {int(steps[2]) + 1}"
        placed.append({**error, "file": file} if file else error)
    return placed


def _scoring(metrics: Mapping[str, Any]) -> dict[str, Json]:
    """Return the scoring configuration that the signatures of a system's metrics tell."""
    signatures = {key: metric["signature"] for key, metric in metrics.items()}
    return {
        "format": next(iter(signatures.values()))["format"],
        "transforms": [],
        "metrics": [{"name": each["metric"], "key": key, "params": each["params"]} for key, each in signatures.items()],
    }


def _columns(
    systems: Sequence[Mapping[str, Any]], comparisons: Sequence[Mapping[str, Any]], names: ScoreNames, *, every: bool
) -> tuple[list[NamedScore], int]:
    """Return the scores to show, the compared one first, and how many are left out."""
    metrics = systems[0]["metrics"]
    listed = [f"{key}.{name}" for key, metric in metrics.items() for name, _ in flat_values(metric["scores"])]
    main = comparisons[0]["score"] if comparisons else listed[0]
    others = [address for address in listed if address != main]
    shown = [names(address) for address in others] if every else names.columns(main, listed)
    return [names(main), *shown], len(others) - len(shown)


def _system_row(
    system: Mapping[str, Any], columns: Sequence[NamedScore], comparisons: Sequence[Mapping[str, Any]]
) -> dict[str, object]:
    cells = []
    for column in columns:
        key, _, name = column.address.partition(".")
        cells.append(column.figures.value(member_at(system["metrics"][key]["scores"], name)))
    ranked = comparisons[0]["systems"] if comparisons else ()
    own = next((each.get("ci") for each in ranked if each["name"] == system["name"]), None)
    return {"name": system["name"], "cells": cells, "interval": columns[0].figures.interval(*bounds(own))}


def _job_comparison(comparison: Mapping[str, Any], names: ScoreNames) -> dict[str, object]:
    """Return one score's comparison as the page shows it."""
    score = names(comparison["score"])
    alpha = comparison["alpha"]
    pairs = []
    for pair in comparison["pairs"][:MOST_PAIRS]:
        p = pair.get("p_adjusted")
        pairs.append({
            "a": pair["a"], "b": pair["b"], "difference": score.figures.difference(pair.get("difference")),
            "span": score.figures.span(*bounds(shown_interval(pair))),
            "p": pair.get("p"), "adjusted": p, "significant": p is not None and p <= alpha,
        })  # fmt: skip
    table = cross_table(comparison, [comparison["score"]] if score.figures.share else ())
    return {
        "score": score, "pairs": pairs, "left": len(comparison["pairs"]) - len(pairs),
        "caption": f"{headline(table)}. Bold: significant.", "interval_head": interval_head(comparison),
        "said": [*comparison["warnings"], *notes(comparison)], "address": comparison["score"],
    }  # fmt: skip


def _sentences(metrics: Mapping[str, Any]) -> int:
    return max((metric["sentences"]["total"] for metric in metrics.values()), default=0)


form_blueprint = answers.pages("job_form", "/jobs/new")
GOLD, OUTPUTS = "gold", "outputs"
"""Names of the fields of the files."""


@form_blueprint.get("")
def show_job_form() -> Response:
    """Show the form."""
    scorer()
    answers.query(Query)
    return answers.page("job_form.html", **_job_form_values({}))


@form_blueprint.post("")
def send_job() -> Response:
    """Score files. What is wrong is shown below the form, which keeps the choices."""
    caller = scorer()
    upload = uploads.read_upload()
    try:
        asked = _job_of(upload)
        made = jobs.submit_job(calls.context(), caller, asked, upload.key(asked))
    except (Unprocessable, Conflict, TooManyRequests) as error:
        values = {**_job_form_values(upload.fields), "problem": problem_of(error)}
        return with_status_of(answers.page("job_form.html", **values), error)
    return keep_key(answers.go_to(f"/j/{made.id}"), made.id, made.key)


def _job_form_values(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return what the template of the form shows."""
    formats = [(name, known.suffixes) for name, known in sorted(FORMATS.items()) if not known.fields]
    several = {name for name, known in FORMATS.items() if known.fields}
    usual = {FORMATS[name].usual_metric for name in several}
    return {
        "formats": formats,
        "metrics": [name for name in sorted(METRICS) if name not in usual],
        "chosen": {name: fields.get(name, "") for name in ("format", "metric")},
        "key": uploads.new_key(),
        "most_bytes": calls.context().config.max_upload_bytes,
        "problem": None,
    }


def _job_of(upload: Upload) -> JobRequest:
    """Return the request that the form stands for.

    Raises:
        Unprocessable: a file is missing, or a choice is invalid.
    """
    refuse(upload.problems)
    golds, outputs = upload.files.get(GOLD, ()), upload.files.get(OUTPUTS, ())
    if len(golds) != 1:
        raise invalid("missing-field", "/gold", "Choose one file with the gold standard.")
    if not outputs:
        raise invalid("missing-field", "/systems", "Choose the output of at least one system.")
    named = upload.fields.get("format", "")
    read_as = named or _guessed(golds[0])
    if read_as not in FORMATS:
        detail = f"Unknown format {uploads.shown(read_as)!r}. Choose one of the list."
        raise invalid("unknown-format", "/format", detail)
    members: dict[str, object] = {
        "format": read_as,
        "gold": uploads.text_of(golds[0], "/gold"),
        "systems": [
            _system(number, name, file, "" if named else read_as)
            for number, (name, file) in enumerate(zip(_names(outputs), outputs, strict=True))
        ],
        "metrics": [_metric(upload.fields.get("metric", ""), FORMATS[read_as])],
    }
    return answers.loaded(job_schema(calls.context().config.max_systems), members)


def _metric(named: str, read_as: type[Format]) -> Json:
    """Return the metric that the form names, with the parameters that go with the format; else its usual one."""
    return read_as.usual_entry() if named in ("", read_as.usual_metric) else named


def _system(number: int, name: str, file: File, gold_format: str) -> dict[str, object]:
    """Return one system of the request; where gold's format was guessed, its own format is guessed too."""
    own = format_of_name(file.name) if gold_format else None
    members: dict[str, object] = {"name": name, "output": uploads.text_of(file, f"/systems/{number}/output")}
    return members if own in (None, gold_format) else {**members, "format": own}


def _guessed(gold: File) -> str:
    """Return the format that the name of gold's file stands for.

    Raises:
        Unprocessable: it stands for none.
    """
    known = format_of_name(gold.name)
    if known is None:
        detail = f"The suffix of {uploads.shown(gold.name)!r} does not name a format. Choose the format."
        raise invalid("unknown-format", "/format", detail)
    return known


def _names(files: Sequence[File]) -> Iterable[str]:
    """Yield a name for each file: without suffixes, with a number where another file has it."""
    seen: dict[str, int] = {}
    for file in files:
        plain = PurePosixPath(unpacked_name(file.name)).name
        suffix = max((each for each in _suffixes() if plain.endswith(each) and plain != each), key=len, default="")
        stem = plain.removesuffix(suffix)[: MAX_NAME - 10] or "output"
        seen[stem] = seen.get(stem, 0) + 1
        name = stem if seen[stem] == 1 else f"{stem}-{seen[stem]}"
        seen.setdefault(name, 1)
        yield "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name)


def _suffixes() -> set[str]:
    return {suffix for known in FORMATS.values() for suffix in known.suffixes} | {".txt"}
