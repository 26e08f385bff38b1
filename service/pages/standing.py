"""How submissions stand: one on the board and beside another of its team, and those of a team over time."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from markupsafe import Markup

from service import render
from service.api import calls
from service.caller import Caller
from service.contract.benchmarks import Benchmark
from service.contract.comparisons import StoredComparison
from service.contract.leaderboards import Leaderboard, LeaderboardQuery
from service.contract.submissions import MainScore, Submission, SubmissionsQuery
from service.errors import NotFound, ServiceError
from service.pages.answers import drawn
from service.pages.board import row_name
from service.pages.figures import NamedScore
from service.policy.gate import LEVELS, Level
from service.usecases import comparisons
from service.usecases.boards.viewing import leaderboard
from service.usecases.comparison_views import said_with, shown_names
from service.usecases.submissions import submissions
from treescore.core.wording import p_words
from treescore.render.crosstable import bounds, shown_interval
from treescore.render.dot_table import trend_svg
from treescore.render.drawing import ranks_words

MOST_OTHERS = 50
"""Other submissions of the team that can be chosen."""
UNNAMED = "Unnamed submission"
OTHER = "a"
"""Names the other submission of the team beside which one is shown, in addresses and forms."""


class Step(NamedTuple):
    """How far a submission is from another one: its difference with its sign, and p where a test is shown."""

    name: str
    difference: str
    p: str


class Place(NamedTuple):
    """Where a submission stands on the board.

    Attributes:
        row: the submission that the row is called after.
        system: whether the row is of several runs.
        rank: its own, of so many `ranked` rows.
        tested: whether its differences to others are tested.
        span: ranks that the tests leave open; empty where it is the rank alone.
        steps: to the rows with a rank next to it.
        runs: of the system, of whose mean all this is; 1 for a single one, and where that is not shown.
        mean: of them, as written.
    """

    row: str
    system: bool
    rank: int
    ranked: int
    tested: bool
    span: str
    steps: Sequence[Step]
    runs: int
    mean: str


def board_of(caller: Caller, slug: str) -> Leaderboard | None:
    """Return the board as the caller sees it; None before there is one."""
    try:
        return leaderboard(calls.context(), caller, slug, LeaderboardQuery()).document
    except ServiceError:
        return None


def place_of(
    board: Leaderboard | None, document: Submission, score: NamedScore, system: Collection[str]
) -> Place | None:
    """Return where a submission stands; None where the board has no rank for it, or ranks by another score.

    Args:
        board: as the caller sees it.
        document: of the submission.
        score: the main one.
        system: the runs of the submission's system, of whose mean a row is.
    """
    if board is None or board["score"] != score.address:
        return None
    rows = [row for row in board["rows"] if row["rank"] is not None]
    at = next((at for at, row in enumerate(rows) if row["submission"] in (document["id"], *system)), None)
    if at is None:
        return None
    own = rows[at]
    near = [*((each, each["p_next"]) for each in rows[max(0, at - 1) : at]),
            *((each, own["p_next"]) for each in rows[at + 1 : at + 2])]  # fmt: skip
    steps = [
        Step(f"rank {row['rank']}" if board["anonymous"] else row_name(row), difference, p_words(p))
        for row, p in near
        if (difference := _difference(score, own["score"], row["score"]))
    ]
    tested_beside = bool(own["tested"]) and bool(board["significance"]["pairs"])
    span = ranks_words(own["rank_interval"])
    runs = 1 if own["runs"] is None else own["runs"]["count"]
    span = span if span != str(own["rank"]) else ""
    mean, several = score.figures.value(own["score"]), len(system) > 1
    return Place(own["submission"], several, own["rank"] or 0, len(rows), tested_beside, span, steps, runs, mean)


class Tested(NamedTuple):
    """The stored test of two submissions.

    Attributes:
        pending: whether it is not answered yet.
        difference, interval: of the first less the second, as written; empty without an answer.
        p: after the correction.
        significant: by its alpha.
        failure: why it has no answer.
        notes: of the comparison, with names.
    """

    pending: bool
    difference: str = ""
    interval: str = ""
    p: str = ""
    significant: bool = False
    failure: str = ""
    notes: Sequence[str] = ()


def tested(answer: StoredComparison, a: str, b: str, score: NamedScore) -> Tested:
    """Return what a comparison says of two of its submissions."""
    if answer["failure"] is not None:
        return Tested(pending=False, failure=answer["failure"]["detail"])
    pair = next((each for each in answer.get("pairs", ()) if {each["a"], each["b"]} == {a, b}), None)
    if pair is None:
        return Tested(pending=answer["state"] in ("queued", "running"))
    sign = 1 if pair["a"] == a else -1
    low, high = (None if end is None else sign * end for end in bounds(shown_interval(pair))[::sign])
    difference, p, names = pair.get("difference"), pair.get("p_adjusted"), shown_names(answer["labels"])
    return Tested(
        pending=False,
        difference="" if difference is None else score.figures.difference(sign * difference),
        interval=score.figures.span(low, high),
        p=p_words(p),
        significant=p is not None and p <= answer["alpha"],
        notes=[said_with(names, each) for each in render.claims_of_pair(answer, pair)],
    )


def others_of(caller: Caller, document: Submission) -> list[Mapping[str, Any]]:
    """Return the team's other scored submissions, newest first; none where the level shows no scores.

    Of very many those that were sent before this one come first.
    """
    if document["scores"] is None or document["team"] is None:
        return []
    asked = SubmissionsQuery(limit=MOST_OTHERS, team=document["team"], state="succeeded")
    listed = partial(submissions.list_submissions, calls.context(), caller, document["benchmark"])
    earlier = listed(replace(asked, cursor=document["id"])).items
    later = [each for each in listed(asked).items if str(each["id"]) > document["id"]]
    return [*later[: MOST_OTHERS - len(earlier)], *earlier]


def beside(
    caller: Caller, document: Submission, asked: str | None, benchmark: Benchmark, board: Leaderboard | None,
    score: NamedScore, level: str,
) -> dict[str, Any]:  # fmt: skip
    """Return what the template shows of a submission beside another one, by default the one that was sent before it.

    Args:
        caller: who looks.
        document: of the submission.
        asked: the id of the other one.
        benchmark: of both.
        board: as the caller sees it.
        score: the main one.
        level: the caller's feedback level.

    Raises:
        NotFound: the other one is none of its team.
    """
    others = others_of(caller, document)
    shown: dict[str, Any] = {
        "others": others, "other": None, "step": None, "test": None, "asks": False, "refused": False,
    }  # fmt: skip
    before = next((each["id"] for each in others if str(each["id"]) < document["id"]), None)
    chosen = asked or before
    if chosen is None or document["scores"] is None:
        return shown
    other = submissions.view_submission(calls.context(), caller, chosen).document
    if (other["benchmark"], other["team"]) != (document["benchmark"], document["team"]):
        raise NotFound(f"The team has no other submission {chosen[:80]!r}.")
    if all(each["id"] != chosen for each in others):
        others.append({"id": chosen, "name": other["name"]})
    test = None
    rows = set() if board is None else {row["submission"] for row in board["rows"]}
    pair = (document["id"], chosen)
    if LEVELS[level] >= Level.SCORES:
        found = comparisons.stored_pairs(calls.context(), caller, document["benchmark"], [pair]).get(pair)
        test = None if found is None else tested(found, *pair, score)
        # of two of its own a team asks where one is its row, or the benchmark has a margin
        margin = benchmark["leaderboard"]["margin"]
        may_ask = caller.organises(document["benchmark"]) or rows & set(pair) or margin is not None
        shown["asks"], shown["refused"] = found is None and bool(may_ask), found is None and not may_ask
    name = str(other["name"] or UNNAMED)
    difference = _difference(score, _main_value(document, score), _main_value(other, score))
    return shown | {
        "other": {"id": chosen, "name": name, "on_board": rows >= set(pair)},
        "step": Step(name, difference, "" if test is None else test.p) if difference else None,
        "test": test,
    }


class Sent(NamedTuple):
    """A submission in the list.

    Attributes:
        item: its summary.
        value: its main score as written.
        parts: of those that the benchmark has, how many were scored, where they are fewer.
        before: the id of the submission of its team before it; empty where there is none.
        difference: to that one.
        test: of the two, where it is stored.
    """

    item: Mapping[str, Any]
    value: str = ""
    parts: str = ""
    before: str = ""
    difference: str = ""
    test: Tested | None = None


def sent_list(
    caller: Caller, slug: str, items: Sequence[Mapping[str, Any]], score: NamedScore, level: str
) -> tuple[list[Sent], Markup | None]:
    """Return the rows of a list of submissions, newest first, and the line of their scores where they are one team's.

    Args:
        caller: who looks.
        slug: of the benchmark.
        items: their summaries, with main scores.
        score: the main one.
        level: the caller's feedback level.
    """
    values = {str(each["id"]): value for each in items if (value := _value(each["main"], score)) is not None}
    scored = [each for each in items if each["id"] in values]
    teams: dict[object, list[str]] = {}
    for each in scored:
        teams.setdefault(each["team"], []).append(each["id"])
    before = {a: b for team, names in teams.items() if team is not None for a, b in pairwise(names)}
    pairs = list(before.items()) if LEVELS[level] >= Level.SCORES else []
    found = comparisons.stored_pairs(calls.context(), caller, slug, pairs) if pairs else {}

    def row(item: Mapping[str, Any]) -> Sent:
        name = str(item["id"])
        value = values.get(name)
        if value is None:
            return Sent(item)
        earlier, (there, _, parts) = before.get(name, ""), item["scored_parts"].partition("/")
        answer = found.get((name, earlier))
        return Sent(
            item, score.figures.value(value), f"{there} of {parts}" if there != parts else "", earlier,
            _difference(score, value, values.get(earlier)),
            None if answer is None else tested(answer, name, earlier, score),
        )  # fmt: skip

    times = [(datetime.fromisoformat(each["created_at"]).timestamp(), values[each["id"]]) for each in scored]
    alone = len(teams) == 1 and len(times) > 1
    return [row(item) for item in items], drawn(trend_svg(times)) if alone else None


def _main_value(document: Submission, score: NamedScore) -> float | None:
    """Return the main score of a submission as the caller sees it; None where it was scored by another one."""
    return None if document["scores"] is None else _value(document["scores"]["main"], score)


def _value(main: MainScore | None, score: NamedScore) -> float | None:
    return None if main is None or main["score"] != score.address else main["value"]


def _difference(score: NamedScore, own: float | None, other: float | None) -> str:
    """Return the difference of two scores as they are shown; empty where one is missing."""
    return "" if own is None or other is None else score.figures.difference(own - other)
