"""With a ladder a team sees a score only where it beats its shown best, on every way to a score."""

from __future__ import annotations

from itertools import pairwise

import pytest

from service.contract.benchmarks import RevisionRequest
from service.contract.common import PageQuery
from service.contract.comparisons import ComparisonRequest
from service.contract.submissions import SubmissionsQuery
from service.errors import Conflict, Forbidden, NotFound, Unprocessable
from service.store import benchmarks, revisions, score_records, submissions
from service.usecases.benchmarks.benchmarks import delete_benchmark
from service.usecases.benchmarks.revisions import create_revision
from service.usecases.comparison_views import list_comparisons, view_comparison
from service.usecases.comparisons import ask
from service.usecases.scoring.part_scorer import Scorer
from service.usecases.scoring.shares import place_on_ladder
from service.usecases.submissions.submissions import delete_submission, list_submissions
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import ANYONE, LONG, SLUG, Task, column, once, spoilt

LADDER = {"leaderboard": {"ladder": True}}


@once
def lyon(task: Task):
    task.make(parts={"en": {"gold": LONG}}, **LADDER)
    return task.team("lyon")


def released(task, caller, submission):
    return task.shown(caller, submission)["released"]


class TestRelease:
    """What is shown of a submission."""

    def test_the_first_is_shown_and_then_what_beats_it(self, task, lyon):
        sent = [task.scored(lyon, spoilt(wrong)) for wrong in (6, 7, 6, 5, 2)]
        assert [released(task, lyon, each) for each in sent] == [True, False, False, False, True]
        shown = [task.shown(lyon, each) for each in sent]
        assert [document["scores"] is None for document in shown] == [False, True, True, True, False]
        assert (shown[1]["state"], shown[1]["warnings"]) == ("succeeded", [])
        held = task.shown(ORGANISER, sent[1])
        assert held["scores"]["main"]["value"] > 0
        assert held["released"] is False
        assert column(task.leaderboard(), "submission") == [sent[-1]]

    @pytest.mark.parametrize(("feedback", "told"), [("none", [None] * 2), ("status", [None] * 2),
                                                    ("rounded", [True, False])])  # fmt: skip
    def test_at_lower_levels_it_is_told_with_the_scores(self, task, feedback, told):
        task.make(parts={"en": {"gold": LONG}}, feedback=feedback, **LADDER)
        lyon = task.team()
        sent = [task.scored(lyon, spoilt(wrong)) for wrong in (6, 5)]
        assert [released(task, lyon, each) for each in sent] == told
        assert task.shown(lyon, sent[1])["scores"] is None

    def test_each_team_has_its_own_and_baselines_have_none(self, task, lyon):
        oslo = task.team("oslo")
        assert released(task, lyon, task.scored(lyon, spoilt(2)))
        assert released(task, oslo, task.scored(oslo, spoilt(6)))
        baselines = [task.scored(ORGANISER, spoilt(wrong)) for wrong in (3, 4)]
        assert [released(task, ORGANISER, each) for each in baselines] == [None, None]
        assert set(baselines) < set(column(task.leaderboard(), "submission"))

    def test_after_closing_a_higher_level_ends_it(self, task):
        task.make(parts={"en": {"gold": LONG}}, feedback_after_closing="gold", **LADDER)
        lyon = task.team()
        held = [task.scored(lyon, spoilt(6)) for _ in range(2)][1]
        assert released(task, lyon, held) is False  # as equal outputs are
        task.patch(closes_at="2026-11-01T00:00:00Z")
        assert task.shown(lyon, held)["scores"] is not None

    def test_parts_are_compared_by_their_mean(self, task):
        task.make(parts={"en": {"gold": LONG}, "de": {"gold": LONG}}, **LADDER)
        lyon = task.team()
        wrongs = ((9, 9), (8, 9), (9, 9), (1, 1))
        sent = [task.scored(lyon, {"en": spoilt(en), "de": spoilt(de)}) for en, de in wrongs]
        assert [released(task, lyon, each) for each in sent] == [True, False, False, True]


class TestNoWayBack:
    """The shown best is kept, also if it is not shown any more."""

    def test_deleting_the_best_does_not_open_the_ladder(self, task, context, lyon):
        best = task.scored(lyon, spoilt(2))
        delete_submission(context, lyon, best)
        assert [released(task, lyon, task.scored(lyon, spoilt(wrong))) for wrong in (6, 5, 2)] == [False] * 3
        assert task.leaderboard()["rows"] == []
        for row in list_submissions(context, lyon, SLUG, SubmissionsQuery()).items:
            delete_submission(context, lyon, row["id"])
        delete_benchmark(context, ORGANISER, SLUG)
        with context.store.read() as db:
            assert score_records.ladder_of(db, SLUG, "lyon", 1) is None  # no counts of its gold are kept

    def test_withdrawing_the_best_does_not_either(self, task, lyon):
        first, best = (task.scored(lyon, spoilt(wrong)) for wrong in (9, 2))
        task.change(lyon, best, withdrawn=True)
        assert released(task, lyon, task.scored(lyon, spoilt(5))) is False
        assert column(task.leaderboard(), "submission") == [first]

    def test_choosing_a_held_one_does_not_show_it(self, task, lyon):
        best, held = (task.scored(lyon, spoilt(wrong)) for wrong in (2, 3))
        task.change(lyon, held, chosen=True)
        for caller in (lyon, ANYONE):
            for asked in ({}, {"pick": "best"}, {"score": "attachment.uas"}):
                assert column(task.leaderboard(caller, **asked), "submission") == [best]
            for pick in ("chosen", "last", "all"):
                with pytest.raises(Forbidden):
                    task.leaderboard(caller, pick=pick)
        assert set(column(task.leaderboard(ORGANISER, pick="all"), "submission")) == {best, held}

    def test_comparisons_do_not_show_what_is_held(self, task, context, lyon):
        sent = [task.scored(lyon, spoilt(wrong)) for wrong in (2, 3)]
        request = loaded(ComparisonRequest, {"submissions": sent})
        with pytest.raises(Unprocessable) as error:
            ask(context, lyon, SLUG, request)
        assert [problem.code for problem in error.value.problems] == ["held"]
        comparison = ask(context, ORGANISER, SLUG, request)
        task.settle()
        assert view_comparison(context, ORGANISER, comparison).state == "succeeded"
        with pytest.raises(NotFound):
            view_comparison(context, lyon, comparison)
        assert list_comparisons(context, lyon, SLUG, PageQuery()).items == []

    def test_comparisons_under_an_earlier_revision_do_not_show_what_it_held(self, task, lyon):
        sent = [task.scored(lyon, text) for text in (LONG, spoilt(11))]
        task.revise({"en": {"gold": spoilt(11)}})
        assert [released(task, lyon, each) for each in sent] == [True, True]
        assert column(task.leaderboard(revision=1), "submission") == [sent[0]]
        with pytest.raises(Unprocessable) as error:
            task.ask(lyon, submissions=sent, revision=1)
        assert [problem.code for problem in error.value.problems] == ["held"]

    def test_a_dry_run_that_holds_it_hides_no_comparison(self, task, context, lyon, monkeypatch):
        sent = [task.scored(lyon, spoilt(wrong)) for wrong in (12, 2)]
        asked = task.ask(lyon, submissions=sent)
        monkeypatch.setattr("service.usecases.benchmarks.work._drop_records", lambda *_: None)
        dry = {"parts": {"en": {"gold": spoilt(12)}}, "dry_run": True}
        create_revision(context, ORGANISER, SLUG, loaded(RevisionRequest, dry))
        task.settle()
        with context.store.read() as db:
            assert [score_records.rung(db, each, 1_000_001) for each in sent] == [1, 0]
        assert view_comparison(context, lyon, asked).state == "succeeded"

    def test_a_revision_places_all_again_in_their_order(self, task, context, lyon):
        sent = [task.scored(lyon, spoilt(wrong)) for wrong in (9, 8, 2, 3)]
        task.revise({"en": {"gold": spoilt(9)}})
        assert task.benchmark()["active_revision"] == 2
        assert [released(task, lyon, each) for each in sent] == [True, False, False, False]
        assert column(task.leaderboard(), "submission") == [sent[0]]
        with context.store.read() as db:
            assert [change["submission"] for change in revisions.get(db, SLUG, 2).moved] == [sent[0]]

    def test_scoring_again_after_a_broken_step_keeps_the_places(self, task, context, lyon):
        sent = [task.scored(lyon, spoilt(wrong)) for wrong in (9, 2)]
        with context.store.write() as db:
            benchmark = benchmarks.get(db, SLUG)
            revision = revisions.active(db, benchmark)
            for each in sent:
                submission = submissions.get(db, each)
                score_records.save(db, Scorer(context, revision).score(submission, lambda *_: None).record, {})
                place_on_ladder(db, benchmark, revision, submission)
        assert [released(task, lyon, each) for each in sent] == [True, True]


class TestSettings:
    """When a benchmark may have a ladder."""

    def test_settings_that_do_not_fit_are_refused(self, task):
        picks = ({"leaderboard": {"ladder": True, "pick": pick}} for pick in ("last", "chosen", "all"))
        levels = ({**LADDER, "feedback": level} for level in ("items", "gold"))
        for code, wrong in (("ladder-pick", picks), ("ladder-level", levels)):
            for changes in wrong:
                with pytest.raises(Unprocessable) as error:
                    task.make(**changes)
                assert [problem.code for problem in error.value.problems] == [code]

    def test_it_cannot_change_after_the_first_submission(self, task, context, lyon):
        task.patch(leaderboard={"ladder": False})
        task.patch(leaderboard={"ladder": True})
        submission = task.scored(lyon, spoilt(2))
        delete_submission(context, lyon, submission)
        with pytest.raises(Conflict) as error:
            task.patch(leaderboard={"ladder": False})
        assert error.value.type_slug == "ladder-begun"
        task.patch(leaderboard={"ladder": True, "anonymous": True})


def test_climbing_by_single_sentences_shows_no_single_sentence(task, lyon):
    """Each submission corrects one more sentence: the exact score climbs at every step, the shown one never at once."""
    shown = [released(task, lyon, task.scored(lyon, spoilt(wrong))) for wrong in range(7, -1, -1)]
    assert shown[0]
    assert not any(one and other for one, other in pairwise(shown))
