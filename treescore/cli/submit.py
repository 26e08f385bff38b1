"""`treescore submit`: send outputs to a benchmark, wait for the score, end with a status that a CI job can use."""

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import click
import orjson
from rich import progress as bars
from rich.console import Console

from treescore.cli import verdicts
from treescore.cli.exits import NO_SERVICE, OK, WRONG_INPUT, Stopped, epilog
from treescore.cli.options import fail_below_option
from treescore.cli.parts import PartFile, PartFiles, files_by_part, paths_of, texts_of
from treescore.cli.service import asking, ending, service_options, show, token_of
from treescore.client import UNFINISHED, Client, ClientError, Document, Progress, problem_lines

BEST = "best"
OPPONENTS = ("compare_with", "fail_if_worse_than", "not_worse_than")
"""Options that name a submission to compare with, or the best one."""
RECEIVED = "received"
"""The final state where the feedback level shows no more."""
EXIT = epilog(
    "treescore submit --benchmark demo en.conllu",
    "treescore submit --benchmark demo outputs/*.conllu --name v7",
    "treescore submit --benchmark demo en=system.conllu de=other.conllu",
    "treescore submit --benchmark demo en.conllu --fail-below ud.las_f1=0.85",
    "treescore submit --benchmark demo en.conllu --not-worse-than best",
    status_0="scored, and every threshold kept",
    status_1="a threshold was missed",
    status_2="the command or the output is wrong; each problem is a line on standard error",
    status_3="refused: no valid token, quota used up, benchmark closed; or the feedback level hides what a threshold "
    "needs, or a comparison is not available",
    status_4="the service did not answer, failed, or did not finish within --timeout",
)


@click.command(epilog=EXIT)
@click.argument("outputs", nargs=-1, required=True, metavar="[PART=]FILE...")
@click.option("--benchmark", "slug", required=True, help="Id of the benchmark.")
@click.option("--name", help="Name of this submission, as `biaffine-7`.")
@click.option("--notes", help="Anything to keep beside it, as the commit.")
@click.option("--run-of", metavar="NAME", help="Another training run of the system whose first run has this name.")
@click.option("--compare-with", metavar="SUB", help="Test the difference to a submission, or to the `best` one.")
@fail_below_option
@click.option("--fail-if-worse-than", metavar="SUB", help="Fail where it is significantly worse than this, or `best`.")
@click.option(
    "--not-worse-than",
    metavar="SUB",
    help="Fail unless it is shown not to be worse than this, or `best`, by more than the benchmark's margin.",
)
@click.option("--validate-only", is_flag=True, help="Have the files checked only: an attempt, no score.")
@service_options
def submit(**given: Any) -> None:
    """Send outputs to a benchmark, wait, and print score, interval, rank and whether a difference is real.

    The token is read from TREESCORE_TOKEN. A benchmark of one part takes one FILE. Of others a FILE that is named
    after its part (en.conllu, or en.source.txt for a format of several texts) goes to it, and so do the files of a
    folder or zip archive; of any other name it is given as PART=FILE, or PART/source=FILE. The same files under the
    same name are never submitted twice, however often the command runs.
    """
    with ending(as_json=given["as_json"]):
        sys.exit(_run(**given))


def _run(**given: Any) -> int:
    token = token_of("your team's")
    with asking(given["url"], token, given["timeout"], "treescore-submit") as client:
        benchmark = client.benchmark(given["slug"]).get()
        files = files_by_part(given["outputs"], benchmark)
        if given["validate_only"]:
            return _validate(client, given, files)
        if given["not_worse_than"] is not None:
            verdicts.require_margin(benchmark)
        thresholds = verdicts.resolved(client, benchmark, given["thresholds"])
        best = _best(client, given)
        submission = _final_state(client, given, token, files)
        opponents = _opponents(given, best, submission["id"])
        outcome = verdicts.outcome_of(client, benchmark, submission, thresholds, opponents)
        return _report(outcome, files, as_json=given["as_json"])


def _meta(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ("name", "notes", "run_of") if given[name]}


def _key(given: Mapping[str, Any], token: str, files: PartFiles) -> str:
    """Return a key of benchmark, team, name and files, so that a repeated command submits nothing twice."""
    state = hashlib.sha256()

    def feed(*values: bytes) -> None:
        for value in values:
            state.update(len(value).to_bytes(8, "big") + value)

    feed(given["slug"].encode(), hashlib.sha256(token.encode()).digest(), orjson.dumps(_meta(given)))
    for name, output in sorted(files.items()):
        feed(name.encode(), _digest_of(output))
    return f"submit-{state.hexdigest()}"


def _digest_of(output: PartFile) -> bytes:
    if isinstance(output.text, bytes):
        return hashlib.sha256(output.text).digest()
    try:
        with output.text.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        raise Stopped(WRONG_INPUT, f"{output.path}: {error.strerror}.") from error


def _validate(client: Client, given: Mapping[str, Any], files: PartFiles) -> int:
    """Have the files checked; return status 0 where they would be scored."""
    with _progress() as bar:
        bar("sending", 0, None)
        at = {"benchmark": given["slug"]}
        query = {"validate_only": "true"}
        watch = partial(_show, bar)
        answer = client.call("submit", at, query=query, json=_meta(given), texts=texts_of(files), progress=watch)
        job = Document.of(answer)
        if job["state"] in UNFINISHED:
            job = client.job(job).wait(check=False, progress=watch)
    if job["state"] != "succeeded":
        raise _failed(job.get("failure"), files)
    results = job["results"]
    # `valid` is null at the feedback level `none`
    status = WRONG_INPUT if results["valid"] is False else OK
    lines, problems = [], []
    for part, checked in results["parts"].items():
        size = f", {checked['sentences']} sentences, {checked['words']} words" if "words" in checked else ""
        lines.append(f"{part}: {checked['state']}{size}")
        if checked.get("failure") is not None:
            problems += _failure_lines(checked["failure"], part, files)
    show(status, results, lines, problems, as_json=given["as_json"])
    return status


def _best(client: Client, given: Mapping[str, Any]) -> list[str]:
    """Return the best two submissions on the board before this one is sent, where an option says `best`.

    Two, because a repeated command may find its own submission at the top.
    """
    if BEST not in (given[option] for option in OPPONENTS):
        return []
    try:
        rows = client.benchmark(given["slug"]).board()["rows"]
    except ClientError as error:
        if error.status in (401, 403, 404):
            return []
        raise
    return [row["submission"] for row in rows if row["rank"] is not None][:2]


def _opponents(given: Mapping[str, Any], best: Sequence[str], own: str) -> dict[str, str | None]:
    """Return the submission that each option compares with; None where `best` finds no other."""
    other = next((each for each in best if each != own), None)
    wanted = {option: given[option] for option in OPPONENTS if given[option] is not None}
    return {option: other if value == BEST else value for option, value in wanted.items()}


def _final_state(client: Client, given: Mapping[str, Any], token: str, files: PartFiles) -> Document:
    """Submit and wait; return the final state. A submission that the service failed to score is retried once."""
    key = {"Idempotency-Key": _key(given, token, files)}
    with _progress() as bar:
        bar("sending", 0, None)
        watch = partial(_show, bar)
        at = {"benchmark": given["slug"]}
        answer = client.call("submit", at, headers=key, json=_meta(given), texts=texts_of(files), progress=watch)
        submission: Document = Document.of(answer)
        own = client.submission(submission)
        if submission["state"] in UNFINISHED:
            submission = own.wait(check=False, progress=watch)
        elif answer.replayed and (submission.get("failure") or {}).get("kind") == "service":
            own.retry()
            submission = own.wait(check=False, progress=watch)
    if submission["state"] == "failed":
        raise _failed(submission.get("failure"), files)
    if submission["state"] not in ("succeeded", RECEIVED):
        raise Stopped(NO_SERVICE, f"{submission['id']} is {submission['state']}. Submit it under another name.")
    return submission


def _failed(failure: Mapping[str, Any] | None, files: PartFiles) -> Stopped:
    known = failure or {"kind": "service", "detail": "Scoring failed; the service gives no reason."}
    return Stopped(NO_SERVICE if known.get("kind") == "service" else WRONG_INPUT, *_failure_lines(known, "", files))


def _failure_lines(failure: Mapping[str, Any], part: str, files: PartFiles) -> list[str]:
    errors = [{"part": part, **error} if part else error for error in failure.get("errors") or ()]
    if not errors:
        return [str(failure.get("detail") or failure.get("title"))]
    return problem_lines(errors, paths_of(files), failure.get("errors_total", len(errors)))


def _report(outcome: verdicts.Outcome, files: PartFiles, *, as_json: bool) -> int:
    """Print the outcome; return the exit status."""
    problems = []
    for part, failure in outcome.failed_parts.items():
        problems += _failure_lines(failure, part, files)
    status = outcome.status
    if status == OK and problems:
        status = WRONG_INPUT
    lines = () if as_json else verdicts.report_lines(outcome.document)
    show(status, outcome.document, lines, [*problems, *outcome.complaints], as_json=as_json)
    return status


@contextmanager
def _progress() -> Iterator[Any]:
    """Show a bar on standard error, where that is a terminal. Yields a function of text, done and total."""
    console = Console(stderr=True)
    columns = (bars.TextColumn("{task.description}"), bars.BarColumn(), bars.TimeElapsedColumn())
    with bars.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=None)

        def show(text: str, done: int, total: int | None) -> None:
            progress.update(task, description=text, completed=done, total=total)

        yield show


def _show(bar: Any, progress: Progress) -> None:
    if progress.ahead is not None:
        bar(f"waiting, {progress.ahead} ahead, about {progress.eta_seconds or 0:g} s", 0, None)
    else:
        bar(progress.step or progress.stage, progress.done, progress.total)
