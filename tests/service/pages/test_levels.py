"""What a level hides is at none of the doors that show how a team stands: pages, frame, feed, badge and history."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from tests.fixtures.site import LEVELS

SENTENCES, WORDS = 42, 7
"""Half of the sentences is an odd number: two outputs that err in different halves are not equal over a share."""
STRANGER, OWN, OTHER, ORGANISER = "stranger", "own", "other", "organiser"
TRIED, BEST, RIVAL = range(40), range(17), range(23)
"""Where the own team erred in what it sent first and in its row, and the other team in its row."""

LATE = "2100-01-01T00:00:00Z"


def text(wrong: range) -> str:
    """Sentences, some of which have a wrong relation."""
    return "".join(
        "1\tShe\t_\tP\t_\t_\t2\tnsubj\t_\t_\n2\tsaw\t_\tV\t_\t_\t0\troot\t_\t_\n3\tno\t_\tD\t_\t_\t4\tdet\t_\t_\n"
        f"4\tstars\t_\tN\t_\t_\t2\t{'obl' if at in wrong else 'obj'}\t_\t_\n"
        "5\tat\t_\tP\t_\t_\t6\tcase\t_\t_\n6\tnight\t_\tN\t_\t_\t2\tobl\t_\t_\n7\t.\t_\tX\t_\t_\t2\tpunct\t_\t_\n\n"
        for at in range(SENTENCES)
    )


def written(errors: int, sentences: int = SENTENCES) -> str:
    """A pattern of a score as pages and documents write it, and of nothing else."""
    score = 1 - errors / (WORDS * sentences)
    figures = (f"{100 * score:.2f}", f"{score:.4g}")
    return "|".join(rf"(?<![\w.:]){re.escape(each)}(?![\d.])" for each in figures)


def exact(errors: int) -> str:
    """A pattern of a score with more digits than a document has below the level of exact ones."""
    return re.escape(f"{1 - errors / (WORDS * SENTENCES):.7f}"[:7])


class Standing:
    """A task with two teams, and what each caller is told at the doors that show how a team stands."""

    def __init__(self, stage: Stage, sent: Mapping[str, list[range]], **settings: Any) -> None:
        self.task = SharedTask(stage, parts={"en": {"gold": text(range(0))}}, **settings)
        teams = {OWN: self.task.team("lyon"), OTHER: self.task.team("oslo")}
        self.clients = {STRANGER: stage.client(None), ORGANISER: stage.client(), **teams}
        self.sent = {
            team: [self.task.submit(teams[team], text(each), name=f"run-of-{team}") for each in outputs]
            for team, outputs in sent.items()
        }

    def doors(self) -> Iterator[str]:
        """Their addresses."""
        slug, api = self.task.slug, self.task.address
        yield from ("/", f"/b/{slug}", f"/b/{slug}/compare", f"/b/{slug}/matrix", f"/b/{slug}/export?format=csv")
        yield from (f"/embed/b/{slug}", f"/feeds/{slug}.atom", f"/submit?benchmark={slug}")
        for team in ("lyon", "oslo"):
            yield from (f"{api}/badge.svg?team={team}", f"{api}/history?team={team}")
        for address in (each for outputs in self.sent.values() for each in outputs):
            yield from (address.replace("/v1/submissions/", "/s/"), address)

    def told(self, who: str, pattern: str) -> list[str]:
        """The doors at which a caller is told what the pattern matches."""
        answers = {door: self.clients[who].get(door) for door in self.doors()}
        assert all(answer.status_code < 500 for answer in answers.values())
        return [door for door, answer in answers.items() if re.search(pattern, answer.text)]

    def badge(self, team: str, who: str = STRANGER) -> str:
        """What a badge says to somebody; empty where it is refused."""
        answer = self.clients[who].get(f"{self.task.address}/badge.svg?team={team}")
        found = re.search("<title[^>]*>([^<]*)", answer.text)
        return found[1] if answer.status_code == 200 and found else ""


@pytest.mark.parametrize("level", LEVELS)
def test_no_door_tells_what_the_level_hides(stage: Stage, level: str) -> None:
    standing = Standing(stage, {OWN: [TRIED, BEST], OTHER: [RIVAL]}, feedback=level, metrics=["attachment"])
    tried, best, rival = (written(len(each)) for each in (TRIED, BEST, RIVAL))
    assert all(standing.told(ORGANISER, each) for each in (tried, best, rival))
    hidden = {STRANGER: [tried], OWN: [], OTHER: [tried]}
    if level in ("none", "status", "rounded"):
        hidden = {who: [tried, best, rival] for who in hidden}
    if level == "scores":
        for each in hidden.values():
            each += [exact(len(output)) for output in (TRIED, BEST, RIVAL)]
    found = [(who, told) for who, patterns in hidden.items() for each in patterns if (told := standing.told(who, each))]
    assert found == []
    shown = level not in ("none", "status")
    for who in (STRANGER, OWN, OTHER):
        assert standing.badge("lyon", who) == ("rank 1 of 2" if shown else "not ranked")
        assert bool(standing.told(who, "lyon Parsing Group")) == shown or who == OWN
    unpicked = standing.sent[OWN][0].rpartition("/")[2]
    assert [door for who in (STRANGER, OTHER) for door in standing.told(who, unpicked) if unpicked not in door] == []


@pytest.mark.parametrize("level", ["rounded", "scores", "gold"])
def test_no_door_names_another_team_of_an_anonymous_board(stage: Stage, level: str) -> None:
    sent = {OWN: [TRIED, BEST], OTHER: [RIVAL]}
    standing = Standing(stage, sent, feedback=level, leaderboard={"anonymous": True})
    for who, names in ((STRANGER, "lyon|oslo|run-of"), (OWN, "oslo (?!Parsing)|run-of-other"), (OTHER, "run-of-own")):
        assert standing.told(who, names) == [], who
    assert standing.badge("lyon", OWN) == "rank 1 of 2"
    for shown in ("none", level):
        standing.task.organiser.patch(standing.task.address, json={"feedback": shown}, headers={"If-Match": "*"})
        assert standing.clients[OWN].get(f"/b/{standing.task.slug}").status_code == 200
    assert standing.badge("lyon") == standing.badge("lyon", OTHER) == ""
    pages = {who: standing.clients[who].get(f"/b/{standing.task.slug}").text for who in (STRANGER, OWN, OTHER)}
    assert "Team A" in pages[STRANGER]
    # each team sees which row is its own
    assert {who: page.count(' mine"') for who, page in pages.items()} == {STRANGER: 0, OWN: 1, OTHER: 1}


@pytest.mark.parametrize("level", ["rounded", "scores"])
def test_no_door_tells_of_a_private_share(stage: Stage, level: str) -> None:
    half = SENTENCES // 2
    sent = {OWN: [range(half)], OTHER: [range(half, SENTENCES)]}
    for _ in range(30):  # a benchmark's key draws the shares: one in a few has as many of both teams
        standing = Standing(stage, sent, feedback=level, leaderboard={"split": {"private": 0.5}}, closes_at=LATE)
        board = standing.clients[STRANGER].get(f"{standing.task.address}/leaderboard").json
        if [each["rank"] for each in board["rows"]] == [1, 2]:
            break
    private = standing.clients[ORGANISER].get(f"{standing.task.address}/leaderboard?split=private").json
    assert [each["team"] for each in board["rows"]] == [each["team"] for each in private["rows"]][::-1]
    ranks = {each["team"]: f"rank {each['rank']} of 2" for each in board["rows"]}
    secret = written(half)
    for who in (STRANGER, OWN, OTHER):
        assert {team: standing.badge(team, who) for team in ranks} == ranks
        assert standing.told(who, secret) == []


@pytest.mark.parametrize("level", ["rounded", "scores"])
def test_no_door_tells_what_a_ladder_holds_back(stage: Stage, level: str) -> None:
    sent = {OWN: [range(18), BEST], OTHER: [RIVAL]}
    standing = Standing(stage, sent, feedback=level, leaderboard={"ladder": True})
    held = f"{written(len(BEST))}|{exact(len(BEST))}"
    for who in (STRANGER, OWN, OTHER):
        assert standing.told(who, held) == []
        assert standing.badge("lyon", who) == "rank 1 of 2"
    assert standing.told(ORGANISER, held)


def test_a_list_and_a_matrix_without_scores_say_why(stage: Stage) -> None:
    silent, empty = SharedTask(stage, feedback="none"), SharedTask(stage)
    card = stage.client(None).get("/").text.partition(f'"/b/{silent.slug}"')[2].partition("</li>")[0]
    assert "The organisers show no scores yet." in card
    matrix = stage.client(None).get(f"/b/{empty.slug}/matrix").text
    assert '<a href="/submit">Submit an output</a>' in matrix


def test_only_who_has_an_invite_learns_which_ids_are_taken(stage: Stage) -> None:
    standing = Standing(stage, {OWN: [BEST]}, feedback="none", leaderboard={"anonymous": True})
    organiser, stranger = standing.clients[ORGANISER], standing.clients[STRANGER]
    made = organiser.post(f"{standing.task.address}/invites", json={"expires_at": LATE, "teams_at_most": 3}).json
    said = {team: stranger.get(f"/join/{made['secret']}/live?id={team}") for team in ("lyon", "free")}
    assert ["This id is free" in answer.text for answer in said.values()] == [False, True]
    assert "Parsing Group" not in said["lyon"].text
    wrong = [stranger.get(f"/join/{'x' * 43}/live?id={team}") for team in said]
    assert [(answer.status_code, "This id is free" in answer.text) for answer in wrong] == [(403, False)] * 2


def test_baselines_of_one_name_are_two_on_an_anonymous_board(stage: Stage) -> None:
    standing = Standing(stage, {OWN: [BEST], OTHER: [RIVAL]}, feedback="scores", leaderboard={"anonymous": True})
    for errors in (30, 35):
        standing.task.submit(None, text(range(errors)), name="Majority")
    exported = standing.clients[STRANGER].get(f"/b/{standing.task.slug}/compare/export?format=csv").text
    rows = [row.split(",") for row in exported.splitlines()[1:]]
    assert [row[0].partition(" (")[0] for row in rows] == ["Team B", "Majority", "Majority"]
    assert all(row[2].startswith("+") for row in rows), exported
