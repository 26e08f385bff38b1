"""A split test set: before closing all figures are those over the public share, afterwards over the private one.

Figures over a share are held against a benchmark whose gold is the sentences of that share.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from sqlalchemy import select, update

from service.contract.common import PageQuery
from service.contract.comparisons import ComparisonRequest
from service.contract.leaderboards import HistoryQuery, LeaderboardQuery
from service.errors import Forbidden, NotFound, Unprocessable
from service.policy.figures import rounded_score
from service.requests import PRIVATE, PUBLIC
from service.store import benchmarks, boards, revisions, score_records
from service.store.artifacts import pack_json
from service.store.tables import results
from service.usecases.benchmarks.revisions import view_revision
from service.usecases.boards import ranking as board_module
from service.usecases.boards.places import history
from service.usecases.boards.ranking import board_of, comparison_id, question_of, rows_of
from service.usecases.boards.viewing import leaderboard
from service.usecases.boards.work import schedule_board_comparison
from service.usecases.checks import wrong_scores
from service.usecases.comparison_views import list_comparisons, view_comparison
from service.usecases.comparisons import ask
from service.usecases.scoring.shares import rows_in, share_rows, split_of
from service.usecases.submissions.fitting import report
from service.usecases.submissions.submissions import cancel_submission
from tests.fixtures.contexts import NOON, ORGANISER, work_of
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import ANYONE, BENCHMARK, LONG, SLUG, Task, column, once, spoilt

CLOSES = NOON + timedelta(days=7)
LATER = CLOSES + timedelta(hours=1)
HALVES = {"closes_at": CLOSES.isoformat(), "leaderboard": {"split": {"private": 0.5}}}
LONGER = LONG + "".join(LONG.replace("= ", f"= {name}.") for name in "abc")
"""96 sentences."""
TEAMS = ("lyon", "oslo", "prague")


@contextmanager
def refused(said):
    """A request is refused, and a problem says this."""
    with pytest.raises(Unprocessable) as refusal:
        yield
    assert said in " ".join([str(refusal.value), *(problem.detail for problem in refusal.value.problems)])


def pieces(text):
    """The sentences of a text."""
    return [piece + "\n\n" for piece in text.split("\n\n") if piece]


def wrong_in(text, chosen):
    """The text with a wrong word in each of the chosen sentences."""
    return "".join(
        piece.replace("\tnsubj", "\tobl").replace("\tadvmod", "\tobl") if at in chosen else piece
        for at, piece in enumerate(pieces(text))
    )


def share_of(task, share, slug=SLUG, number=1):
    """The positions of the sentences of a share."""
    with task.context.store.read() as db:
        benchmark = benchmarks.get(db, slug)
        revision = revisions.get(db, slug, number)
        part = revisions.parts_of(db, revision.id)[0]
        rows = share_rows(split_of(db, benchmark, revision.id), part, share)
    return [at for at, there in enumerate(rows) if there]


def rows_of_scores(db, submission, share=None):
    """What is stored of the scores of a submission over a share."""
    c = results.c
    columns = [each for each in c if each not in (c.submission_id, c.share, c.document)]
    of_it = (c.submission_id == submission) & (c.share == (share or score_records.WHOLE))
    return [tuple(row) for row in db.execute(select(*columns).where(of_it).order_by(c.revision))]


def only(text, chosen):
    """The text of the chosen sentences."""
    return "".join(piece for at, piece in enumerate(pieces(text)) if at in chosen)


def closed(task, at=LATER):
    """The same task when the benchmark has closed."""
    task.context = replace(task.context, now=lambda: at)
    task.work = work_of(task.context)
    return task


@once
def split(task: Task):
    """A benchmark of 96 sentences, half of them private."""
    task.make(parts={"en": {"gold": LONGER}}, **HALVES)
    return task


@once
def sent(split):
    """Three teams with a submission each; lyon's is good on the public share and bad on the private one."""
    split.make(parts={"en": {"gold": LONGER}}, **HALVES)
    public, private = share_of(split, PUBLIC), share_of(split, PRIVATE)
    wrong = {"lyon": [*public[:2], *private[:30]], "oslo": [*public[:12], *private[:2]], "prague": public[:30]}
    callers = {name: split.team(name) for name in TEAMS}
    ids = {name: split.scored(callers[name], wrong_in(LONGER, wrong[name])) for name in TEAMS}
    split.settle()
    return split, callers, ids, {name: wrong_in(LONGER, wrong[name]) for name in TEAMS}


def json_of(view):
    """The document of a view."""
    return orjson.loads(view.body)


def figures(scores):
    """The figures of a submission's document."""
    metrics = {
        key: {name: value for name, value in metric.items() if name != "signature"}
        for key, metric in scores["metrics"].items()
    }
    return scores["main"], metrics


def of_one_share(task, share, outputs):
    """What a benchmark shows whose gold is the sentences of a share alone: submissions' figures, and its board."""
    chosen = share_of(task, share)
    task.make(**{**BENCHMARK, "id": "apart", "parts": {"en": {"gold": only(LONGER, chosen)}}})
    shown = {}
    for name, output in outputs.items():
        team = task.team(name, slug="apart")
        each = task.submit(team, only(output, chosen), slug="apart")
        shown[name] = (team, each)
    task.settle()
    board = orjson.loads(leaderboard(task.context, ANYONE, "apart", LeaderboardQuery()).body)
    return {name: task.shown(team, each)["scores"] for name, (team, each) in shown.items()}, board


def named(board):
    """What a board shows of each team, but for ids and times."""
    return [
        {name: row[name] for name in ("rank", "team", "score", "scores", "ci95", "p_next", "cluster")}
        for row in board["rows"]
    ]


@pytest.mark.parametrize(("share", "time", "teams"), [
    (PUBLIC, NOON, ["lyon", "oslo", "prague"]), (PRIVATE, LATER, ["prague", "oslo", "lyon"])
])  # fmt: skip
def test_figures_of_the_share_that_is_shown_are_those_of_a_benchmark_of_it_alone(sent, share, time, teams):
    task, callers, ids, outputs = sent
    closed(task, time)
    board = task.leaderboard()
    shown = {name: task.shown(callers[name], ids[name])["scores"] for name in TEAMS}
    alone, board_alone = of_one_share(task, share, outputs)
    assert {name: figures(each) for name, each in shown.items()} == {
        name: figures(each) for name, each in alone.items()
    }
    assert {each["split"] for each in shown.values()} == {share}
    assert {each["metrics"]["attachment"]["signature"]["split"] for each in shown.values()} == {share}
    assert {each["covered"] for each in shown.values()} == {"96/96"}  # of the whole text
    assert column(board, "team") == teams
    assert named(board) == named(board_alone)
    assert (board["split"], board_alone["split"]) == (share, None)
    assert task.leaderboard(split=share) == board
    assert column(task.leaderboard(split=PUBLIC), "team") == ["lyon", "oslo", "prague"]


class TestBeforeClosing:
    """Everything is of the public share."""

    def test_organisers_see_the_same_share_and_the_private_one_on_request_which_others_are_refused(self, sent):
        task, callers, ids, _ = sent
        assert task.shown(ORGANISER, ids["lyon"])["scores"]["split"] == PUBLIC
        assert task.leaderboard(ORGANISER)["split"] == PUBLIC
        private = task.leaderboard(ORGANISER, split=PRIVATE)
        assert (private["split"], column(private, "team")) == (PRIVATE, ["prague", "oslo", "lyon"])
        assert private["significance"]["pending"] is False
        for caller in (ANYONE, callers["lyon"]):
            for form in ("json", "csv", "tsv", "markdown", "latex", "svg"):
                with pytest.raises(Forbidden, match="private share"):
                    task.leaderboard(caller, split=PRIVATE, format=form)
            assert task.leaderboard(caller, split=PUBLIC) == task.leaderboard(caller)

    def test_sentences_of_the_private_share_change_nothing_that_is_shown(self, sent):
        task, callers, ids, outputs = sent
        private = share_of(task, PRIVATE)
        other = task.scored(callers["oslo"], wrong_in(outputs["oslo"], private))
        shown = [figures(task.shown(callers["oslo"], each)["scores"]) for each in (ids["oslo"], other)]
        assert shown[0] == shown[1]

    def test_what_metrics_warn_of_is_not_shown(self, sent):
        task, callers, ids, _ = sent
        with task.context.store.write() as db:
            document = score_records.get(db, ids["lyon"], 1, PUBLIC).document
            document["warnings"] = [{"metric": "attachment", "code": "odd", "detail": "odd"}]
            db.execute(update(results).values(document=pack_json(document)))
        assert task.shown(callers["lyon"], ids["lyon"])["warnings"] == []
        assert len(task.shown(ORGANISER, ids["lyon"])["warnings"]) == 1

    def test_comparisons_are_of_the_public_share_and_private_ones_are_unknown(self, sent):
        task, callers, _, _ = sent
        name = task.leaderboard()["significance"]["comparison"]
        shown = task.comparison(name, callers["lyon"])
        assert (shown["split"], shown["pairs"][0]["score_a"]) == (PUBLIC, task.leaderboard()["rows"][0]["score"])
        secret = task.leaderboard(ORGANISER, split=PRIVATE)["significance"]["comparison"]
        assert secret != name
        assert task.comparison(secret)["split"] == PRIVATE
        for caller in (ANYONE, callers["lyon"]):
            with pytest.raises(NotFound, match=f"Unknown comparison {secret}"):
                view_comparison(task.context, caller, secret)
        asked = task.ask(callers["lyon"])
        assert asked == name
        listed = list_comparisons(task.context, ORGANISER, SLUG, PageQuery()).items
        assert [each["split"] for each in listed] == [PUBLIC]

    def test_an_organisers_comparison_has_its_own_id_and_figures_in_each_share(self, sent):
        task, callers, ids, _ = sent
        request = loaded(ComparisonRequest, {"submissions": list(ids.values()), "alpha": 0.01})
        early = ask(task.context, ORGANISER, SLUG, request)
        late = ask(closed(task).context, ORGANISER, SLUG, request)
        task.settle()
        documents = [task.comparison(each) for each in (early, late)]
        assert [each["split"] for each in documents] == [PUBLIC, PRIVATE]
        assert [each["systems"][0]["name"] for each in documents] == [ids["lyon"], ids["prague"]]
        assert [each["unit_count"] for each in documents] == [48, 48]
        # after closing teams may ask about the private share too
        assert task.compared(callers["lyon"], submissions=[ids["lyon"], ids["oslo"]])["split"] == PRIVATE


class TestParts:
    """Several parts are drawn for themselves; means and pooled scores are over the sentences of the share."""

    def test_figures_are_those_of_a_benchmark_of_the_share_alone(self, task):
        golds = {"en": LONGER, "de": LONG}
        task.make(parts={part: {"gold": gold} for part, gold in golds.items()}, **HALVES)
        with task.context.store.read() as db:
            benchmark = benchmarks.get(db, SLUG)
            drawn = split_of(db, benchmark, revisions.get(db, SLUG, 1).id)
        outputs = [{part: wrong_in(gold, range(5 * at)) for part, gold in golds.items()} for at in (1, 2)]
        callers = [task.team(name) for name in TEAMS[:2]]
        ids = [task.scored(caller, each) for caller, each in zip(callers, outputs, strict=True)]
        task.settle()
        for share, time in ((PUBLIC, NOON), (PRIVATE, LATER)):
            closed(task, time)
            chosen = {part: [at for at, there in enumerate(rows_in(drawn, part, share)) if there] for part in golds}
            apart = {part: {"gold": only(gold, chosen[part])} for part, gold in golds.items()}
            task.make(**{**BENCHMARK, "id": share, "parts": apart})
            for caller, each, output in zip(callers, ids, outputs, strict=True):
                alone = task.submit(
                    ORGANISER, {part: only(text, chosen[part]) for part, text in output.items()}, slug=share
                )
                task.settle()
                shown = task.shown(caller, each)["scores"]
                expected = task.shown(ORGANISER, alone)["scores"]
                assert shown["split"] == share
                assert shown["main"]["value"] == rounded_score(expected["main"]["value"])
                with task.context.store.read() as db:
                    assert rows_of_scores(db, each, share) == rows_of_scores(db, alone)


class TestAfterClosing:
    """The private share is the board; rows are picked by public score."""

    def test_nobody_needs_to_do_anything(self, sent):
        task, _, _, _ = sent
        closed(task, CLOSES)
        assert task.leaderboard()["split"] == PUBLIC
        closed(task, CLOSES + timedelta(seconds=1))
        board = task.leaderboard()
        assert (board["split"], board["significance"]["pending"], board["significance"]["pairs"]) == (PRIVATE, False, 3)
        assert task.work() == 0
        # what an organiser sends late is picked like any other
        late = task.scored(ORGANISER, LONGER, team="lyon")
        task.settle()
        assert column(task.leaderboard(), "submission")[1] == late  # prague is right in all of the private share too

    def test_rows_are_picked_by_their_public_score_and_withdrawing_after_closing_leaves_none(self, split):
        public, private = share_of(split, PUBLIC), share_of(split, PRIVATE)
        lyon, oslo = split.team(), split.team("oslo")
        worse_in_public = split.scored(lyon, wrong_in(LONGER, public[:5]))
        better_in_public = split.scored(lyon, wrong_in(LONGER, [*public[:1], *private[:20]]))
        other = split.scored(oslo, wrong_in(LONGER, private[:10]))
        now, then = split.context, closed(split).context
        assert column(split.leaderboard(), "submission") == [other, better_in_public]
        split.change(lyon, better_in_public, withdrawn=True)
        assert column(split.leaderboard(), "submission") == [other]
        # before closing the next takes the row, and keeps it
        split.context = now
        split.change(lyon, better_in_public, withdrawn=False)
        split.change(lyon, better_in_public, withdrawn=True)
        assert set(column(split.leaderboard(), "submission")) == {other, worse_in_public}
        split.context = then
        assert set(column(split.leaderboard(), "submission")) == {other, worse_in_public}

    def test_the_validator_changes_at_closing(self, sent):
        task, _, _, _ = sent
        for form in ("json", "csv", "svg"):
            before = task.board(format=form)
            late = replace(task.context, now=lambda: LATER)
            after = leaderboard(late, ANYONE, SLUG, LeaderboardQuery(format=form))
            assert after.etag != before.etag
            assert after.body != before.body

    def test_p_needs_no_allowance_for_picking(self, sent):
        task, callers, _, _ = sent
        task.scored(callers["lyon"], LONGER)
        task.settle()
        found = [task.leaderboard(ORGANISER, split=share)["significance"] for share in (PUBLIC, PRIVATE)]
        assert [each["selection"] for each in found] == ["adjusted", "private"]
        asked = [task.comparison(each["comparison"]) for each in found]
        assert [any(pair["p_unselected"] is not None for pair in each["pairs"]) for each in asked] == [True, False]

    def test_a_system_of_several_runs_has_the_mean_of_each_share_and_keeps_it(self, split):
        public, private = share_of(split, PUBLIC), share_of(split, PRIVATE)
        lyon = split.team()
        first = split.scored(lyon, wrong_in(LONGER, [*public[:4], *private[:8]]), name="parser")
        second = [*public[:8], *private[:20]]
        second = split.scored(lyon, wrong_in(LONGER, second), name="parser 2", run_of="parser")
        other = split.scored(split.team("oslo"), wrong_in(LONGER, [*public[:5], *private[:10]]))
        split.settle()
        rows = {share: split.leaderboard(ORGANISER, split=share)["rows"] for share in (PUBLIC, PRIVATE)}
        for of_share in rows.values():
            counted = {row["submission"]: row["runs"] and row["runs"]["count"] for row in of_share}
            assert counted == {first: 2, other: None}
        with split.context.store.read() as db:
            ids = [member.id for member in boards.system_members(db, SLUG, 1, {})]
            mains = [score_records.get(db, each, 1, PRIVATE).document["main"]["value"] for each in ids]
        row = next(row for row in rows[PRIVATE] if row["submission"] == first)
        assert row["score"] == row["scores"]["attachment.las"] == sum(mains) / 2
        assert row["runs"]["sd"] == pytest.approx(abs(mains[0] - mains[1]) / 2**0.5)
        # withdrawing one run after closing changes nothing but whose row it is
        before = {row["submission"]: row["score"] for row in closed(split).leaderboard()["rows"]}
        split.change(lyon, first, withdrawn=True)
        after = {row["submission"]: row["score"] for row in split.leaderboard()["rows"]}
        assert after == {second: before[first], other: before[other]}

    def test_what_waits_at_closing_is_not_cancelled_by_what_others_scored(self, split):
        lyon = split.team()
        early, waiting = split.submit(lyon, LONGER), split.submit(lyon, LONGER)
        assert json_of(cancel_submission(split.context, lyon, early))["state"] == "cancelled"
        closed(split)
        with pytest.raises(Forbidden, match="only organisers may cancel"):
            cancel_submission(split.context, lyon, waiting)
        assert json_of(cancel_submission(split.context, ORGANISER, waiting))["state"] == "cancelled"

    def test_a_board_frozen_before_closing_goes_on_showing_the_public_share(self, sent):
        task, callers, _, _ = sent
        task.patch(leaderboard={"frozen_at": task.context.now().isoformat()})
        task.settle()
        before = task.leaderboard()
        closed(task)
        assert task.leaderboard() == before
        with pytest.raises(Forbidden, match="frozen"):
            task.leaderboard(callers["lyon"], split=PRIVATE)
        assert task.leaderboard(ORGANISER)["split"] == PRIVATE
        task.patch(leaderboard={"frozen_at": None})
        assert task.leaderboard()["split"] == PRIVATE

    @pytest.mark.parametrize("frozen", [False, True])
    def test_a_team_reads_in_its_history_what_its_own_documents_say(self, sent, frozen):
        task, callers, ids, _ = sent
        task.patch(leaderboard={"frozen_at": task.context.now().isoformat() if frozen else None})

        def read(caller):
            [entry] = history(task.context, caller, SLUG, HistoryQuery(team="lyon")).items
            return entry["score"], entry["rank"]

        def own():
            return rounded_score(task.shown(callers["lyon"], ids["lyon"])["scores"]["main"]["value"])

        before = read(ANYONE)
        assert read(callers["lyon"]) == before == (own(), before[1])
        closed(task)
        assert own() != before[0]
        after = before[1] if frozen else read(ANYONE)[1]
        assert read(callers["lyon"]) == (own(), after)
        assert read(ANYONE) == (before if frozen else (own(), after))

    def test_a_requested_board_is_there_in_both_shares(self, sent):
        task, callers, _, _ = sent
        request = loaded(ComparisonRequest, {"submissions": "leaderboard", "score": "attachment.uas"})
        ask(task.context, callers["lyon"], SLUG, request)
        task.settle()
        task.scored(callers["oslo"], LONGER)
        task.settle()
        assert task.leaderboard(score="attachment.uas")["significance"]["pending"] is False
        board = closed(task).leaderboard(score="attachment.uas")
        assert (board["split"], board["significance"]["pairs"]) == (PRIVATE, 3)


class TestEarlyBoard:
    """The private board before closing leaves no trace in the public one."""

    def test_comparing_the_private_rows_alone_does_not_count_a_version(self, sent):
        task, _, _, _ = sent
        with task.context.store.write() as db:
            benchmark = benchmarks.get(db, SLUG)
            board = board_of(db, benchmark, share=PRIVATE)
            boards.remove(db, SLUG, 1, [board.key])
            schedule_board_comparison(db, task.context, SLUG)
        before = task.board()
        assert task.leaderboard(ORGANISER, split=PRIVATE)["significance"]["pending"] is True
        task.settle()
        after = task.board()
        assert (before.body, before.etag) == (after.body, after.etag)
        assert task.leaderboard(ORGANISER, split=PRIVATE)["significance"]["pending"] is False

    def test_its_validator_is_of_its_bytes(self, sent):
        task, _, _, _ = sent
        for form in ("json", "csv", "svg"):
            first, second = (task.board(ORGANISER, split=PRIVATE, format=form) for _ in range(2))
            assert (first.etag, first.body) == (second.etag, second.body)
            assert first.etag != task.board(ORGANISER, format=form).etag

    def test_a_guessed_id_of_the_private_comparison_answers_as_an_unknown_one(self, sent):
        task, callers, _, _ = sent
        with task.context.store.read() as db:
            board = board_of(db, benchmarks.get(db, SLUG), share=PRIVATE)
            guessed = comparison_id(question_of(board, board_module.tested_of(db, board, rows_of(db, board))[0]))
        for name in (guessed, "cmp_" + "0" * 32):
            with pytest.raises(NotFound) as refusal:
                view_comparison(task.context, callers["lyon"], name)
            assert str(refusal.value) == f"Unknown comparison {name}."


class TestSettings:
    """What does not fit a split is refused."""

    def test_it_needs_a_time_of_closing_and_levels_that_show_sentences_are_for_after_it(self, task):
        for code, wrong in (
            ("split-without-closing", {"leaderboard": {"split": {"private": 0.5}}}),
            ("split-level", {"feedback": "items", **HALVES}),
            ("split-level", {"feedback": "gold", **HALVES}),
        ):
            with pytest.raises(Unprocessable) as refusal:
                task.make(parts={"en": {"gold": LONG}}, **wrong)
            assert [problem.code for problem in refusal.value.problems] == [code]
        task.make(parts={"en": {"gold": LONG}}, feedback_after_closing="gold", **HALVES)
        for feedback in ("items", "gold"):
            with refused(feedback):
                task.patch(feedback=feedback)

    def test_it_does_not_change_after_the_first_submission(self, sent):
        task = sent[0]
        for change in (None, {"private": 0.4}):
            with refused("first submission"):
                task.patch(leaderboard={"split": change})
        task.patch(leaderboard={"split": {"private": 0.5}}, title="The same split")

    def test_a_benchmark_with_submissions_is_not_split_and_has_no_shares(self, board):
        board.submit(board.team())
        with refused("first submission"):
            board.patch(**HALVES)
        for share in (PUBLIC, PRIVATE):
            with refused("not split"):
                board.leaderboard(split=share)
        assert board.leaderboard()["split"] is None

    def test_before_the_first_submission_it_may_be_set_changed_and_removed(self, either_context):
        task = Task(either_context, work_of(either_context))
        task.make(parts={"en": {"gold": LONG}})
        for split in ({"private": 0.5}, {"private": 0.25}, None, {"private": 0.5}):
            task.patch(closes_at=HALVES["closes_at"], leaderboard={"split": split})
            assert task.benchmark()["leaderboard"]["split"] == split
        for name in TEAMS:
            task.scored(task.team(name), spoilt(len(name)))
        task.settle()
        assert (task.leaderboard()["split"], len(task.leaderboard()["rows"])) == (PUBLIC, 3)
        board = closed(task).leaderboard()
        assert (board["split"], board["significance"]["pairs"]) == (PRIVATE, 3)

    def test_closing_may_move_until_it_has_passed(self, sent):
        task = sent[0]
        task.patch(closes_at=(CLOSES + timedelta(days=1)).isoformat())
        with refused("closes_at"):
            task.patch(closes_at=None)
        closed(task, CLOSES + timedelta(days=2))
        for moved in (CLOSES + timedelta(days=9), CLOSES):
            with refused("private share is shown"):
                task.patch(closes_at=moved.isoformat())
        task.patch(title="Closed")

    def test_a_part_of_one_sentence_cannot_be_split_nor_by_a_later_change(self, task):
        parts = {"en": {"gold": LONG}, "de": {"gold": pieces(LONG)[0]}}
        task.make(id="later", parts=parts)
        with refused("one share would have none"):
            task.patch("later", **HALVES)
        task.make(parts=parts, **HALVES)
        document = task.benchmark()
        assert (document["state"], document["failure"]["errors"][0]["code"]) == ("failed", "part-not-split")

    def test_a_part_with_a_small_share_warns_and_is_hidden(self, task):
        parts = {name: {"gold": LONGER} for name in ("a", "b", "c", "d")}
        task.make(parts={**parts, "small": {"gold": LONG.replace("= 3.", "= x.")[: len(LONG) // 2] + "\n\n"}}, **HALVES)
        warnings = task.benchmark()["warnings"]
        assert [each["part"] for each in warnings if each["code"] == "small-part"] == ["small", "small"]
        assert "public share" in warnings[0]["detail"]
        with pytest.raises(Forbidden, match="fewer than 10"):
            task.leaderboard(part="small")


class TestRevisions:
    """Shares and revisions."""

    def test_a_revision_keeps_the_draw_and_has_figures_of_both_shares(self, sent):
        task, _, _, _ = sent
        before = share_of(task, PRIVATE)
        task.revise(wrong_in(LONGER, range(40)))
        assert share_of(task, PRIVATE, number=2) == before
        board = task.leaderboard()
        assert (board["revision"], board["split"], board["significance"]["pending"]) == (2, PUBLIC, False)
        board = closed(task).leaderboard()
        assert (board["revision"], board["split"], board["significance"]["pending"]) == (2, PRIVATE, False)

    def test_revisions_that_differ_in_few_sentences_of_the_shown_share_are_not_both_shown(self, sent):
        task, _, _, _ = sent
        public, private = share_of(task, PUBLIC), share_of(task, PRIVATE)
        task.revise(wrong_in(LONGER, [*public[:5], *private[:15]]))
        with pytest.raises(Forbidden, match="fewer than 10"):
            task.leaderboard(revision=1)
        # changes of public ranks stay hidden after closing
        for _ in range(2):
            assert json_of(view_revision(task.context, ANYONE, SLUG, 2))["moved"] is None
            assert json_of(view_revision(task.context, ORGANISER, SLUG, 2))["moved"]
            closed(task)
        assert task.leaderboard(revision=1)["split"] == PRIVATE

    def test_changes_of_ranks_are_of_the_share_that_was_shown(self, sent):
        task, _, ids, _ = sent
        closed(task)
        before = {row["submission"]: row["score"] for row in task.leaderboard()["rows"]}
        task.revise(wrong_in(LONGER, range(40)))
        after = {row["submission"]: row["score"] for row in task.leaderboard()["rows"]}
        moved = json_of(view_revision(task.context, ANYONE, SLUG, 2))["moved"]
        assert {each["submission"]: (each["score_before"], each["score_after"]) for each in moved} == {
            each: (before[each], after[each]) for each in ids.values() if before[each] != after[each]
        }


class TestRecords:
    """What is stored."""

    def test_equal_outputs_have_the_figures_of_both_shares_and_a_check_finds_damage_in_either(self, sent):
        task, callers, ids, outputs = sent
        copy = task.scored(callers["lyon"], outputs["lyon"])
        with task.context.store.read() as db:
            for share in (PUBLIC, PRIVATE):
                documents = [score_records.get(db, each, 1, share).document for each in (ids["lyon"], copy)]
                assert documents[0] == documents[1]
                assert rows_of_scores(db, ids["lyon"], share) == rows_of_scores(db, copy, share) != []
            assert list(wrong_scores(db, every=True)) == []
        with task.context.store.write() as db:
            of_lyon = (results.c.submission_id == ids["lyon"]) & (results.c.share == PRIVATE)
            db.execute(update(results).where(of_lyon).values(pooled=results.c.macro_low))
        with task.context.store.read() as db:
            assert [flaw.code for flaw in wrong_scores(db, every=True)] == ["scores-damaged"]

    def test_the_report_on_fitting_has_public_less_private(self, sent):
        task, _, ids, _ = sent
        items = report(task.context, ORGANISER, SLUG, PageQuery()).items
        public = {row["team"]: row["score"] for row in task.leaderboard(ORGANISER)["rows"]}
        private = {row["team"]: row["score"] for row in task.leaderboard(ORGANISER, split=PRIVATE)["rows"]}
        for item in items:
            found = item["public_less_private"]
            assert found["best"]["submission"] == ids[item["team"]]
            assert (found["best"]["public"], found["best"]["private"]) == (public[item["team"]], private[item["team"]])
            assert found["mean"] == found["best"]["difference"] == public[item["team"]] - private[item["team"]]

    def test_a_ladder_looks_at_the_public_share_alone(self, task):
        task.make(
            parts={"en": {"gold": LONGER}}, **{**HALVES, "leaderboard": {**HALVES["leaderboard"], "ladder": True}}
        )
        public, private = share_of(task, PUBLIC), share_of(task, PRIVATE)
        lyon = task.team()
        first = task.scored(lyon, wrong_in(LONGER, [*public[:20], *private]))
        better_in_private = task.scored(lyon, wrong_in(LONGER, public[:20]))
        better_in_public = task.scored(lyon, wrong_in(LONGER, private))
        assert [task.shown(lyon, each)["released"] for each in (first, better_in_private, better_in_public)] == [
            True, False, True,
        ]  # fmt: skip
        assert column(closed(task).leaderboard(), "submission") == [better_in_public]


def test_a_document_is_in_one_share_and_documents_stay_the_units(task):
    blocks = [f"d{at // 8}" for at in range(96)]
    task.make(parts={"en": {"gold": LONGER, "items": {"blocks": blocks}}}, **HALVES)
    public = share_of(task, PUBLIC)
    assert len({blocks[at] for at in public}) == 6
    callers = [task.team(name) for name in TEAMS]
    ids = [task.scored(caller, wrong_in(LONGER, range(10 * at))) for at, caller in enumerate(callers)]
    request = loaded(ComparisonRequest, {"submissions": ids, "unit": "block"})
    name = ask(task.context, ORGANISER, SLUG, request)
    task.settle()
    shown = task.comparison(name)
    assert (shown["state"], shown["split"], shown["unit_count"]) == ("succeeded", PUBLIC, 6)


def test_closing_is_by_the_second(task):
    task.make(parts={"en": {"gold": LONG}}, **HALVES)
    with task.context.store.read() as db:
        benchmark = benchmarks.get(db, SLUG)
    assert benchmark.closed_from == datetime(2026, 11, 9, 12, 0, 1, tzinfo=UTC)
    assert not benchmark.closed(benchmark.closed_from - timedelta(microseconds=1))
    assert benchmark.closed(benchmark.closed_from)
