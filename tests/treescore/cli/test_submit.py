"""`treescore submit` ends with the status that tells a CI job what happened, and sends nothing twice."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil

import pytest
from click.testing import CliRunner

from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.service_process import ROOT, free_port
from tests.fixtures.tasks import UNLIMITED
from tests.treescore.stand_in import stand_in
from treescore.cli.main import main

pytestmark = pytest.mark.e2e

EXAMPLES = ROOT / "examples" / "dependencies"
OTHER_WORDS = GOLD_CONLLU.replace("stars\tstar", "moons\tmoon")
BAD_HEAD = GOLD_CONLLU.replace("2\tobj", "9\tobj")
numbers = itertools.count()


class Task:
    """A benchmark on the running service, a team's token, and the command."""

    def __init__(self, served, gold, **settings):
        self.served = served
        self.slug = f"submit-{os.getpid()}-{next(numbers)}"
        parts = gold if isinstance(gold, dict) else {"en": gold}
        request = {
            "id": self.slug,
            "title": "Tiny dependencies",
            "format": "conllu",
            "metrics": ["attachment"],
            "parts": {name: {"gold": text} for name, text in parts.items()},
            "publish_input": True,
            "quota": UNLIMITED,
            **settings,
        }
        made = self.organiser("POST", "/v1/benchmarks", json=request, headers={"Prefer": "wait=60"})
        assert made["state"] == "active", made
        self.token = self.team("lyon")

    def organiser(self, method, path, **sent):
        with self.served.client() as client:
            answer = client.request(method, path, **sent)
        assert answer.is_success, answer.text
        return answer.json()

    def team(self, name):
        team = {"id": name, "name": name.title()}
        return self.organiser("POST", f"/v1/benchmarks/{self.slug}/teams", json=team)["token"]

    def submissions(self):
        return self.organiser("GET", f"/v1/benchmarks/{self.slug}/submissions")["items"]

    def run(self, *arguments, token=None, status=0):
        """The command on the task's service; its result, which must have this status."""
        given = ["submit", "--url", self.served.address, "--benchmark", self.slug, *map(str, arguments)]
        return run(*given, token=token or self.token, status=status)

    def scored(self, *arguments, **options):
        """The id of what the command submitted."""
        return json.loads(self.run(*arguments, "--json", **options).stdout)["id"]


def run(*arguments, token, status):
    done = CliRunner().invoke(main, arguments, env={"TREESCORE_TOKEN": token})
    assert done.exit_code == status, (done.exit_code, done.stdout, done.stderr, done.exception)
    return done


@pytest.fixture(scope="module")
def tiny(served):
    """A benchmark of two sentences that shows counts."""
    return Task(served, GOLD_CONLLU, feedback="items")


@pytest.fixture(scope="module")
def example(served):
    """The example benchmark: enough sentences for differences to be real."""
    return Task(served, (EXAMPLES / "gold.conllu").read_text(encoding="utf-8"))


@pytest.fixture
def files(tmp_path):
    texts = {"right": GOLD_CONLLU, "wrong": ONE_WRONG, "other": OTHER_WORDS, "bad": BAD_HEAD}
    for name, text in texts.items():
        (tmp_path / f"{name}.conllu").write_text(text, encoding="utf-8")
    return tmp_path


def test_it_prints_score_interval_and_rank(tiny, files):
    done = tiny.run(files / "wrong.conllu", "--name", "biaffine-7", "--notes", "commit 4f2a91c")
    assert 'biaffine-7" on' in done.stdout
    # two sentences tell nearly nothing
    assert re.search(r"attachment\.las 0\.8333, 95 % interval 0\.000\d-1\.0000\n", done.stdout)
    assert "\nrank " in done.stdout
    assert done.stderr == ""


def test_the_same_step_again_submits_nothing_and_tells_the_same(tiny, files):
    first = tiny.scored(files / "right.conllu", "--name", "again")
    count = len(tiny.submissions())
    assert tiny.scored(files / "right.conllu", "--name", "again") == first
    assert len(tiny.submissions()) == count
    assert tiny.scored(files / "right.conllu", "--name", "another name") != first


def test_a_further_training_run_names_the_first(tiny, files):
    tiny.scored(files / "right.conllu", "--name", "a system")
    run = tiny.scored(files / "wrong.conllu", "--name", "a second run", "--run-of", "a system")
    assert next(each["run_of"] for each in tiny.submissions() if each["id"] == run) == "a system"


def test_json_has_everything_a_script_needs(tiny, files):
    document = json.loads(tiny.run(files / "right.conllu", "--json", "--fail-below", "attachment.uas=0.5").stdout)
    assert document["exit_status"] == 0
    assert (document["main"]["score"], document["main"]["value"]) == ("attachment.las", 1.0)
    # two sentences, both right: Wilson's bound is 2 / (2 + z^2)
    assert document["main"]["ci95"] == {"low": pytest.approx(2 / (2 + 1.959963985**2)), "high": 1.0}
    assert document["rank"]["rank"] == 1
    assert document["thresholds"] == [{"score": "attachment.uas", "bound": 0.5, "value": 1.0, "kept": True}]
    assert document["scores"]["metrics"]["attachment"]["counts"]["tokens"] == 6


def test_a_missed_threshold_is_status_1(tiny, files):
    done = tiny.run(files / "wrong.conllu", "--fail-below", "attachment.las=0.85", status=1)
    assert "attachment.las 0.8333" in done.stdout
    assert done.stderr == "attachment.las >= 0.85: missed, it is 0.8333.\n"
    tiny.run(files / "wrong.conllu", "--fail-below", "attachment.las=0.83", "--fail-below", "attachment.uas=0.8")


def test_where_lower_is_better_a_threshold_is_missed_from_above(served, tmp_path):
    folder = ROOT / "examples" / "alignments"
    gold = (folder / "gold.pharaoh").read_text(encoding="utf-8")
    task = Task(served, gold, format="pharaoh", metrics=["alignment"])
    output = folder / "systems" / "hmm.pharaoh"
    task.run(output, "--fail-below", "alignment.aer=0.2")
    assert "is between 0 and 1, not 10" in task.run(output, "--fail-below", "alignment.aer=10", status=2).stderr
    done = task.run(output, "--fail-below", "alignment.aer=0.1", status=1)
    assert "alignment.aer <= 0.1: missed" in done.stderr


def test_a_significantly_worse_submission_is_status_1(served):
    example = Task(served, (EXAMPLES / "gold.conllu").read_text(encoding="utf-8"))
    good = example.scored(EXAMPLES / "systems" / "neural-b.conllu", "--name", "good")
    done = example.run(EXAMPLES / "systems" / "rules.conllu", "--fail-if-worse-than", good, status=1)
    assert f"It is significantly worse than {good}." in done.stderr
    again = example.run(EXAMPLES / "systems" / "rules.conllu", "--fail-if-worse-than", "best", status=1)
    assert again.stderr == done.stderr
    close = example.run(
        EXAMPLES / "systems" / "neural-a.conllu", "--fail-if-worse-than", good, "--compare-with", "best"
    )
    assert f"compared with {good}: -0." in close.stdout
    assert "no significant difference" in close.stdout


def test_a_repeated_step_that_leads_the_board_is_compared_with_the_next(served):
    task = Task(served, (EXAMPLES / "gold.conllu").read_text(encoding="utf-8"))
    other = task.scored(EXAMPLES / "systems" / "rules.conllu", token=task.team("paris"))
    for _ in range(2):
        done = task.run(EXAMPLES / "systems" / "neural-b.conllu", "--fail-if-worse-than", "best", "--json")
        (found,) = json.loads(done.stdout)["comparisons"]
        assert (found["with"], found["verdict"]) == (other, "better")


def test_a_submission_that_is_not_the_teams_row_is_not_compared_with_another_teams(example):
    other = example.scored(EXAMPLES / "systems" / "rules.conllu", token=example.team("bonn"))
    kiel = example.team("kiel")
    example.scored(EXAMPLES / "systems" / "neural-b.conllu", token=kiel)
    worse = EXAMPLES / "systems" / "neural-a.conllu"
    done = example.run(worse, "--fail-if-worse-than", other, token=kiel, status=3)
    assert "one of which is its row of the leaderboard" in done.stderr


def test_the_quota_that_is_left_counts_the_comparison(served):
    gold = (EXAMPLES / "gold.conllu").read_text(encoding="utf-8")
    task = Task(served, gold, quota={"scored_per_day": 5, "scored_total": 100, "comparisons_per_day": 3})
    good = task.scored(EXAMPLES / "systems" / "neural-b.conllu")
    done = task.run(EXAMPLES / "systems" / "neural-a.conllu", "--compare-with", good)
    assert "scored_total 98 of 100" in done.stdout  # what is left of a day may be more after midnight
    assert "comparisons_per_day 2 of 3" in done.stdout


@pytest.mark.parametrize(
    ("output", "expected"), [("bad.conllu", "bad.conllu:4:7: HEAD is 9"), ("other.conllu", "[word-mismatch]")]
)
def test_an_output_that_cannot_be_scored_is_status_2_with_a_line_for_each_problem(tiny, files, output, expected):
    done = tiny.run(files / output, status=2)
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1
    again = tiny.run(files / output, "--validate-only", status=2)
    assert expected in again.stderr


def test_validation_leaves_no_submission_behind(tiny, files):
    count = len(tiny.submissions())
    done = tiny.run(files / "right.conllu", "--validate-only")
    assert done.stdout == "en: valid, 2 sentences, 6 words\n"
    document = json.loads(tiny.run(files / "right.conllu", "--validate-only", "--json").stdout)
    assert (document["exit_status"], document["valid"]) == (0, True)
    assert len(tiny.submissions()) == count


def test_several_parts_are_named_and_a_broken_one_is_status_2(served, files):
    task = Task(served, {"en": GOLD_CONLLU, "de": GOLD_CONLLU.replace("She\tshe", "He\the")})
    german = files / "german.conllu"
    german.write_text(GOLD_CONLLU.replace("She\tshe", "He\the"), encoding="utf-8")
    done = task.run(f"en={files / 'wrong.conllu'}", f"de={german}")
    assert "attachment.las 0.9167" in done.stdout
    assert "(mean of 2 parts)" in done.stdout
    broken = task.run(f"en={files / 'bad.conllu'}", f"de={german}", status=2)
    assert "attachment.las 0.5000" in broken.stdout
    assert broken.stderr.startswith(f"{files / 'bad.conllu'}:4:7: HEAD is 9")
    assert "has the name of no part" in task.run(files / "right.conllu", status=2).stderr
    assert "given twice" in task.run(f"en={german}", f"en={german}", status=2).stderr


def test_files_folders_and_archives_go_to_the_parts_that_they_are_named_after(served, tmp_path):
    task = Task(served, {"en": GOLD_CONLLU, "de.gsd": GOLD_CONLLU})
    folder = tmp_path / "out"
    folder.mkdir()
    named = [folder / "en.pred.conllu", folder / "de.gsd.conllu"]
    for file in named:
        file.write_text(ONE_WRONG, encoding="utf-8")
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "out")
    sent = {task.scored(*given) for given in (named, [folder], [packed])}
    assert len(sent) == 1  # the same texts are one submission
    named[0].write_text(BAD_HEAD, encoding="utf-8")
    assert task.run(folder, status=2).stderr.startswith(f"{named[0]}:4:7: HEAD is 9")
    (folder / "README").write_text("ours", encoding="utf-8")
    assert f"{folder / 'README'}: it has the name of no part" in task.run(folder, status=2).stderr
    assert "'en' is given twice" in task.run(named[0], packed, status=2).stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nowhere.conllu",), "No such file"),
        (("right.conllu", "--fail-below", "ud.las_f1=0.5"), "unknown metric. Metrics: attachment"),
        (("right.conllu", "--fail-below", "attachment.lass=0.5"), "unknown score. Scores: attachment.las"),
        (("right.conllu", "--fail-below", "attachment.las"), "Write it as ud.las_f1=0.85"),
        (("right.conllu", "--fail-below", "attachment.las=nan"), "Write it as ud.las_f1=0.85"),
        (("right.conllu", "--compare-with", "sub_nobody"), "sub_nobody"),
        (("right.conllu", "--benchmark", "nowhere"), "nowhere"),
    ],
)
def test_what_is_wrong_with_the_command_is_status_2(tiny, files, monkeypatch, arguments, expected):
    monkeypatch.chdir(files)
    assert expected in tiny.run(*arguments, status=2).stderr


def test_tokens_quotas_and_closing_are_status_3(served, tiny, files):
    output = files / "right.conllu"
    assert "TREESCORE_TOKEN" in tiny.run(output, token=" ", status=3).stderr  # noqa: S106 - none
    assert "oken" in tiny.run(output, token="ts_nobody", status=3).stderr  # noqa: S106 - nobody's
    limited = Task(served, GOLD_CONLLU, quota={"scored_total": 1})
    limited.run(output)
    assert "scored_total" in limited.run(files / "wrong.conllu", status=3).stderr
    closed = Task(served, GOLD_CONLLU, opens_at="2026-01-01T00:00:00Z", closes_at="2026-01-02T00:00:00Z")
    assert "closed" in closed.run(output, status=3).stderr


def test_hidden_scores_are_no_failure_unless_a_threshold_needs_them(served, files):
    task = Task(served, GOLD_CONLLU, feedback="status")
    done = task.run(files / "wrong.conllu")
    assert "The feedback level of this benchmark (status) shows no scores." in done.stdout
    assert "0.8333" not in done.stdout
    hidden = task.run(files / "wrong.conllu", "--fail-below", "attachment.las=0.1", status=3)
    assert "hides the score" in hidden.stderr
    task.run(files / "wrong.conllu", "--fail-if-worse-than", task.submissions()[0]["id"])
    task.run(files / "right.conllu", "--fail-if-worse-than", task.submissions()[0]["id"], status=3)


def test_scores_that_a_ladder_holds_back_are_called_so(served, files):
    task = Task(served, GOLD_CONLLU, feedback="scores", leaderboard={"ladder": True, "margin": 0.01})
    task.run(files / "right.conllu")
    done = task.run(files / "wrong.conllu")
    assert "Its scores are held back" in done.stdout
    assert "shows no scores" not in done.stdout


def test_rounded_scores_come_without_interval_and_without_a_test(served, files):
    task = Task(served, GOLD_CONLLU, feedback="rounded", rounding=0.1)
    first = task.scored(files / "right.conllu")
    done = task.run(files / "wrong.conllu", "--compare-with", first)
    assert "attachment.las 0.8000\n" in done.stdout
    assert "interval" not in done.stdout
    task.run(files / "wrong.conllu", "--fail-if-worse-than", first, status=3)


def test_a_service_that_does_not_answer_is_status_4(files):
    arguments = ["submit", "--url", f"http://127.0.0.1:{free_port()}", "--benchmark", "x", "--timeout", "1"]
    assert "does not answer" in run(*arguments, str(files / "right.conllu"), token="ts_x", status=4).stderr  # noqa: S106


BENCHMARK = {"id": "x", "format": "conllu", "parts": {"en": {}}, "metrics": ["attachment"],
             "main_score": "attachment.las", "feedback": "scores"}  # fmt: skip
SUBMISSION = {"id": "sub_1", "name": "n", "team": "t", "quota": None, "scores": None, "failure": None}


def to_stand_in(answers, output, *more, status):
    script = {("GET", "/v1/benchmarks/x"): [(200, {}, BENCHMARK)], **answers}
    with stand_in(script) as (url, seen):
        done = run("submit", "--url", url, "--benchmark", "x", str(output), *more, token="ts_x", status=status)  # noqa: S106
    return done, seen


POST = ("POST", "/v1/benchmarks/x/submissions")
READ = ("GET", "/v1/submissions/sub_1")


def test_a_fault_of_the_service_is_status_4_and_tried_again_by_the_next_run(files):
    failure = {"kind": "service", "title": "The service failed", "detail": "Not yours.", "errors": []}
    failed = (201, {}, {**SUBMISSION, "state": "failed", "failure": failure})
    done, _ = to_stand_in({POST: [failed]}, files / "right.conllu", status=4)
    assert done.stderr == "Not yours.\n"
    replayed = (201, {"Idempotent-Replayed": "true"}, failed[2])
    retry = ("POST", "/v1/submissions/sub_1/retry")
    script = {POST: [replayed], retry: [(202, {}, {})], READ: [(200, {}, {**SUBMISSION, "state": "received"})]}
    _, seen = to_stand_in(script, files / "right.conllu", status=0)
    assert retry in seen


@pytest.mark.parametrize("benchmark", [{}, {"parts": None}, {"parts": {}}, {"parts": {"en": {}}, "metrics": 5}])
def test_a_service_of_another_contract_is_status_4_and_no_missed_threshold(files, benchmark):
    other = {("GET", "/v1/benchmarks/x"): [(200, {}, benchmark)]}
    done, seen = to_stand_in(other, files / "right.conllu", "--fail-below", "attachment.las=0.5", status=4)
    assert "answers in another form than this command reads" in done.stderr
    assert POST not in seen


@pytest.mark.parametrize(
    "change", [{"state": "succeeded", "scores": 5}, {"state": "failed", "failure": 5}, {"id": None, "state": "running"}]
)
def test_a_submission_of_another_contract_is_status_4(files, change):
    done, _ = to_stand_in({POST: [(201, {}, {**SUBMISSION, **change})]}, files / "right.conllu", status=4)
    assert done.stderr.count("\n") == 1


def test_signs_that_steer_a_terminal_are_shown_as_text(files):
    refused = (422, {}, {"type": "/problems/invalid-output", "detail": "\x1b]0;owned\x07\n::error::x \u202e"})
    done, _ = to_stand_in({POST: [refused]}, files / "right.conllu", status=2)
    assert done.stderr == "\\x1b]0;owned\\x07\\n::error::x \\u202e\n"
