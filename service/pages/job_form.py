"""The page that scores files against gold, without a benchmark: gold, one output or several, format and metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from flask import Response

from service.api import calls
from service.errors import Conflict, TooManyRequests, Unprocessable, invalid, refuse
from service.pages import answers, uploads
from service.pages.faults import problem_of, with_status_of
from service.pages.job import keep_key
from service.pages.uploads import File, Upload
from service.pages.visitors import scorer
from service.requests import JobRequest
from service.schemas import queries
from service.schemas.jobs import job_request
from service.usecases.jobs import jobs
from treescore.core.one_line import MAX_NAME
from treescore.core.params import Json
from treescore.core.registry import FORMATS, METRICS, Format
from treescore.sources import format_of_name
from treescore.sources.files import unpacked_name

blueprint = answers.pages("job_form", "/jobs/new")
GOLD, OUTPUTS = "gold", "outputs"
"""Names of the fields of the files."""


@blueprint.get("")
def show_job_form() -> Response:
    """Show the form."""
    scorer()
    answers.query(queries.NOTHING)
    return answers.page("job_form.html", **_job_form_values({}))


@blueprint.post("")
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
    return answers.loaded(job_request(calls.context().config.max_systems), members)


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
