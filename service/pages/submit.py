"""The pages that send files: outputs of a benchmark, checked or submitted, and a job that scores without a benchmark.

Forms with files are read here: their fields, their files unpacked, and the part that each belongs to. The page of a
benchmark shows what a check found, and what was sent before. The form of a job takes gold, one output or several,
format and metric.
"""

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from flask import Response, request

from service import errors, requests
from service.api import bodies, calls, forms
from service.caller import Caller
from service.config import Config
from service.contract.benchmarks import Benchmark, BenchmarksQuery
from service.contract.common import PageQuery
from service.contract.jobs import Job, JobRequest, job_schema
from service.contract.submissions import SubmissionRequest, SubmissionsQuery
from service.pages import answers, figures, job, standing, visitors
from service.policy.release import DEFAULT_STEP
from service.requests import Request as Asked
from service.usecases import access, jobs, runs
from service.usecases.benchmarks import benchmarks, teams
from service.usecases.scoring.config import stored_spec
from service.usecases.submissions import submissions, validation, views
from treescore.core.params import Json, escape
from treescore.core.registry import FORMATS, METRICS
from treescore.core.text import actually
from treescore.core.wording import MAX_NAME, did_you_mean
from treescore.errors import Problem, ProblemList
from treescore.sources.files import ARCHIVE, stems_of, targets_by_name, unpacked_name
from treescore.sources.texts import format_of_name

KEY_FIELD = "key"
PART_OF = "part:"
"""How the names of fields begin that say the part of a file; its name follows."""
LONGEST_KEY = 64
MOST_MEANT = 20
"""Files for which the part that may be meant is looked up: it takes time."""


class File(NamedTuple):
    """A file of a form: its name without folders, as sent, or its path in an archive that was sent; and its text."""

    name: str
    text: forms.Received


@dataclass(frozen=True, slots=True)
class Upload:
    """A form with files.

    Attributes:
        fields: the plain fields by name.
        files: by the name of their field, in the order sent.
        problems: of the files that could not be unpacked, which are left out.
    """

    fields: Mapping[str, str]
    files: Mapping[str, Sequence[File]]
    problems: ProblemList

    @property
    def filled(self) -> bool:
        """Whether files were chosen, readable or not."""
        return bool(self.problems.total) or any(self.files.values())

    def key(self, asked: Asked, *about: str) -> access.IdempotencyKey | None:
        """Return what recognises this form when it is sent twice, as by a double click.

        Another text in the same form is another request: who comes back and sends a corrected file is not refused.

        Args:
            asked: the request that the form stands for.
            about: what else it depends on.
        """
        given = self.fields.get(KEY_FIELD, "")
        if not given or len(given) > LONGEST_KEY or not given.isascii() or not given.isprintable():
            return None
        digest = " ".join((*about, bodies.digest(request, asked)))
        return access.IdempotencyKey(f"page {given} {hashlib.sha256(digest.encode()).hexdigest()}", digest)


@dataclass(slots=True)
class Assigned:
    """The texts of files by part.

    Attributes:
        outputs: as the JSON of a request has them.
        asked: names of the files whose part the visitor says, with the part where it was said.
        problems: of texts, and of files whose part was not said.
    """

    outputs: dict[str, Json] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    problems: ProblemList = field(default_factory=ProblemList)


def new_key() -> str:
    """Return a key for a form that is shown."""
    return secrets.token_urlsafe(16)


def read_upload() -> Upload:
    """Return the form of this request, which carries the value of the visitor's session.

    Raises:
        ServiceError: 400, 401, 403, 413, 415 or 503.
    """
    bodies.media_type(request, forms.FORM)
    config = calls.context().config
    with bodies.alone(request, calls.load_of_process().large_bodies, config, config.max_upload_bytes):
        parts, left = forms.read_fields(request, config, lambda _name, filename: shown(_without_folders(filename)))
        fields: dict[str, str] = {}
        for part in parts:
            if part.filename is None:
                if part.name in fields:
                    detail = f"The field {part.name[: errors.LONGEST_SHOWN]!r} is given twice. Give it once."
                    raise errors.BadRequest(detail, slug="malformed-body")
                fields[part.name] = _decoded(part.data)
        visitors.check_form(fields.get(visitors.CSRF_FIELD, ""))
        return _unpacked(fields, parts, config, left)


def json_object(text: bytes, name: str, pointer: str) -> dict[str, Any]:
    """Return the members of a JSON object that came with a form.

    Args:
        text: of it.
        name: what it is called.
        pointer: where faults are.

    Raises:
        Unprocessable: it is none.
    """
    try:
        found = bodies.parse_json(text, calls.context().config)
    except errors.BadRequest as error:
        detail = f"{name} cannot be read. {error.detail.replace('The body', 'It')}"
        raise errors.invalid("json-syntax", pointer, detail) from error
    if not isinstance(found, dict):
        raise errors.invalid("wrong-type", pointer, f"{name} must be a JSON object.")
    return found


def assign(files: Iterable[File], targets: Sequence[str], chosen: Mapping[str, str]) -> Assigned:
    """Return the texts of files by the parts that they are named after, or that were chosen for them.

    `en_ewt.conllu` and `en_ewt.pred.conllu.gz` belong to the part `en_ewt`. Where there is one part, a single file of
    any name belongs to it.

    Args:
        files: of a form.
        targets: names of the parts; for a format of several texts `en/source` for each.
        chosen: fields of the form, of which those with PART_OF say the part of a file.

    Raises:
        Unprocessable: a text is not UTF-8.
    """
    listed = list(files)
    names = targets_by_name(targets)
    assigned = Assigned()
    unnamed = 0
    for file in listed:
        found = (names[stem] for stem in stems_of(file.name) if stem in names)
        target = next(found, targets[0] if len(targets) == len(listed) == 1 else "")
        said = chosen.get(PART_OF + file.name, "")
        if said in targets:
            target = said
        if said in targets or not target:
            assigned.asked.append((file.name, target))
        if target:
            _put(assigned, target, file)
        else:
            unnamed += 1
            assigned.problems.add(_unnamed(file.name, names if unnamed <= MOST_MEANT else {}))
    return assigned


def shown(name: str) -> str:
    """Return the name of a file, short enough for a message."""
    return name if len(name) <= errors.LONGEST_SHOWN else f"{name[: errors.LONGEST_SHOWN]}…"


def _put(assigned: Assigned, target: str, file: File) -> None:
    """Put a text at its part; a second one there is a problem."""
    part, _, side = target.partition("/")
    try:
        pointer = f"/outputs/{escape(part)}"
        forms.put_text(assigned.outputs, part, side or None, (shown(file.name), file.text), pointer)
    except errors.Unprocessable as error:
        for problem in error.problems:
            detail = f"{problem.detail} It is for the part {part!r}." if problem.line is None else problem.detail
            assigned.problems.add(replace(problem, detail=detail, part=part))


def _unnamed(name: str, names: Mapping[str, str]) -> Problem:
    meant = did_you_mean(next(stems_of(name)), list(names)) if len(name) <= errors.LONGEST_SHOWN else ""
    detail = f"The file {shown(name)!r} has the name of no part. Name it after one.{meant}"
    return Problem(code="unknown-part", pointer="/outputs", detail=detail)


def _unpacked(fields: Mapping[str, str], parts: Iterable[forms.FormPart], config: Config, left: int) -> Upload:
    """Unpack the files of a form, which may not be larger than `left` together."""
    files: dict[str, list[File]] = {}
    problems = ProblemList()
    for part in parts:
        if part.filename is None:
            continue
        name = _without_folders(part.filename)
        if part.text is not None:
            # of a field without a file browsers send an empty one
            found = [File(name, part.text)] if part.filename or part.text.size else []
        else:
            try:
                found = _packed_files(name, part.data, config, left, f"/{part.name}")
            except errors.Unprocessable as error:
                for problem in error.problems:
                    problems.add(problem)
                continue
        left -= sum(file.text.size for file in found)
        files.setdefault(part.name, []).extend(found)
    return Upload(fields, files, problems)


def _packed_files(name: str, data: bytes, config: Config, left: int, pointer: str) -> list[File]:
    """Return the file that is packed, or the files of an archive, at most `left` bytes together.

    Raises:
        PayloadTooLarge: they have more.
        Unprocessable: it is damaged, or holds what no archive of texts has.
    """
    suffix = forms.suffix_of(name)
    if suffix == ARCHIVE:
        inside = forms.unzipped(data, shown(name), pointer, left)
        return [File(file.name, forms.received(shown(file.name), file.text)) for file in inside]
    coding = forms.FILE_CODINGS[suffix]
    try:
        text = bodies.unpacked(data, coding, config, left)
    except errors.BadRequest as error:
        detail = f"The file {shown(name)!r} is not a whole {coding} file."
        detail += f"{actually(data, coding)} Pack it again, or send it unpacked."
        raise errors.invalid("damaged-archive", pointer, detail) from error
    return [File(name, forms.received(shown(name), text))]


def _without_folders(filename: str) -> str:
    return filename.replace("\\", "/").rpartition("/")[2]


def _decoded(data: bytes) -> str:
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise errors.BadRequest("A field of the form is not valid UTF-8.", slug="malformed-body") from error


blueprint = answers.pages("submit", "/submit")

READERS = ("submit", "read")
FILES = "files"
"""Name of the field of the files."""
BASELINE = "baseline"
KEPT = ("name", "run_of", "notes", "team")
"""Fields that a form that is shown again keeps; of files browsers keep nothing."""
CHECK, SUBMIT = "check", "submit"
CHECK_WAIT = 3
"""Seconds after which a check that is not done is shown as running."""
MOST_LISTED = 1000
"""Benchmarks and teams that organisers choose of."""
MOST_ASKED = 20
"""Files whose part is asked for; more are named better."""
LISTED, READ = 20, 100
"""Submissions on a page, and those that are read: each stands beside the one before, and the line shows all."""


@blueprint.get("")
def show_submit() -> Response:
    """Show the form, and what was sent before."""
    caller = visitors.member(*READERS)
    query, own = answers.query(SubmissionsQuery, "benchmark")
    slug = _slug(caller, own.get("benchmark", ""))
    return answers.page("submit.html", **_submit_values(caller, slug, {"team": query.team or ""}, query))


@blueprint.post("")
def send_outputs() -> Response:
    """Check or submit outputs. What is wrong is shown above the form, which keeps the fields."""
    caller = visitors.member("submit")
    upload = read_upload()
    slug = _slug(caller, upload.fields.get("benchmark", ""))
    if not slug:
        raise errors.BadRequest("Choose a benchmark first.")
    targets = targets_of(figures.benchmark_document(caller, slug))
    assigned = assign(upload.files.get(FILES, ()), targets, upload.fields)
    again = {"asked": assigned.asked[:MOST_ASKED], "targets": targets, "filled": upload.filled}
    try:
        errors.refuse(upload.problems)
        errors.refuse(assigned.problems)
        asked = _submission_of(upload, assigned.outputs)
        if upload.fields.get("do") == CHECK:
            return _checked(caller, slug, upload, asked, again)
        submission, _ = submissions.submit(calls.context(), caller, slug, asked, upload.key(asked, SUBMIT, slug))
    except answers.REFUSED as error:
        return answers.refused("submit.html", error, **_submit_values(caller, slug, upload.fields) | again)
    return answers.go_to(f"/s/{submission}")


@blueprint.get("/checks/<job_id>")
def show_check(job_id: str) -> Response:
    """Show what a check found."""
    caller = visitors.member(*READERS)
    view = jobs.view_job(calls.context(), caller, job_id)
    return answers.page("check_page.html", 200, **_check(view))


@blueprint.get("/checks/<job_id>/live")
def show_check_live(job_id: str) -> Response:
    """Show what a check found, if it differs from what the page shows."""
    caller = visitors.member(*READERS)
    view = jobs.view_job(calls.context(), caller, job_id)
    return answers.fragment("check.html", view.etag, final=view.final, values=lambda: _check(view))


def _slug(caller: Caller, asked: str) -> str:
    """Return the benchmark: that of the team; organisers choose.

    Raises:
        Forbidden: the token is of no team.
    """
    if caller.organiser:
        return asked
    if caller.benchmark is None:
        raise errors.Forbidden(
            "Your token belongs to no team of a benchmark. Ask the organisers for the token of a team."
        )
    return caller.benchmark


def _submission_of(upload: Upload, outputs: Mapping[str, object]) -> SubmissionRequest:
    """Return the request that the form stands for.

    Raises:
        Unprocessable: a field is invalid.
    """
    members: dict[str, object] = {"outputs": outputs}
    members |= {name: value for name in ("name", "run_of", "notes") if (value := upload.fields.get(name, "").strip())}
    team = upload.fields.get("team", "")
    if team == BASELINE:
        members["role"] = BASELINE
    elif team:
        members["team"] = team
    return calls.loaded(SubmissionRequest, members)


def _checked(
    caller: Caller, slug: str, upload: Upload, asked: SubmissionRequest, again: Mapping[str, object]
) -> Response:
    """Check outputs, and show what that found if it is done soon."""
    context = calls.context()
    job_id, _ = validation.validate(context, caller, slug, asked, upload.key(asked, slug))
    view = jobs.wait_for_job(context, caller, job_id, calls.granted_wait(CHECK_WAIT) or 0)
    values = {**_submit_values(caller, slug, upload.fields), **again, **_check(view)}
    return answers.page("submit.html", **values)


def _check(view: runs.Shown[Job]) -> dict[str, object]:
    """Return what the templates of a check show.

    Raises:
        NotFound: the job is none of a check.
    """
    document = view.document
    results = document["results"]
    if results is not None and "valid" not in results:
        raise errors.NotFound(f"Unknown check {document['id']}.")
    return {"check": document, "version": view.etag}


def targets_of(document: Benchmark) -> list[str]:
    """Return what files are assigned to: the parts, or the texts of each for a format of several."""
    fields = stored_spec(document).format.format.fields
    parts: Sequence[str] = list(document["parts"])
    return [f"{part}/{side}" for part in parts for side in fields] if fields else list(parts)


def suffix_of(document: Benchmark) -> str:
    """Return how the names of files of a benchmark may end; a format of several texts tells nothing."""
    return next(iter(stored_spec(document).format.format.suffixes), "")


def _submit_values(
    caller: Caller, slug: str, fields: Mapping[str, str], query: SubmissionsQuery | None = None
) -> dict[str, Any]:
    """Return what the template of the form shows."""
    context = calls.context()
    values: dict[str, Any] = {
        "slug": slug,
        "benchmarks": (), "teams": (),
        "benchmark": None, "quota": None, "sent": (), "held": (), "next": None, "closed": "", "state": "",
        "kept": {name: fields.get(name, "") for name in KEPT},
        "key": new_key(), "problem": None, "check": None, "asked": (), "targets": (), "baseline": BASELINE,
        "filled": False, "most_bytes": context.config.max_upload_bytes, "most_zipped": benchmarks.MOST_ZIPPED,
    }  # fmt: skip
    if caller.organiser:
        listed = benchmarks.list_benchmarks(context, caller, BenchmarksQuery(limit=MOST_LISTED))
        values["benchmarks"] = [(each["id"], each["title"]) for each in listed.items]
    if not slug:
        return values
    if caller.organises(slug):
        known = teams.list_teams(context, caller, slug, PageQuery(limit=MOST_LISTED))
        values["teams"] = [(each["id"], each["name"]) for each in known.items]
    document = figures.benchmark_document(caller, slug)
    state, quotas = figures.state_of(document, context.now()), views.quotas_of_caller(context, caller, slug)
    if not caller.organises(slug):
        values |= _sent_values(caller, document, query)
    return values | {
        "benchmark": document, "inputs": inputs_of(caller, document),
        "parts_sent": targets_of(document), "suffix": suffix_of(document),
        "quota": views.quota_document(quotas, context.now()) if quotas else None, "state": state,
        "closed": _why_not(caller, document, state),
    }  # fmt: skip


def _sent_values(caller: Caller, document: Benchmark, query: SubmissionsQuery | None) -> dict[str, Any]:
    """Return what the list of a team's submissions shows."""
    context, slug = calls.context(), document["id"]
    page = submissions.list_submissions(
        context, caller, slug, replace(query or SubmissionsQuery(), limit=READ, include="main")
    )
    level = benchmarks.level_of(context, caller, slug)
    step = document["rounding"] or DEFAULT_STEP if level == "rounded" else None
    main = figures.ScoreNames(document, step)(document["main_score"])
    sent, trend = standing.sent_list(caller, slug, page.items, main, level)
    further = sent[LISTED - 1].item["id"] if len(sent) > LISTED else None
    sent = sent[:LISTED]
    bare = [str(row.item["id"]) for row in sent if document["leaderboard"]["ladder"] and not row.value]
    held = [name for name in bare if submissions.view_submission(context, caller, name).document["released"] is False]
    return {"sent": sent, "trend": trend, "main": main, "next": further, "held": held}


def inputs_of(caller: Caller, document: Benchmark) -> list[str]:
    """Return the parts of which the caller may download the words; none where they are not published (yet)."""
    parts = list(document["parts"])
    if document["publish_input"]:
        try:
            benchmarks.part_input(calls.context(), caller, document["id"], parts[0])
        except errors.NotFound:
            return []
        return parts
    return []


def _why_not(caller: Caller, document: Benchmark, state: str) -> str:
    """Return why nothing can be sent; empty where it can."""
    if not caller.allowed("submit"):
        return "You may look at submissions, not send them."
    if document["active_revision"] is None:
        return (
            "The gold standard cannot be used."
            if document["state"] == "failed"
            else "The gold standard is being checked."
        )
    if not caller.organises(document["id"]) and not figures.is_open(state):
        return "The benchmark is closed: nothing can be sent." if state == "closed" else f"The benchmark {state}."
    return ""


job_blueprint = answers.pages("job_form", "/jobs/new")
GOLD, OUTPUTS = "gold", "outputs"
"""Names of the fields of the files."""


@job_blueprint.get("")
def show_job_form() -> Response:
    """Show the form."""
    visitors.scorer()
    answers.query(requests.Query)
    return answers.page("job_form.html", **_job_form_values({}))


@job_blueprint.post("")
def send_job() -> Response:
    """Score files. What is wrong is shown below the form, which keeps the choices."""
    caller = visitors.scorer()
    upload = read_upload()
    try:
        asked = _job_of(upload)
        made = jobs.submit_job(calls.context(), caller, asked, upload.key(asked))
    except answers.REFUSED as error:
        return answers.refused("job_form.html", error, **_job_form_values(upload.fields), filled=upload.filled)
    return job.keep_key(answers.go_to(f"/j/{made.id}"), made.id, made.key)


def _job_form_values(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return what the template of the form shows."""
    formats = [(name, known.suffixes) for name, known in sorted(FORMATS.items()) if not known.fields]
    several = {name for name, known in FORMATS.items() if known.fields}
    usual = {FORMATS[name].usual_metric for name in several}
    return {
        "formats": formats,
        "metrics": [name for name in sorted(METRICS) if name not in usual],
        "chosen": {name: fields.get(name, "") for name in ("format", "metric")},
        "key": new_key(),
        "most_bytes": calls.context().config.max_upload_bytes,
        "problem": None,
    }


def _job_of(upload: Upload) -> JobRequest:
    """Return the request that the form stands for.

    Raises:
        Unprocessable: a file is missing, or a choice is invalid.
    """
    errors.refuse(upload.problems)
    golds, outputs = upload.files.get(GOLD, ()), upload.files.get(OUTPUTS, ())
    if len(golds) != 1:
        raise errors.invalid("missing-field", "/gold", "Choose one file with the gold standard.")
    if not outputs:
        raise errors.invalid("missing-field", "/systems", "Choose the output of at least one system.")
    named = upload.fields.get("format", "")
    read_as = named or _guessed(golds[0])
    if read_as not in FORMATS:
        detail = f"Unknown format {shown(read_as)!r}. Choose one of the list."
        raise errors.invalid("unknown-format", "/format", detail)
    # of the format's usual metric with the parameters that go with it
    usual, metric = FORMATS[read_as], upload.fields.get("metric", "")
    members: dict[str, object] = {
        "format": read_as,
        "gold": forms.checked(golds[0].text, "/gold"),
        "systems": [
            _system(number, name, file, "" if named else read_as)
            for number, (name, file) in enumerate(zip(_names(outputs), outputs, strict=True))
        ],
        "metrics": [usual.usual_entry() if metric in ("", usual.usual_metric) else metric],
    }
    return calls.loaded(job_schema(calls.context().config.max_systems), members)


def _system(number: int, name: str, file: File, gold_format: str) -> dict[str, object]:
    """Return one system of the request; where gold's format was guessed, its own format is guessed too."""
    own = format_of_name(file.name) if gold_format else None
    output = forms.checked(file.text, f"/systems/{number}/output")
    members: dict[str, object] = {"name": name, "output": output}
    return members if own in (None, gold_format) else {**members, "format": own}


def _guessed(gold: File) -> str:
    """Return the format that the name of gold's file stands for.

    Raises:
        Unprocessable: it stands for none.
    """
    known = format_of_name(gold.name)
    if known is None:
        detail = f"The suffix of {shown(gold.name)!r} does not name a format. Choose the format."
        raise errors.invalid("unknown-format", "/format", detail)
    return known


def _names(files: Sequence[File]) -> Iterable[str]:
    """Yield a name for each file: without suffixes, with a number where another file has it."""
    seen: dict[str, int] = {}
    suffixes = {suffix for known in FORMATS.values() for suffix in known.suffixes} | {".txt"}
    for file in files:
        plain = PurePosixPath(unpacked_name(file.name)).name
        suffix = max((each for each in suffixes if plain.endswith(each) and plain != each), key=len, default="")
        stem = plain.removesuffix(suffix)[: MAX_NAME - 10] or "output"
        seen[stem] = seen.get(stem, 0) + 1
        name = stem if seen[stem] == 1 else f"{stem}-{seen[stem]}"
        seen.setdefault(name, 1)
        yield "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name)
