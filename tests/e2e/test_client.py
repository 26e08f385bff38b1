"""Both clients against the running service: a job, a benchmark, a submission with progress, the board, errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.service_process import ServiceProcess
from treescore import AsyncClient, Client
from treescore.client import Progress, answers

pytestmark = pytest.mark.e2e

SETTINGS = {"title": "Tiny English dependencies", "format": "conllu", "metrics": ["attachment"], "feedback": "items",
            "publish_input": "words"}  # fmt: skip
BAD_HEAD = ONE_WRONG.replace("2\tnsubj", "9\tnsubj", 1)
MANY = {"scored_per_day": None, "scored_total": None, "attempts_per_day": None}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for name, text in (("gold", GOLD_CONLLU), ("right", GOLD_CONLLU), ("wrong", ONE_WRONG), ("bad", BAD_HEAD)):
        (folder / f"{name}.conllu").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def client(served: ServiceProcess) -> Iterator[Client]:
    with Client(served.address, served.token) as opened:
        yield opened


def made(client: Client, slug: str, texts: Path, **more: Any) -> str:
    """A benchmark with a team; the team's token."""
    settings = {"id": slug, "quota": MANY, **SETTINGS, **more}
    benchmark = client.benchmarks.create(settings, {"en": texts / "gold.conllu"}, wait=True)
    assert (benchmark.state, benchmark.active_revision) == ("active", 1)
    return client.benchmark(benchmark).add_team("lyon", "Lyon Parsing Group").token


def test_the_story_of_a_job(client: Client, texts: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    outputs = {"right": texts / "right.conllu", "wrong": ONE_WRONG}
    job = client.jobs.submit(
        texts / "gold.conllu",
        outputs,
        ["attachment", "ud"],
        format="conllu",
        wait=True,
        progress=told.append,
        agreement=[["attachment.las", "ud.las_f1"]],
    )
    assert job.scores_of("wrong")["attachment.las"] == 5 / 6
    assert {each.stage for each in told} >= {"sending", "succeeded"}
    sent = [each for each in told if each.stage == "sending"]
    assert sent[-1].done == sent[-1].total == len(GOLD_CONLLU) * 2 + len(ONE_WRONG)

    one = client.job(job)
    assert one.get() == job
    assert one.wait(seconds=30) == job
    assert [item.item for item in one.items("wrong", "attachment", page=1)] == [1, 2]
    assert "deprel" in one.slices("wrong", "attachment").groupings
    assert one.slices("wrong", "attachment", "deprel").slices[0].counts is not None
    assert "UAS" in one.report("wrong", "ud", "conll18")
    assert one.comparisons().comparisons[0].pairs[0].a == "right"
    assert one.rendered_comparisons("csv", to=tmp_path / "pairs.csv") == ""
    assert "right" in (tmp_path / "pairs.csv").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.csv"]
    assert one.agreement().agreement
    assert job.id in [each.id for each in client.jobs.list(state="succeeded", page=1)]
    one.delete()
    with pytest.raises(answers.Gone):
        one.get()


def test_the_story_of_a_submission(client: Client, served: ServiceProcess, texts: Path, tmp_path: Path) -> None:
    token = made(client, "client-en", texts)
    told: list[Progress] = []
    with Client(served.address, token) as team:
        benchmark = team.benchmark("client-en")
        wrong = benchmark.submit({"en": texts / "wrong.conllu"}, name="v7", wait=True, progress=told.append)
        assert (wrong.state, wrong.name, wrong.scores.main.value) == ("succeeded", "v7", pytest.approx(5 / 6, abs=1e-4))
        assert told[0].stage == "sending"
        assert told[-1].stage == "succeeded"
        right = benchmark.submit({"en": texts / "right.conllu"}, name="v8", wait=True)
        checked = benchmark.validate({"en": texts / "right.conllu"})
        assert checked.results.valid is True
        assert [row.submission for row in benchmark.board().rows] == [right.id]
        assert [row.score for row in benchmark.rows(pick="best")] == [1.0]
        assert benchmark.rendered_board("csv").startswith("rank,")
        assert {each.id for each in benchmark.submissions(page=1)} == {wrong.id, right.id}
        own = team.submission(wrong)
        assert own.change(notes="first").notes == "first"
        assert [item.item for item in own.items(part="en", metric="attachment", page=1)] == [1, 2]
        assert own.output("en", to=tmp_path / "en.conllu") == ""
        assert (tmp_path / "en.conllu").read_text(encoding="utf-8") == ONE_WRONG
        assert benchmark.input("en") != ""
        compared = benchmark.compare([wrong, right.id], score="attachment.las")
        assert (compared.state, len(compared.pairs)) == ("succeeded", 1)
        assert team.comparison(compared).get().id == compared.id
        assert own.withdraw().withdrawn_at is not None
        with pytest.raises(answers.NotRetryable):
            own.retry()
    settings = client.benchmark("client-en").get()
    changed = client.benchmark("client-en").change({"title": "Other title"}, etag=settings.etag)
    assert changed.title == "Other title"
    with pytest.raises(answers.PreconditionFailed):
        client.benchmark("client-en").change({"title": "Late"}, etag=settings.etag)
    assert client.benchmark("client-en").change({"title": "Now"}).title == "Now"
    revision = client.benchmark("client-en").revise({"reason": "test", "dry_run": True}, {"en": ONE_WRONG}, wait=True)
    assert (revision.number, revision.state) == (1_000_001, "ready")
    assert [each.number for each in client.benchmark("client-en").revisions()] == [1_000_001, 1]
    assert [team.id for team in client.benchmark("client-en").teams()] == ["lyon"]
    kinds = {event.type for event in client.events(benchmark="client-en", page=2)}
    assert {"benchmark.created", "submission.scored"} <= kinds


def test_errors_have_line_and_column(client: Client, served: ServiceProcess, texts: Path) -> None:
    token = made(client, "client-bad", texts)
    with Client(served.address, token) as team:
        with pytest.raises(answers.InvalidOutput) as error:
            team.benchmark("client-bad").submit({"en": texts / "bad.conllu"}, wait=True)
        problem = error.value.problems[0]
        assert (problem.part, problem.line, problem.column, problem.sent_id) == ("en", 2, 7, "s1")
        assert "HEAD is 9" in problem.detail
        with pytest.raises(answers.InvalidRequest) as refused:
            team.benchmark("client-bad").submit({"fr": texts / "bad.conllu"})
        assert refused.value.problems[0].pointer == "/outputs/fr"
        with pytest.raises(answers.Forbidden):
            team.tokens.create(["read"])
        with pytest.raises(answers.NotFound):
            team.benchmark("nothing").get()
    with pytest.raises(answers.InvalidInput) as failed:
        client.jobs.submit(GOLD_CONLLU, {"A": BAD_HEAD}, "attachment", format="conllu", wait=True)
    assert (failed.value.problems[0].line, failed.value.problems[0].column) == (2, 7)
    with Client(served.address, "ts_wrong") as other, pytest.raises(answers.Unauthorized):
        other.benchmark("client-bad").submit({"en": texts / "bad.conllu"})


def test_tokens_catalogue_and_health(client: Client) -> None:
    token = client.tokens.create(["read"], name="dashboard")
    assert token.id in [each.id for each in client.tokens.list(page=1)]
    client.tokens.revoke(token)
    assert "ud" in [metric.name for metric in client.scorers().metrics]
    assert client.scorer("ud").main_score == "las_f1"
    assert client.live().status == "ok"
    assert client.ready().checks.store == "ok"
    assert client.contract()["info"]["title"]
    assert client.call("get_metrics").status == 200


def test_the_same_with_the_awaited_client(client: Client, served: ServiceProcess, texts: Path) -> None:
    token = made(client, "client-async", texts)

    async def story() -> None:
        told: list[Progress] = []
        async with AsyncClient(served.address, token) as team:
            benchmark = team.benchmark("client-async")
            outputs = ("wrong", "right", "bad")
            sent = [
                benchmark.submit({"en": texts / f"{name}.conllu"}, name=name, wait=True, progress=told.append)
                for name in outputs
            ]
            wrong, right, bad = await asyncio.gather(*sent, return_exceptions=True)
            assert (wrong.state, right.scores.main.value) == ("succeeded", 1.0)
            assert isinstance(bad, answers.InvalidOutput)
            assert (bad.problems[0].line, bad.problems[0].column) == (2, 7)
            assert {"sending", "succeeded", "failed"} <= {each.stage for each in told}
            assert {each.id async for each in benchmark.submissions(page=1)} >= {wrong.id, right.id}
            assert [row.submission async for row in benchmark.rows()] == [right.id]
            compared = await benchmark.compare([wrong, right])
            assert compared.pairs[0].difference is not None
        async with AsyncClient(served.address, served.token) as organiser:
            job = await organiser.jobs.submit(
                texts / "gold.conllu", {"A": ONE_WRONG}, "attachment", format="conllu", wait=True
            )
            items = [json.dumps(item.document) async for item in organiser.job(job).items("A", "attachment", page=1)]
            assert len(items) == 2
            await organiser.benchmark("client-async").change({"title": "Awaited"})
            assert (await organiser.benchmark("client-async").get()).title == "Awaited"

    asyncio.run(story())
