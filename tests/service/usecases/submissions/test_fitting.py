"""The report shows organisers what a search for the gold looks like, and nothing to others."""

from __future__ import annotations

import math

import pytest

from service.contract.common import PageQuery
from service.contract.submissions import SubmissionRequest
from service.errors import Forbidden
from service.usecases.scoring.gold import annotation_digest
from service.usecases.submissions.fitting import report
from service.usecases.submissions.submissions import delete_submission
from service.usecases.submissions.validation import validate
from tests.fixtures.contexts import ORGANISER, SCORER
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import LONG, ONE_SENTENCE, SLUG, Task, once, spoilt
from treescore.core.registry import make_format
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import Vocabulary


@once
def lyon(task: Task):
    task.make(parts={"en": {"gold": LONG}})
    return task.team("lyon")


def about(context, number=0):
    """The report on a team."""
    return report(context, ORGANISER, SLUG, PageQuery()).items[number]


def test_climbing_by_single_sentences_is_seen(task, context, lyon):
    sent = [task.scored(lyon, spoilt(wrong)) for wrong in (9, 8, 7, 8, 7, 6, 5, 1)]
    shown = about(context)
    assert (shown["submissions"], shown["scored"], shown["compared_steps"]) == (8, 8, 7)
    assert (shown["near_duplicates"], shown["climbs"], shown["longest_climb"]) == (6, 5, 3)
    first = shown["climbing_steps"][0]
    assert (first["before"], first["submission"], first["changed_sentences"]) == (sent[0], sent[1], 1)
    assert first["gain"] == pytest.approx(1 / 72)


def test_worse_scores_and_repeated_outputs_are_no_climb(task, context, lyon):
    for wrong in (2, 3, 3):
        task.scored(lyon, spoilt(wrong))
    shown = about(context)
    assert (shown["near_duplicates"], shown["repeated_outputs"], shown["climbs"]) == (1, 1, 0)


def test_equal_outputs_of_two_teams_are_named_on_both_sides_by_part(task, context):
    task.make(parts={name: {"gold": LONG} for name in ("de", "en", "fr")})
    lyon, oslo = task.team(), task.team("oslo")
    own = task.scored(lyon, {"de": spoilt(3), "en": spoilt(4), "fr": spoilt(5)})
    # a part of another name is no copy, nor is one of a baseline, nor the same part sent again by one team
    task.scored(ORGANISER, {"de": spoilt(6)})
    # other bytes, the same annotation
    hidden = f"# text = x\n{spoilt(5)}".replace("\t_\n", "\tSpaceAfter=No\n", 1)
    other = task.scored(oslo, {"de": spoilt(3), "en": spoilt(5), "fr": hidden})
    assert set(task.shown(oslo, other)["outputs"]["fr"]) == {"digest", "bytes", "sentences", "words"}
    task.scored(oslo, {"de": spoilt(6), "en": spoilt(5)})
    found = {each["team"]: each for each in report(context, ORGANISER, SLUG, PageQuery()).items}
    for team, one, another, submission in (("lyon", own, "oslo", other), ("oslo", other, "lyon", own)):
        assert found[team]["equal_parts"] == 2
        assert found[team]["equal_outputs"] == [{
            "submission": one, "other_team": another, "other_team_name": f"{another} Parsing Group",
            "other_submission": submission, "parts": ["de", "fr"],
        }]  # fmt: skip


def test_the_same_annotation_in_other_bytes_is_equal_once_on_both_sides(task, context, lyon):
    oslo = task.team("oslo")
    for caller, output in ((lyon, spoilt(3)), (lyon, f"# again\n{spoilt(3)}"), (oslo, f"# again\n{spoilt(3)}")):
        task.scored(caller, output)
    task.submit(task.team("bergen"), f"# again\n{spoilt(3)}")  # not read yet: the bytes tell
    found = report(context, ORGANISER, SLUG, PageQuery()).items
    assert {each["team"]: each["equal_parts"] for each in found} == {"lyon": 1, "oslo": 1, "bergen": 1}


def test_heads_that_are_no_plain_numbers_are_annotation_whatever_gold_was_read_before():
    def digest(head, *before):
        text = f"1\ta\t_\tX\tX\t_\t{head}\tdep\n\n".encode()
        vocabulary = Vocabulary.of_strings(["", *before])
        return annotation_digest(make_format("conllx", {}).read(text, vocabulary, DEFAULT_LIMITS))

    assert digest("02") == digest("02", "of gold") != digest("03")


def test_who_jumps_and_who_copies_stand_above_all_others(task, context, lyon):
    callers = {name: task.team(name) for name in (*(f"t{number:02}" for number in range(22)), "zagreb", "zurich")}
    for team, wrong in (("t00", 10), ("t01", 11), ("zagreb", 11)):
        task.scored(callers[team], spoilt(wrong))
    leap = [task.scored(callers["zurich"], spoilt(wrong)) for wrong in (12, 2)][1]
    items = report(context, ORGANISER, SLUG, PageQuery(limit=1000)).items
    assert [each["team"] for each in items][:4] == ["zurich", "t01", "zagreb", "t00"]
    assert items[0]["jump"] == {"submission": leap, "score": 70 / 72, "before": 60 / 72}
    assert [each["jump"] for each in items[1:]] == [None] * 24
    # all of it at the first attempt
    task.scored(lyon, LONG)
    items = report(context, ORGANISER, SLUG, PageQuery(limit=2)).items
    assert {each["team"]: each["jump"]["before"] for each in items} == {"lyon": None, "zurich": 60 / 72}


def test_deleting_does_not_hide_equal_outputs_or_counts(task, context, lyon):
    oslo = task.team("oslo")
    own = task.scored(lyon, spoilt(3))
    task.scored(oslo, spoilt(3))
    delete_submission(context, lyon, own)
    shown = about(context)
    assert (shown["submissions"], shown["scored"]) == (1, 1)
    assert len(shown["equal_outputs"]) == 1


def test_validations_are_counted(task, context, lyon):
    request = loaded(SubmissionRequest, {"outputs": {"en": ONE_SENTENCE}})
    for _ in range(3):
        validate(context, lyon, SLUG, request)
    validate(context, ORGANISER, SLUG, loaded(SubmissionRequest, {"outputs": {"en": LONG}, "team": "lyon"}))
    shown = about(context)
    assert (shown["validations"], shown["bits_released"]) == (3, 3.0)


def test_bits_follow_the_budget_of_the_level(task, context, lyon):
    task.scored(lyon, spoilt(2))
    scores = len(task.leaderboard(ORGANISER)["scores"])
    for feedback, bits in (
        ("none", 0.0), ("status", 1.0), ("rounded", math.log2(100)), ("scores", 33.0 * scores), ("items", 72.0),
        ("gold", None),
    ):  # fmt: skip
        task.patch(feedback=feedback)
        assert about(context)["bits_released"] == (None if bits is None else pytest.approx(bits, abs=0.05 * scores))
    assert about(context)["public_less_private"] is None


def test_a_held_score_is_one_bit(task, context):
    task.make(parts={"en": {"gold": LONG}}, leaderboard={"ladder": True})
    lyon = task.team()
    task.scored(lyon, spoilt(2))
    before = about(context)["bits_released"]
    task.scored(lyon, spoilt(2))
    assert about(context)["bits_released"] == before + 1


def test_a_comparison_costs_bits(task, context, lyon):
    sent = [task.scored(lyon, spoilt(wrong)) for wrong in (2, 9)]
    before = about(context)["bits_released"]
    task.ask(submissions=sent)
    # five p of 361 values, four bounds of 3 digits and 4 decimals from -1 to 1, a difference of 4 decimals
    most = 5 * math.log2(361) + 4 * math.log2(3801) + math.log2(10_001)
    assert before + most <= about(context)["bits_released"] <= before + most + 1


def test_pages_go_on_from_team_to_team(task, context, lyon):
    task.team("oslo")
    first = report(context, ORGANISER, SLUG, PageQuery(limit=1))
    rest = report(context, ORGANISER, SLUG, PageQuery(limit=1, cursor=first.next))
    assert [page.items[0]["team"] for page in (first, rest)] == ["lyon", "oslo"]
    assert rest.next is None
    for caller in (lyon, SCORER):
        with pytest.raises(Forbidden):
            report(context, caller, SLUG, PageQuery())


def test_the_scores_of_every_shown_part_and_track_release_bits(task, context):
    parts = {name: {"gold": LONG} for name in ("en", "de", "fr")}
    metric = {"name": "attachment", "params": {"words": "warn"}}
    task.make(parts=parts, metrics=[metric], tracks={"pud": ["en", "de"]}, leaderboard={"scores": ["attachment.las"]})
    task.scored(task.team(), {"en": spoilt(1), "de": LONG, "fr": LONG})
    # three parts, a track, the mean of all, and all as one text; whether tags differ in each part
    assert about(context)["bits_released"] == 6 * 33.0 + 3
    task.patch(tracks={})
    assert about(context)["bits_released"] == 5 * 33.0 + 3
