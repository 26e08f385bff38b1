"""Serve boards: the leaderboard, its scores by part as a matrix and as lines, and comparisons of submissions."""

from dataclasses import replace

from flask import Blueprint, Response

from service.api import answers, calls
from service.api.calls import Body, answer, asks, item_page, texts
from service.caller import Caller
from service.contract import comparisons as compared
from service.contract import leaderboards as boards
from service.contract.common import PageQuery
from service.contract.derive import Page
from service.usecases import comparison_views, comparisons
from service.usecases.boards import places, viewing
from service.usecases.boards.viewing import Document, Sheet, sheet_view, wait_for_sheet
from treescore.render.forms import FORMATS

blueprint = Blueprint("leaderboard", __name__, url_prefix="/v1/benchmarks/<benchmark>/leaderboard")


@blueprint.get("")
@asks(
    answer("The leaderboard.", boards.Leaderboard, *texts(boards.SHEET_FORMATS)),
    also="shown kept page forms invalid poll",
)
def get_leaderboard(caller: Caller, query: boards.LeaderboardQuery, benchmark: str) -> Response:
    """Get the leaderboard with its significance tests.

    Rows show the current scores. Results of significance tests are null, and `significance.pending` is true, until a
    worker has computed them. Below feedback level `gold` figures are rounded. A score that the benchmark does not list
    and a part of few sentences answer 403 (`not-shown`); so does another `pick` than the benchmark's, unless an
    organiser asks (`fixed-question`), and the private share of a split test set before the benchmark closes. `format`
    or `Accept` selects the media type. `part` may also be a track, `pooled` or `macro`.

    With `Prefer: wait` and `If-None-Match` it answers when the leaderboard has changed, with `Prefer: wait` alone when
    its significance is computed.
    """
    return sheet_response(caller, benchmark, viewing.BOARD_SHEET, query)


def sheet_response(caller: Caller, benchmark: str, sheet: Sheet[Document], query: boards.BoardQuery) -> Response:
    """Return a board as a sheet shows it; with a wait, once it has changed."""
    query = replace(query, format=calls.form_of(boards.SHEET_FORMATS, query.format))
    about = (benchmark, sheet, query)
    return calls.polled(sheet_view, wait_for_sheet, caller, *about, kind=answers.Kind.PUBLIC, ends=False)


matrix_blueprint = Blueprint("matrix", __name__, url_prefix="/v1/benchmarks/<benchmark>")


@matrix_blueprint.get("/matrix")
@asks(answer("The matrix.", boards.Matrix, *texts(boards.SHEET_FORMATS)), also="shown kept page forms invalid poll")
def get_matrix(caller: Caller, query: boards.MatrixQuery, benchmark: str) -> Response:
    """Get the score that ranks, of every row of the leaderboard in every part.

    The rows are those of the leaderboard, ranked by the same score and part; `part` of a track gives the parts of the
    track alone. `values` are in the order of `parts`, null where undefined, missing or hidden. What the feedback level
    hides on the leaderboard is refused or hidden here. It waits as the leaderboard does. CSV and TSV have a row for
    each submission, Markdown and LaTeX one for each part.
    """
    return sheet_response(caller, benchmark, viewing.MATRIX_SHEET, query)


@matrix_blueprint.get("/scores")
@asks(
    answer("A page of scores.", Page[boards.ScoreLine], *texts(calls.ITEM_FORMS)), also="shown kept page forms invalid"
)
def list_scores(caller: Caller, query: boards.ScoresQuery, benchmark: str) -> Response:
    """List every score of every part, of all rows of the leaderboard.

    A line for each score of each part, of each track, `macro` and `pooled`, best row first, as far as the feedback
    level shows them: hidden parts have no lines, rows without scores neither. `part` of a track gives its parts and
    their mean; a part itself alone. Organisers get all submissions with `pick=all`. A page has whole rows and at most
    50,000 lines; `Link` leads to the next one.
    """
    page = viewing.list_scores(calls.context(), caller, benchmark, query)
    return item_page(page, query.format, answers.Kind.PUBLIC)


@matrix_blueprint.get("/badge.svg")
@asks(answer("The badge.", "image/svg+xml"), also="shown kept")
def get_badge(caller: Caller, query: boards.BadgeQuery, benchmark: str) -> Response:
    """Get the rank of a team as a picture.

    It says `rank 3 of 26`, of the rows of the leaderboard that have a rank, which baselines have not; `not ranked` for
    a team without a rank, and below feedback level `rounded`. On an anonymous leaderboard the badge of another team
    answers 403 (`not-shown`).
    """
    return answers.conditional(places.badge(calls.context(), caller, benchmark, query), kind=answers.Kind.PUBLIC)


@matrix_blueprint.get("/history")
@asks(answer("A page of scores.", Page[boards.HistoryEntry]), also="shown kept page invalid")
def get_history(caller: Caller, query: boards.HistoryQuery, benchmark: str) -> Response:
    """List what a team reached, oldest first.

    The team itself and organisers see all of its submissions whose scores they see; others see the row that stands on
    the leaderboard now, since what else a team tried is its own affair. On an anonymous leaderboard the history of
    another team answers 403 (`not-shown`).
    """
    return answers.page(places.history(calls.context(), caller, benchmark, query), kind=answers.Kind.PUBLIC)


comparison_blueprint = Blueprint("comparisons", __name__, url_prefix="/v1")


@comparison_blueprint.post("/benchmarks/<benchmark>/comparisons")
@asks(
    answer(
        "The comparison finished within the wait.",
        compared.StoredComparison,
        status=201,
        examples={"board": "ComparisonAnswer"},
    ),
    answer("The comparison is stored and not finished yet.", compared.StoredComparison, status=202),
    scopes=("submit",),
    also="kept wait makes tagged quota limited",
    body=Body(json=compared.ComparisonRequest, examples={"board": "ComparisonRequest"}),
)
def ask_comparison(caller: Caller, benchmark: str) -> Response:
    """Test the differences between submissions.

    The id is a digest of the request: an equal request returns the stored comparison. Only organisers choose settings
    and `pick`. A team compares the leaderboard, some of its rows, or two of its own submissions, one of which is its
    row unless the benchmark has a margin. A new comparison counts towards `comparisons_per_day`, except the leaderboard
    by the main score or the first score of another metric.
    """
    context = calls.context()
    comparison = comparisons.ask(context, caller, benchmark, calls.body(compared.ComparisonRequest))
    wait_for = comparison_views.wait_for_comparison
    response = calls.made(wait_for, caller, comparison, location=f"/v1/comparisons/{comparison}")
    response.headers.update(comparisons.rate_limits(context, caller, benchmark))
    return response


@comparison_blueprint.get("/benchmarks/<benchmark>/comparisons")
@asks(answer("A page of comparisons.", Page[compared.ComparisonSummary]), also="shown kept page")
def list_benchmark_comparisons(caller: Caller, query: PageQuery, benchmark: str) -> Response:
    """List the comparisons of a benchmark, by id.

    The list does not show results. Teams see what they asked and what is behind the leaderboard; others only the
    latter.
    """
    return answers.page(comparison_views.list_comparisons(calls.context(), caller, benchmark, query))


@comparison_blueprint.get("/comparisons/<comparison>")
@asks(answer("The comparison.", compared.StoredComparison, *texts(FORMATS)), also="shown kept forms poll invalid")
def get_comparison(caller: Caller, query: compared.ComparisonQuery, comparison: str) -> Response:
    """Get a comparison.

    Media types other than JSON answer 422 until the comparison has finished. Teams get what they asked while its
    submissions may be compared; all callers get the comparison behind a leaderboard that they may read. Below feedback
    level `gold` figures are rounded, and counts, details of the tests and what `command` reads are left out.
    """
    form = calls.form_of(FORMATS, query.format)
    look, wait_for = comparison_views.view_comparison, comparison_views.wait_for_comparison
    if form == "json":
        return calls.polled(look, wait_for, caller, comparison, kind=answers.Kind.PUBLIC)
    wait = calls.wait_seconds()
    if wait:
        wait_for(calls.context(), caller, comparison, wait)
    return answers.conditional(look(calls.context(), caller, comparison, form), wait, answers.Kind.PUBLIC)


@comparison_blueprint.delete("/comparisons/<comparison>")
@asks(scopes=("submit",), also="kept conflict erases")
def delete_comparison(caller: Caller, comparison: str) -> Response:
    """Delete a comparison.

    For the team that asked and for organisers. The used quota is not returned. A comparison that the leaderboard shows
    or another team asked stays for them, unless an organiser deletes it.
    """
    comparisons.delete_comparison(calls.context(), caller, comparison)
    return answers.nothing()
