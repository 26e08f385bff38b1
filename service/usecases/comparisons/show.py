"""Show and list comparisons, as far as the caller may compare their submissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypedDict

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import Gone, NotFound, Unprocessable
from service.policy import gate
from service.policy.gate import Level
from service.render.units import percent_of
from service.requests import PageQuery
from service.store import boards, comparisons, runs, submissions, teams
from service.store.benchmarks import Benchmark
from service.store.comparisons import Comparison
from service.store.submissions import Submission
from service.usecases.access.access import benchmark_of, storable, team_of
from service.usecases.boards.viewing import Viewer
from service.usecases.comparisons.rules import Reach, reach_of, reader_of
from service.usecases.runs.views import Page, View, body_view, json_view, moment
from service.usecases.runs.waiting import wait_for
from treescore.core.params import Json
from treescore.evaluation.benchmark import COMMAND
from treescore.render import render_comparisons

_READ_AT_ONCE = 50
MARGIN = "margin"
"""Member of the test of non-inferiority beside the names of the systems."""


class Label(TypedDict):
    """Team and name of a submission."""

    team: str | None
    team_name: str | None
    name: str | None


@dataclass(frozen=True, slots=True)
class Visible:
    """A comparison that a caller may see.

    Attributes:
        comparison: the question with its answer.
        known: its submissions by id.
        viewer: how the caller sees the board.
        level: at which the caller sees the benchmark.
        by_part: whether the caller sees figures of every part.
    """

    comparison: Comparison
    known: Mapping[str, Submission]
    viewer: Viewer
    level: Level
    by_part: bool = True


def visible_comparison(db: Connection, context: Context, caller: Caller, name: str) -> Visible:
    """Return a comparison that the caller may see.

    Raises:
        NotFound: it does not exist, was deleted, or is neither the caller's nor behind a board that the caller sees.
        Gone: it was deleted, and the caller is an organiser.
        Forbidden: the caller's team asked it, and the benchmark does not show it any more.
    """
    comparison = _stored_comparison(db, context, caller, name) if storable(name) else None
    unknown = NotFound(f"Unknown comparison {name}.")
    if comparison is None:
        raise unknown
    benchmark = benchmark_of(db, comparison.benchmark_id)
    if not gate.knows(benchmark, caller):
        raise unknown
    known = submissions.many(db, comparison.question["submissions"])
    level = gate.level_of(benchmark, caller, context.now())
    if caller.organiser:
        return Visible(comparison, known, reader_of(context, benchmark, caller), level)
    team = team_of(caller, benchmark.id)
    asked = team is not None and bool(comparisons.asked_by(db, [name], team))
    # an id follows from its question: a refusal would tell who guesses it that the board asks the question, so which
    # submissions are its rows
    if not asked and level < Level.SCORES:
        raise unknown
    viewer = reader_of(context, benchmark, caller)
    reach = reach_of(db, caller, viewer, comparison.question)
    if not asked and not reach.shown:
        raise unknown
    reach.require_shown()
    if not _readable(comparison, known, reach, asked=asked):
        raise unknown
    return Visible(comparison, known, viewer, level, reach.by_part)


def _readable(comparison: Comparison, known: Mapping[str, Submission], reach: Reach, *, asked: bool) -> bool:
    """Return whether a caller may read a comparison: the board's, or one that its team asked and may still know of."""
    if reach.is_behind(comparison.id):
        return True
    compared = comparison.question["submissions"]
    return asked and not reach.held(compared) and all(reach.knows(known.get(each)) for each in compared)


def _stored_comparison(db: Connection, context: Context, caller: Caller, name: str) -> Comparison | None:
    """Return a comparison that was asked or is behind a board; None for unknown and deleted ones.

    Raises:
        Gone: it was deleted, and the caller is an organiser.
    """
    asked = comparisons.get(db, name)
    if asked is not None and asked.deleted_at is not None and caller.organiser:
        raise Gone(f"The comparison {name} was deleted.")
    if asked is not None:
        return asked if asked.deleted_at is None else None
    kept = boards.of_comparison(db, name)
    if kept is None or kept.body["question"] is None or kept.body["comparison"] is None:
        return None
    question = kept.body["question"]
    run = None if kept.run_id is None else runs.get(db, kept.run_id)
    return Comparison(
        id=name,
        benchmark_id=question["benchmark"],
        revision=question["revision"],
        question=question,
        run_id=kept.run_id or "",
        document={"comparison": dict(kept.body["comparison"]), "failure": None},
        created_at=context.now() if run is None else run.created_at,
    )


def view_comparison(context: Context, caller: Caller, name: str, form: str = "json") -> View:
    """Show a comparison; in other formats than JSON once it is answered.

    Raises:
        NotFound: it does not exist, or the caller may not see it.
        Forbidden: the benchmark does not show this caller significance.
        Unprocessable: the comparison is not answered, so that only JSON can show it.
    """
    with context.store.read() as db:
        seen = visible_comparison(db, context, caller, name)
        run = runs.get(db, seen.comparison.run_id)
        labels = _labels(db, seen, caller)
    document = gate.comparison_view(seen.level, _document(context, seen, run, labels), by_part=seen.by_part)
    if form == "json":
        return json_view(document, final=run is None or run.final, state=str(document["state"]))
    if "pairs" not in document:
        raise Unprocessable(f"The comparison {name} is {document['state']}. Only JSON can show that.")
    shares = percent_of([str(document["score"])], form)
    shown = render_comparisons([labelled(document, shown_names(labels))], form, shares=shares)
    return body_view(shown.content, shown.media_type)


def wait_for_comparison(
    context: Context, caller: Caller, name: str, seconds: float, etag: str | None = None
) -> View:  # fmt: skip
    """Show a comparison once it is answered, or differs from `etag`, or the time is over."""
    with context.store.read() as db:
        run_id = visible_comparison(db, context, caller, name).comparison.run_id
    return wait_for(context, run_id, lambda: view_comparison(context, caller, name), seconds, etag)


def list_comparisons(context: Context, caller: Caller, slug: str, query: PageQuery) -> Page:
    """List the comparisons of a benchmark that the caller may see and that were asked, by id."""
    items: list[dict[str, object]] = []
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        viewer = reader_of(context, benchmark, caller)
        after, more = query.cursor, True
        while more and len(items) <= query.limit:
            rows = comparisons.listing(db, slug, after, _READ_AT_ONCE)
            more = len(rows) == _READ_AT_ONCE
            after = rows[-1].id if rows else after
            under_way = runs.many(db, [row.run_id for row in rows])
            seen = _visible_of(db, caller, viewer, benchmark, rows)
            items += [_head(context, row, under_way.get(row.run_id)) for row in seen]
    return Page(items[: query.limit], str(items[query.limit - 1]["id"]) if len(items) > query.limit else None)


def _visible_of(
    db: Connection, caller: Caller, viewer: Viewer, benchmark: Benchmark, rows: Iterable[Comparison]
) -> list[Comparison]:
    """Return those of some comparisons that the caller may see."""
    rows = list(rows)
    if caller.organiser:
        return rows
    team = team_of(caller, benchmark.id)
    asked = set() if team is None else comparisons.asked_by(db, [row.id for row in rows], team)
    reaches: dict[tuple[object, ...], Reach] = {}
    seen = []
    for row in rows:
        question = row.question
        members = (question["score"], question["part"], tuple(question.get("parts", ())), question.get("share"))
        about = (row.revision, *members)
        if about not in reaches:
            reaches[about] = reach_of(db, caller, viewer, row.question)
        known = submissions.many(db, row.question["submissions"])
        if reaches[about].shown and _readable(row, known, reaches[about], asked=row.id in asked):
            seen.append(row)
    return seen


def _head(context: Context, comparison: Comparison, run: runs.Run | None) -> dict[str, object]:
    question = comparison.question
    ended = None if run is None else run.finished_at
    days = context.config.retain_comparisons_days
    return {
        "id": comparison.id,
        "benchmark": comparison.benchmark_id,
        "revision": comparison.revision,
        "state": runs.SUCCEEDED if run is None else run.state,
        "created_at": moment(comparison.created_at),
        "finished_at": moment(ended),
        "expires_at": moment(ended + timedelta(days=days)) if ended is not None and days else None,
        "score": question["score"],
        "part": question["part"],
        "split": question.get("share"),
        "submissions": question["submissions"],
        "settings": question["settings"],
    }


def _document(context: Context, seen: Visible, run: runs.Run | None, labels: Mapping[str, Label]) -> dict[str, Json]:
    """Return the whole answer: `systems` and `pairs` name submissions by their ids."""
    answer = seen.comparison.document or {}
    computed = answer.get("comparison") or {}
    return {
        **computed,
        **_head(context, seen.comparison, run),
        "progress": None if run is None else run.progress,
        "labels": labels,
        "command": COMMAND if "question" in computed else None,
        "failure": gate.failure_view(seen.level, answer["failure"]) if answer.get("failure") else None,
    }


def _labels(db: Connection, seen: Visible, caller: Caller) -> dict[str, Label]:
    """Return team and name of each submission, if the viewer sees them on the board or it is the caller's own."""
    slug = seen.comparison.benchmark_id
    known = list(seen.known.values())
    own = team_of(caller, slug)
    ids = {each.team_id for each in known if each.team_id is not None and (seen.viewer.named or each.team_id == own)}
    names = teams.names(db, slug, ids)
    return {
        each.id: Label(
            team=each.team_id if each.team_id in names else None,
            team_name=names.get(each.team_id or ""),
            name=each.name if each.team_id is None or each.team_id in names else None,
        )
        for each in known
    }


def labelled(document: Mapping[str, Json], shown: Mapping[str, str]) -> dict[str, Json]:
    """Return a comparison for people: what `shown_names` returned instead of ids."""
    return {
        **document,
        "systems": [{**system, "name": shown[system["name"]]} for system in document["systems"]],
        "pairs": [_renamed(pair, shown) for pair in document["pairs"]],
        "untested": [{**each, "name": shown[each["name"]]} for each in document["untested"]],
    }


def shown_names(labels: Mapping[str, Label], *, short: bool = False) -> dict[str, str]:
    """Return what people read instead of the ids of submissions: different names for different ones.

    Args:
        labels: of the submissions.
        short: leave out the name of a submission that is its team's only one.
    """
    words: dict[str, str] = {}
    teams = Counter(label["team_name"] for label in labels.values())
    for each, label in labels.items():
        alone = short and teams[label["team_name"]] == 1
        said = ": ".join(part for part in (label["team_name"], None if alone else label["name"]) if part)
        words[each] = said or label["name"] or each
    counted = Counter(words.values())
    counted[MARGIN] += 1  # a name beside those of the two systems
    return {each: f"{said} ({each})" if counted[said] > 1 else said for each, said in words.items()}


def _renamed(pair: Mapping[str, Json], shown: Mapping[str, str]) -> dict[str, Json]:
    """Return a pair with names instead of ids, also those under which it has the tests of each side."""
    renamed = {**pair, "a": shown[pair["a"]], "b": shown[pair["b"]]}
    if pair.get("noninferiority") is not None:
        renamed["noninferiority"] = {shown.get(name, name): value for name, value in pair["noninferiority"].items()}
    return renamed
