"""Attacks by questions: a team at level `scores` asks only what the benchmark asks, so often, and gets rounded answers.

The attacker has a token of the team `eve` and wants to know which sentences of `bob` are right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import copysign
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.contract.checking import CheckedClient
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage, close_stage, open_stage
from tests.fixtures.contexts import later
from tests.fixtures.servers import Valkey
from tests.fixtures.tasks import LONG, UNLIMITED, spoilt
from treescore.render.forms import FORMATS
from workers.sweeper import Sweeper

NEVER = "sub_01AAAAAAAAAAAAAAAAAAAAAAAA"
HIDDEN = (
    *("units_won", "units_tied", "units_lost", "d_z", "null_swaps_log2", "smallest_p", "log10_p", "p_kind", "how"),
    *("effect", "relative_error_reduction", "unit_count", "question"),
    *("divisor", "p_error", "differing_sentences"),
)


@dataclass
class Scene:
    """A benchmark at level `scores` with two attempts of each of two teams and one of a third."""

    task: SharedTask
    eve: CheckedClient
    own: list[str]
    bobs: list[str]
    anns: str

    @property
    def at(self) -> str:
        return f"{self.task.address}/comparisons"

    def ask(self, submissions: Any, client: CheckedClient | None = None, **more: Any) -> TestResponse:
        return (client or self.eve).post(
            self.at, json={"submissions": submissions, **more}, headers={"Request-Id": "walk"}
        )

    def answer(self, submissions: Any, client: CheckedClient | None = None, **more: Any) -> dict[str, Any]:
        asked = self.ask(submissions, client, **more)
        assert asked.status_code == 201, asked.text
        return dict(asked.json)

    def picks(self) -> list[str]:
        return [self.own[1], self.bobs[1], self.anns]

    def exact(self, name: str) -> dict[str, Any]:
        return dict(self.task.organiser.get(f"/v1/comparisons/{name}").json)


def played(stage: Stage, gold: str = LONG, **changes: Any) -> Scene:
    """Each team's second attempt is its better one, which the board shows."""
    settings = {"feedback": "scores", **changes}
    task = SharedTask(stage, parts={"en": {"gold": gold}}, **settings)
    eve, bob, ann = (task.team(name) for name in ("eve", "bob", "ann"))
    sent = [
        task.submit(client, spoilt(wrong)).rpartition("/")[2]
        for client, wrong in ((eve, 9), (eve, 4), (bob, 8), (bob, 1), (ann, 6))
    ]
    return Scene(task, eve, sent[:2], sent[2:4], sent[4])


@pytest.fixture
def scene(stage: Stage) -> Scene:
    return played(stage)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[Scene]:
    """One scene for the tests that leave its board as it is."""
    stage = open_stage(tmp_path_factory.mktemp("questions"), valkey.url)
    yield played(stage, quota={**UNLIMITED, "comparisons_per_day": 1000})
    close_stage(stage)


def refused(answer: TestResponse, slug: str = "fixed-question") -> str:
    assert answer.status_code == 403, answer.text
    assert answer.json["type"] == f"/problems/{slug}"
    return str(answer.json["detail"])


@pytest.mark.parametrize(
    "settings",
    [
        *({"seed": 0, "resamples": 1}, {"seed": 2}, {"level": 0.5}, {"level": 0.94}, {"shuffles": 1}, {"resamples": 1}),
        *({"test": test} for test in ("mcnemar", "compare_pl", "bootstrap")),
        *({"test": "mcnemar", "unit": "token"}, {"unit": "block"}, {"alternative": "greater"}, {"alternative": "less"}),
        *({"interval": "none"}, {"interval": "bca"}, {"alpha": 0.01}, {"correction": "none"}, {"clusters": "greedy"}),
        *({"mcnemar": "chi2"}, {"pick": "all"}),
    ],
    ids=str,
)
def test_a_setting_that_the_team_chooses_is_refused_by_name(kept, settings):
    detail = refused(kept.ask([kept.own[1], kept.bobs[1]], **settings))
    assert any(f"`{name}`" in detail for name in settings)


def test_a_setting_that_is_the_boards_own_is_no_other_question(kept):
    plain = kept.answer("leaderboard")["id"]
    own = {"test": "auto", "unit": "auto", "seed": 1, "level": 0.95, "pick": "best"}
    assert kept.answer("leaderboard", **own)["id"] == plain
    assert kept.answer(kept.picks())["id"] == plain


@pytest.mark.parametrize("settings", [{"alpha": 2}, {"shuffles": 0}, {"seed": -1}, {"test": "magic"}, {"level": "x"}])
def test_a_malformed_setting_is_told_so(kept, settings):
    assert kept.ask("leaderboard", **settings).status_code == 422


def test_only_rows_of_the_board_and_own_against_own_pick_can_be_asked(kept):
    worse, pick = kept.own
    assert kept.ask([worse, pick]).status_code == 201
    assert kept.ask([pick, kept.bobs[1]]).status_code == 201
    for listed in ([worse, kept.bobs[1]], [worse, kept.anns], [worse, pick, kept.anns]):
        refused(kept.ask(listed), "not-comparable")


def test_two_own_attempts_without_the_pick_are_refused(scene):
    third = scene.task.submit(scene.eve, spoilt(11)).rpartition("/")[2]
    refused(scene.ask([third, scene.own[0]]), "not-comparable")


def test_an_unpicked_attempt_of_a_rival_answers_as_one_that_never_was(kept):
    for listed in ([kept.own[1], "{}"], ["{}", kept.bobs[1]], ["{}", NEVER.replace("A", "B")]):
        texts = []
        for hidden in (kept.bobs[0], NEVER):
            answer = kept.ask([hidden if each == "{}" else each for each in listed])
            assert answer.status_code == 422
            assert answer.json["errors"][0]["code"] == "unknown-submission"
            texts.append(answer.text.replace(hidden, "{}"))
        assert texts[0] == texts[1]


def test_those_without_a_team_read_boards_only(scene):
    board = scene.task.organiser.get(f"{scene.task.address}/leaderboard").json["significance"]["comparison"]
    other = scene.answer([scene.own[1], scene.bobs[1]])["id"]
    for token, status in ((None, 401), ("read", 403), ("score", 403), ("submit", 403)):
        client = scene.task.stage.client(None if token is None else scene.task.stage.token(token))
        assert scene.ask("leaderboard", client).status_code == status
        assert client.get(f"/v1/comparisons/{board}").json["state"] == "succeeded"
        assert client.get(f"/v1/comparisons/{other}").status_code == 404
        assert [each["id"] for each in client.get(scene.at).json["items"]] == []


def test_another_teams_comparison_answers_as_none(scene):
    name = scene.answer([scene.own[1], scene.bobs[1]])["id"]
    stranger = scene.task.team("zoe")
    texts = [
        stranger.get(f"/v1/comparisons/{each}", headers={"Request-Id": "walk"}).text.replace(each, "")
        for each in (name, "cmp_" + "0" * 32)
    ]
    assert stranger.get(f"/v1/comparisons/{name}").status_code == 404
    assert texts[0] == texts[1]
    assert stranger.delete(f"/v1/comparisons/{name}").status_code == 404
    assert stranger.get(scene.at).json["items"] == []
    assert [each["id"] for each in scene.eve.get(scene.at).json["items"]] == [name]


def test_an_answer_ends_when_a_rivals_row_leaves_the_board(scene):
    name = scene.answer([scene.own[1], scene.bobs[1]])["id"]
    withdrawn = scene.task.organiser.patch(f"/v1/submissions/{scene.bobs[1]}", json={"withdrawn": True})
    assert withdrawn.status_code == 200
    assert scene.eve.get(f"/v1/comparisons/{name}").status_code == 404


@pytest.mark.parametrize("form", FORMATS)
def test_no_form_has_counts_or_exact_figures(kept, form):
    name = kept.answer([kept.own[1], kept.bobs[1]])["id"]
    text = kept.eve.get(f"/v1/comparisons/{name}?format={form}").text
    if form != "svg":
        assert not [member for member in HIDDEN if member in text]
    exact = kept.exact(name)["pairs"][0]
    figures = [exact[member] for member in ("score_a", "score_b", "difference", "p")]
    assert not [figure for figure in figures if len(repr(figure)) > 6 and repr(figure) in text]
    assert not re.search(r"\d\.\d{6}", text.partition("<svg")[0] if form == "svg" else text)


def test_figures_are_rounded_to_what_the_sentences_support(kept):
    shown = kept.answer("leaderboard")
    exact = kept.exact(shown["id"])
    for pair, stored in zip(shown["pairs"], exact["pairs"], strict=True):
        assert {"se", "df"} <= stored.keys() - pair.keys()
        assert pair["difference"] == round(stored["difference"], 4)
        assert len(f"{pair['score_a']:.10f}".rstrip("0").lstrip("0.")) <= 4
        assert pair["p"] == max(1e-4, float(f"{stored['p']:.2g}"))
        for name, end in product(("ci", "ci_adjusted"), ("low", "high")):
            # beside 0 it is not shown as 0, so that the interval says what `significant` says
            bound = stored[name][end]
            assert pair[name][end] == (round(float(f"{bound:.3g}"), 4) or copysign(1e-4, bound) if bound else 0.0)
        assert (pair["ci_adjusted"]["low"] > 0 or pair["ci_adjusted"]["high"] < 0) == pair["significant"]
        assert (pair["significant"], pair["better"]) == (stored["significant"], stored["better"])
    assert {"units_won", "d_z"} < set(exact["pairs"][0]["effect"])
    assert shown["rank_ranges"] == exact["rank_ranges"]


def test_repeated_questions_average_out_nothing(kept):
    asked = [kept.own[1], kept.bobs[1]]
    first = kept.answer(asked)
    assert all(kept.answer(asked) == first for _ in range(5))
    exact = kept.exact(first["id"])
    assert kept.eve.delete(f"/v1/comparisons/{first['id']}").status_code == 204
    assert kept.eve.get(f"/v1/comparisons/{first['id']}").status_code == 404
    assert kept.answer(asked)["pairs"] == first["pairs"]
    assert kept.exact(first["id"])["pairs"] == exact["pairs"]


def test_a_pair_has_the_same_figures_in_every_question(scene):
    pair = [scene.own[1], scene.bobs[1]]
    small, large = scene.answer(pair), scene.answer("leaderboard")
    names = ("a", "b", "difference", "p", "ci")
    (alone,) = small["pairs"]
    (among,) = [each for each in large["pairs"] if {each["a"], each["b"]} == set(pair)]
    assert [alone[name] for name in names] == [among[name] for name in names]
    scene.task.submit(scene.task.team("zoe"), spoilt(10))
    grown = scene.answer("leaderboard")
    assert grown["id"] != large["id"]
    (kept_,) = [each for each in grown["pairs"] if {each["a"], each["b"]} == set(pair)]
    assert [kept_[name] for name in names] == [among[name] for name in names]


def test_what_an_organiser_chose_is_the_organisers(kept):
    pair = [kept.own[1], kept.bobs[1]]
    name = kept.answer(pair, kept.task.organiser, seed=3, shuffles=50)["id"]
    assert kept.eve.get(f"/v1/comparisons/{name}").status_code == 404
    assert kept.task.organiser.get(f"/v1/comparisons/{name}").json["settings"]["seed"] == 3


def questions(scene: Scene) -> list[dict[str, Any]]:
    """Four new questions."""
    pairs = ([scene.own[1], scene.bobs[1]], [scene.own[1], scene.anns])
    return [{"submissions": pair, "score": f"attachment.{score}"} for pair in pairs for score in ("las", "uas")]


def test_the_question_after_the_last_is_refused_and_deleting_refunds_nothing(stage):
    scene = played(stage, quota={"comparisons_per_day": 3})
    asked = questions(scene)
    answers = [scene.eve.post(scene.at, json=each) for each in asked[:3]]
    assert [each.status_code for each in answers] == [201] * 3
    assert [each.headers["RateLimit"].partition(";t")[0] for each in answers] == [
        f'"comparisons_per_day";r={left}' for left in (2, 1, 0)
    ]
    for again in (asked[0], {"submissions": "leaderboard"}):
        assert scene.eve.post(scene.at, json=again).status_code == 201
    assert scene.eve.delete(answers[0].headers["Location"]).status_code == 204
    for refused_ in (asked[3], asked[0]):
        last = scene.eve.post(scene.at, json=refused_)
        assert last.status_code == 429
        assert "comparisons_per_day" in last.json["detail"]
        assert int(last.headers["Retry-After"]) > 0
    quota = scene.eve.get(f"/v1/submissions/{scene.own[1]}").json["quota"]["comparisons_per_day"]
    assert quota == {"limit": 3, "used": 3, "left": 0}
    # attempts are another quota, and so is another team's
    assert scene.task.submit(scene.eve, spoilt(3))
    assert scene.ask([scene.bobs[1], scene.anns], scene.task.team("zoe")).status_code == 201


def test_twenty_questions_a_day_by_default_and_more_tomorrow(stage):
    scene = played(stage)
    parts = [(part, score) for part in (None,) for score in ("las", "uas", "label_accuracy", "exact_match")]
    rows = [[scene.own[1], scene.bobs[1]], [scene.own[1], scene.anns], [scene.bobs[1], scene.anns], scene.own]
    rows.append([*scene.picks()])
    statuses = [
        scene.ask(each, score=f"attachment.{score}", part=part).status_code for each in rows for part, score in parts
    ]
    assert statuses == [201] * 20
    extra = {"submissions": scene.picks(), "score": "attachment.exact_match_unlabelled"}
    assert scene.eve.post(scene.at, json=extra).status_code == 429
    stage.app.extensions["treescore"] = later(stage.context, days=1)
    assert scene.eve.post(scene.at, json=extra).status_code in (201, 202)


def test_a_subset_of_the_boards_own_comparison_costs_a_question(stage):
    scene = played(stage, quota={"comparisons_per_day": 0})
    assert scene.ask("leaderboard").status_code == 201
    assert scene.ask([scene.own[1], scene.bobs[1]]).status_code == 429
    assert scene.ask("leaderboard", score="attachment.uas").status_code == 429


def test_comparisons_go_with_their_submissions_and_after_a_stated_time(scene):
    first = scene.answer([scene.own[1], scene.bobs[1]])["id"]
    second = scene.answer([scene.own[1], scene.anns])
    assert second["expires_at"] > second["finished_at"]
    assert scene.task.organiser.delete(f"/v1/submissions/{scene.bobs[1]}").status_code == 204
    for client, status in ((scene.eve, 404), (scene.task.organiser, 410)):
        assert client.get(f"/v1/comparisons/{first}").status_code == status
    context = scene.task.stage.context
    for days, status in ((89, 200), (91, 404)):
        Sweeper(later(replace(context), days=days)).clean_up()
        assert scene.eve.get(f"/v1/comparisons/{second['id']}").status_code == status
    assert (
        scene.eve.get(
            "/v1/comparisons/"
            + scene.task.organiser.get(f"{scene.task.address}/leaderboard").json["significance"]["comparison"]
        ).status_code
        == 200
    )


def test_who_did_not_ask_does_not_delete(scene):
    name = scene.answer("leaderboard")["id"]
    ann = scene.task.stage.client(scene.task.organiser.post(f"{scene.task.address}/teams/ann/token").json["token"])
    assert ann.delete(f"/v1/comparisons/{name}").status_code == 403
    # the board keeps its comparison
    assert scene.eve.delete(f"/v1/comparisons/{name}").status_code == 204
    assert ann.get(f"/v1/comparisons/{name}").status_code == 200
    assert scene.task.organiser.delete(f"/v1/comparisons/{name}").status_code == 204
    assert ann.get(f"/v1/comparisons/{name}").status_code == 404
    assert scene.answer("leaderboard")["id"] == name
