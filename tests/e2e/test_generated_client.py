"""A client that openapi-python-client generates from openapi.yaml runs the story of a job and of a submission."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.requests import DEPENDENCIES, GOLD_CONLLU, ONE_WRONG
from tests.fixtures.service_process import ROOT, ServiceProcess

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PACKAGE = "treescore_contract_client"
WAIT = "wait=60"
RENAMED = {"Warning": "Warning_"}
"""Models whose names would hide a word of Python."""
FINAL = ("succeeded", "failed", "cancelled")


class Generated:
    """The generated package: operations, models and clients by name."""

    def __init__(self, address: str, opened: ExitStack) -> None:
        self.address = address
        self.opened = opened

    def module(self, name: str) -> Any:
        return importlib.import_module(f"{PACKAGE}.{name}")

    def client(self, token: str) -> Any:
        """A client with a token; it is closed at the end of the module."""
        made = self.module("client").AuthenticatedClient(base_url=self.address, token=token)
        self.opened.callback(made.get_httpx_client().close)
        return made

    def model(self, name: str) -> Any:
        return getattr(self.module("models"), name)

    def call(self, operation: str, *path: str, **options: Any) -> Any:
        """Call an operation, `jobs.submit_job`; return the model of the answer."""
        return self.module(f"api.{operation}").sync(*path, **options)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory, served: ServiceProcess) -> Iterator[Generated]:
    beside = str(Path(sys.executable).parent)
    generator = shutil.which("openapi-python-client", path=beside) or shutil.which("openapi-python-client")
    if generator is None:
        pytest.skip("openapi-python-client is not installed. `make test-all` installs it and runs this test.")
    folder = tmp_path_factory.mktemp("client")
    options = ["--config", ROOT / "tools" / "contract" / "client.yaml", "--meta", "none", "--fail-on-warning"]
    command = [generator, "generate", "--path", ROOT / "openapi.yaml", *options, "--output-path", folder / PACKAGE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    with ExitStack() as opened:
        yield Generated(served.address, opened)
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def finished(generated: Generated, client: Any, answer: Any) -> Any:
    """The job or submission of an answer, waited for if it has not finished."""
    if answer.state.value in FINAL:
        return answer
    kind = "jobs.get_job" if isinstance(answer, generated.model("Job")) else "submissions.get_submission"
    return generated.call(kind, answer.id, client=client, prefer=WAIT)


def test_every_schema_has_a_model(generated: Generated) -> None:
    """The generator drops what it cannot express; objects and enumerations must all be there."""
    contract = importlib.import_module("tests.contract.checking").contract()
    for name, schema in contract["components"]["schemas"].items():
        if "properties" in schema or "enum" in schema:
            assert hasattr(generated.module("models"), RENAMED.get(name, name)), name


def test_the_story_of_a_job(generated: Generated, served: ServiceProcess) -> None:
    client = generated.client(served.token)
    request = generated.model("JobRequest").from_dict(DEPENDENCIES)
    job = finished(generated, client, generated.call("jobs.submit_job", client=client, body=request, prefer=WAIT))
    assert job.state.value == "succeeded"
    assert isinstance(job.results, generated.model("Results"))
    las = {each.name: each.metrics["attachment"].scores["las"] for each in job.results.systems}
    assert las == {"right": 1.0, "wrong": 5 / 6}
    assert [(pair.a, pair.b) for pair in job.results.comparisons[0].pairs] == [("right", "wrong")]

    items = generated.call("jobs.list_items", job.id, client=client, system="wrong", metric="attachment")
    assert [item.item for item in items.items] == [1, 2]
    slices = generated.call("jobs.get_slices", job.id, client=client, system="wrong", metric="attachment")
    assert "deprel" in slices.groupings
    report = generated.call(
        "jobs.get_report", job.id, client=client, system="wrong", metric="attachment", style="eval07"
    )
    assert "Labeled   attachment score" in report
    listed = generated.call("jobs.list_jobs", client=client, state=generated.model("State").SUCCEEDED)
    assert job.id in {each.id for each in listed.items}
    assert generated.call("jobs.delete_job", job.id, client=client) is None
    gone = generated.call("jobs.get_job", job.id, client=client)
    assert isinstance(gone, generated.model("Problem"))
    assert gone.status == 410


def test_the_story_of_a_submission(generated: Generated, served: ServiceProcess) -> None:
    organiser = generated.client(served.token)
    request = {
        "id": "generated-en",
        "title": "Tiny English dependencies, test",
        "format": "conllu",
        "metrics": ["attachment"],
        "parts": {"en": {"gold": GOLD_CONLLU}},
        "publish_input": "words",
    }
    body = generated.model("BenchmarkRequest").from_dict(request)
    benchmark = generated.call("benchmarks.create_benchmark", client=organiser, body=body, prefer=WAIT)
    benchmark = generated.call("benchmarks.get_benchmark", benchmark.id, client=organiser, prefer=WAIT)
    assert (benchmark.state.value, benchmark.active_revision) == ("active", 1)
    assert benchmark.publish_input.value == "words"
    body = generated.model("TeamRequest")(id="lyon", name="Lyon Parsing Group")
    team = generated.client(generated.call("teams.create_team", benchmark.id, client=organiser, body=body).token)

    body = generated.model("SubmissionRequest").from_dict({"name": "wrong", "outputs": {"en": ONE_WRONG}})
    sent = generated.call("submissions.submit", benchmark.id, client=team, body=body, prefer=WAIT)
    submission = finished(generated, team, sent)
    assert submission.scores.main.value == 0.8333  # level `scores` shows four digits
    checked = generated.call(
        "submissions.submit",
        benchmark.id,
        client=team,
        body=body,
        prefer=WAIT,
        validate_only=generated.model("SubmitValidateOnly").TRUE,
    )
    checked = finished(generated, team, checked)
    assert isinstance(checked.results, generated.model("Validation"))
    assert checked.results.valid is True

    form = generated.model("SubmissionForm")(meta=generated.model("SubmissionFormMeta").from_dict({"name": "right"}))
    form["en"] = generated.module("types").File(BytesIO(GOLD_CONLLU.encode()), "en.conllu")
    sent = generated.call("submissions.submit", benchmark.id, client=team, body=form, prefer=WAIT)
    assert finished(generated, team, sent).scores.main.value == 1.0

    changes = generated.model("SubmissionChanges")(notes="the first attempt")
    changed = generated.call("submissions.patch_submission", submission.id, client=team, body=changes)
    assert changed.notes == "the first attempt"
    board = generated.call("leaderboards.get_leaderboard", benchmark.id, client=team)
    assert [(row.rank, row.team, row.score) for row in board.rows] == [(1, "lyon", 1.0)]
    words = generated.call("benchmarks.get_part_input", benchmark.id, "en", client=team)
    assert words is not None
    other = generated.call("submissions.get_submission", "sub_00000000000000000000000000", client=team)
    assert (type(other), other.status) == (generated.model("Problem"), 404)
