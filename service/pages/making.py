"""The page that makes a benchmark: its title, its gold, and what scores it; settings have defaults.

Parts are named after the files of gold, and the format is guessed from their first lines unless one is chosen. Where a
document of `treescore organise make` is sent too, or a benchmark is named as the model of the new one, these say what
the form leaves open.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from flask import Response

from service import errors, requests
from service.api import answers as api_answers
from service.api import calls, forms
from service.caller import Caller
from service.contract.benchmarks import Benchmark, BenchmarkRequest
from service.pages import answers, figures, settings, visitors
from service.pages.submit import File, Upload, json_object, new_key, read_upload, shown
from service.usecases import status
from service.usecases.benchmarks import benchmarks
from service.usecases.benchmarks.settings import DEFAULTS
from service.usecases.scoring.config import MEMBERS, scoring_config
from treescore.core.params import Json, escape
from treescore.core.registry import FORMATS, Format
from treescore.errors import ProblemList
from treescore.evaluation.spec import CERTAINTIES
from treescore.sources.files import part_of
from treescore.sources.texts import format_of_name

blueprint = answers.pages("making", "/admin/new")
GOLD, LIKE = "gold", "like"
GUESSED = "guessed"
"""Parameter of the page of the new benchmark, which says then that its format was guessed."""
FIELDS = tuple(field for group in (settings.NAMES, settings.TIMES, *settings.REST.values()) for field in group)
CHOICES = ("id", "format", "metric", "main_score")
ALIASES = {"parts": GOLD, GOLD: GOLD, "metrics": "metric", **{name: name for name in (*CHOICES, forms.META)}}
"""Fields beside which faults stand, by the first steps of their pointers, for members that are no fields themselves."""
LONGEST_ID = 60
_NOT_IN_IDS = re.compile(r"[^a-z0-9]+")


@blueprint.get("")
def show_making() -> Response:
    """Show the form, filled in with the settings of a benchmark where one is named."""
    caller = visitors.member("organise")
    _, own = answers.query(requests.Query, LIKE)
    return answers.page("admin_new.html", **_values(caller, {LIKE: own.get(LIKE, "")}, {}))


@blueprint.post("")
def make_benchmark() -> Response:
    """Make the benchmark. What is wrong is said beside its field; the form keeps what was typed."""
    caller = visitors.member("organise")
    upload = read_upload()
    try:
        errors.refuse(upload.problems)
        members, guessed = _members(caller, upload)
        asked = calls.loaded(BenchmarkRequest, members)
        slug, _ = benchmarks.create_benchmark(calls.context(), caller, asked, upload.key(asked))
    except answers.REFUSED as error:
        problem = api_answers.problem_of(error)
        values = _values(caller, upload.fields, problem)
        return answers.refused("admin_new.html", error, **values, filled=upload.filled)
    return answers.go_to(f"/admin/{slug}{f'?{GUESSED}=1' if guessed else ''}")


def slug_of(title: str) -> str:
    """Return the id that a title stands for: its letters and digits as far as they are ASCII, in small letters."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return _NOT_IN_IDS.sub("-", plain).strip("-")[:LONGEST_ID].strip("-")


def _values(caller: Caller, fields: Mapping[str, str], problem: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template shows: the fields as they were sent, or as they are at first."""
    like = fields.get(LIKE, "")
    model = figures.benchmark_document(caller, like) if like else None
    texts = dict(fields) if problem else settings.texts_of(_settings_like(model), FIELDS)
    faults = settings.faults_by_field(problem, FIELDS, ALIASES)
    if str(problem.get("type", "")).endswith("/id-taken"):
        faults["id"] = [{"code": "id-taken", "detail": problem["detail"]}]
    if problem and not texts.get("id"):
        texts["id"] = slug_of(texts.get("title", ""))
    return {
        "texts": {**dict.fromkeys(CHOICES, ""), **texts}, "faults": faults, "problem": problem or None, "like": model,
        "scores": {} if model is None else score_labels(model), "key": new_key(),
        "formats": [(name, known.suffixes) for name, known in sorted(FORMATS.items())],
        "suffixes": {suffix: name for name, known in FORMATS.items() for suffix in known.suffixes},
        "sides": {name: known.fields for name, known in FORMATS.items() if known.fields},
        "metrics": [(each["name"], _score_choices(each)) for each in status.scorers().document["metrics"]],
        "names": settings.NAMES, "times": settings.TIMES, "rest": settings.REST, "zones": settings.ZONES,
        "most_bytes": calls.context().config.max_upload_bytes, "echoes": {}, "stored": {},
    }  # fmt: skip


def _score_choices(metric: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the addresses of a metric's scores, the main one first, each with its name and what it is."""
    name = metric["name"]
    ordered = sorted(metric["scores"], key=lambda score: score["name"] != metric["main_score"])
    return [(f"{name}.{each['name']}", f"{figures.score_label(each['name'])}: {each['doc']}") for each in ordered]


def score_labels(document: Benchmark) -> dict[str, str]:
    """Return what each score of a benchmark is called, by address."""
    names = figures.ScoreNames(document)
    return {address: names(address).label for address in scoring_config(document).addresses}


def _settings_like(model: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the settings that the form begins with: of another benchmark all but its title, times and dates."""
    empty: dict[str, Any] = {"title": "", "series": None, **DEFAULTS}
    if model is None:
        return empty
    kept = {name: model[name] for name in empty if name not in ("title", "notice", "opens_at", "closes_at")}
    board, about = {**model["leaderboard"], "frozen_at": None}, {**model["about"], "dates": []}
    return {**empty, **kept, "leaderboard": board, "about": about}


def _members(caller: Caller, upload: Upload) -> tuple[dict[str, Any], bool]:
    """Return the request that the form stands for, as JSON, and whether its format was guessed.

    Raises:
        Unprocessable: files cannot be read, or their format is not certain.
    """
    fields = upload.fields
    model = figures.benchmark_document(caller, fields[LIKE]) if fields.get(LIKE) else None
    given: dict[str, Any] = {} if model is None else {name: dict(model)[name] for name in MEMBERS}
    given |= _document(upload)
    changed = settings.differing(fields, settings.texts_of(_settings_like(None), FIELDS), FIELDS)
    for name, member in settings.nested(changed).items():
        known = given.get(name)
        kept = known if isinstance(known, dict) and name != "tracks" else {}
        given[name] = {**kept, **member} if isinstance(member, dict) else member
    title = str(given.setdefault("title", ""))
    given["id"] = fields.get("id", "").strip() or given.get("id") or slug_of(title)
    files = upload.files.get(GOLD, ())
    guessed = not fields.get("format") and "format" not in given
    given["format"] = _guessed(files) if guessed else fields.get("format") or given["format"]
    _choose_scores(given, fields.get("metric", ""), fields.get("main_score", ""))
    given["parts"] = _parts(files, FORMATS.get(_format_name(given["format"])))
    return given, guessed


def _document(upload: Upload) -> dict[str, Any]:
    """Return the members of the document that was sent with the form; none without one."""
    pointer = f"/{forms.META}"
    for file in upload.files.get(forms.META, ()):
        return json_object(forms.checked_bytes(file.text, pointer), repr(shown(file.name)), pointer)
    return {}


def _format_name(chosen: Json) -> str:
    return str(chosen.get("name") if isinstance(chosen, dict) else chosen)


def _guessed(files: Iterable[File]) -> Json:
    """Return the format of gold, where the first lines of its first file leave no doubt, or its name says the same.

    Raises:
        Unprocessable: the text cannot be read, or may be in several formats.
    """
    for file in files:
        found = status.formats_of(forms.checked(file.text, f"/parts/{escape(file.name)}"))
        if found and (found[0].certainty == CERTAINTIES[0] or found[0].name == format_of_name(file.name)):
            return found[0].format
        may = "; ".join(f"{each.name} ({each.certainty}: {' '.join(each.why)})" for each in found)
        detail = (
            f"It is not certain in which format {shown(file.name)!r} is. {f'It may be {may}' if may else 'None fits.'}"
        )
        raise errors.invalid("unknown-format", "/format", f"{detail} Choose one.")
    raise errors.invalid("missing-field", "/parts", "Choose the files with the gold standard, one for each part.")


def _choose_scores(given: dict[str, Any], metric: str, main_score: str) -> None:
    """Put the metric and the score that ranks into a request; the usual metric of the format where none is chosen.

    Raises:
        Unprocessable: unknown format.
    """
    known = FORMATS.get(_format_name(given["format"]))
    chosen = metric or (main_score.partition(".")[0] if main_score or "metrics" not in given else "")
    if known is None:
        raise errors.invalid("unknown-format", "/format", "Unknown format. Choose one of the list.")
    if chosen or "metrics" not in given:
        given["metrics"] = [known.usual_entry() if chosen in ("", known.usual_metric) else chosen]
        given.pop("main_score", None)
    if main_score:
        given["main_score"] = main_score


def _parts(files: Iterable[File], known: type[Format] | None) -> dict[str, dict[str, Json]]:
    """Return gold, in a format that is known, by the parts that its files are named after.

    Raises:
        Unprocessable: with what is wrong with each file.
    """
    parts: dict[str, dict[str, Json]] = {}
    problems = ProblemList()
    for file in files:
        name, _, side = part_of(file.name, () if known is None else known.fields).partition("/")
        try:
            text = (shown(file.name), file.text)
            forms.put_text(parts.setdefault(name, {}), "gold", side or None, text, f"/parts/{escape(name)}/gold")
        except errors.Unprocessable as error:
            problems.extend(error.problems)
    errors.refuse(problems)
    return parts
