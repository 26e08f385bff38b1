"""`treescore organise` does an organiser's work over HTTP; what is refused is named by the caller's own lines."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import os
import re
import zipfile

import httpx
import pytest
from click.testing import CliRunner

from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.service_process import free_port
from tests.fixtures.tasks import UNLIMITED
from treescore.cli.main import main
from treescore.cli.service import columns
from treescore.core.registry import FORMATS

pytestmark = pytest.mark.e2e

numbers = itertools.count()


class Organiser:
    """A benchmark on the running service, and the command with an organiser's token."""

    def __init__(self, served):
        self.served = served
        self.slug = f"organise-{os.getpid()}-{next(numbers)}"
        with served.client() as client:
            request = {
                "id": self.slug, "title": "Tiny dependencies", "format": "conllu", "metrics": ["attachment"],
                "parts": {"en": {"gold": GOLD_CONLLU}, "de": {"gold": GOLD_CONLLU}}, "quota": UNLIMITED,
            }  # fmt: skip
            made = client.post("/v1/benchmarks", json=request, headers={"Prefer": "wait=60"})
            assert made.json()["state"] == "active", made.text
        self.token = served.token

    def run(self, *words, token=None, status=0, given=None):
        """The result of the command, which must end with this status."""
        environment = {"TREESCORE_TOKEN": self.token if token is None else token, "TREESCORE_URL": self.served.address}
        done = CliRunner().invoke(main, ["organise", *map(str, words)], env=environment, input=given)
        assert done.exit_code == status, (done.exit_code, done.stdout, done.stderr, done.exception)
        return done

    def json(self, *words):
        """The document that the command prints."""
        return json.loads(self.run(*words, "--json").stdout)


def client_of(organiser, token):
    """An HTTP client with a team's token, or with none."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=organiser.served.address, headers=headers, timeout=60)


@pytest.fixture(scope="module")
def organiser(served):
    return Organiser(served)


def test_a_benchmark_is_made_of_its_document_and_gold(organiser, tmp_path):
    (tmp_path / "gold.conllu").write_text(GOLD_CONLLU, encoding="utf-8")
    (tmp_path / "bad.conllu").write_text("1\tDogs\n", encoding="utf-8")
    document = tmp_path / "task.toml"
    document.write_text('title = "Made"\nformat = "conllu"\nmetrics = ["ud"]\n', encoding="utf-8")
    slug = f"{organiser.slug}-made"
    made = organiser.json("make", document, f"en={tmp_path / 'gold.conllu'}", "--id", slug)
    assert (made["id"], made["state"], made["main_score"], list(made["parts"])) == (slug, "active", "ud.las_f1", ["en"])
    refused = organiser.run("make", document, f"en={tmp_path / 'bad.conllu'}", "--id", f"{slug}-2", status=2)
    assert "bad.conllu:1" in refused.stderr
    assert "column" in refused.stderr
    assert "No such file" in organiser.run("make", document, "en=none.conllu", "--id", f"{slug}-3", status=2).stderr


def test_gold_may_be_a_zip_a_folder_or_files_named_after_their_parts(organiser, tmp_path):
    document, folder, archive = tmp_path / "task.json", tmp_path / "gold", tmp_path / "gold.zip"
    document.write_text('{"title": "Made", "format": "conllu", "metrics": ["ud"]}', encoding="utf-8")
    folder.mkdir()
    (folder / "en.gold.conllu").write_text(GOLD_CONLLU, encoding="utf-8")
    (folder / "de.conllu.gz").write_bytes(gzip.compress(GOLD_CONLLU.encode()))
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("gold/en.conllu", GOLD_CONLLU)
        made.writestr("gold/de.conllu", ONE_WRONG)
    for number, gold in enumerate(([archive], [folder], sorted(folder.iterdir()))):
        slug = f"{organiser.slug}-named-{number}"
        assert set(organiser.json("make", document, *gold, "--id", slug)["parts"]) == {"en", "de"}
    revised = organiser.run("revise", slug, archive, "--reason", "a wrong head", "--dry-run").stdout
    assert re.findall(r"^(\w+) +changed ", revised, re.MULTILINE) == ["de"]
    unknown = organiser.run("revise", slug, document, "--reason", "none", status=2).stderr
    assert "task.json: it has the name of no part." in unknown
    other = organiser.run("revise", slug, f"fr={folder / 'en.gold.conllu'}", "--reason", "none", status=2).stderr
    assert "Unknown part 'fr'." in other


def test_a_path_among_the_parameters_of_a_metric_is_its_text(organiser, tmp_path):
    text = FORMATS["cupt"].example.decode()
    (tmp_path / "gold.cupt").write_text(text, encoding="utf-8")
    document = tmp_path / "task.json"
    members = {"title": "Made", "format": "cupt", "metrics": [{"name": "mwe", "params": {"train": "@gold.cupt"}}]}
    document.write_text(json.dumps(members), encoding="utf-8")
    slug = f"{organiser.slug}-mwe"
    made = organiser.json("make", document, f"en={tmp_path / 'gold.cupt'}", "--id", slug)
    assert made["metrics"][0]["params"]["train"] == text
    document.write_text(json.dumps(members).replace("gold.cupt", "none.cupt"), encoding="utf-8")
    refused = organiser.run("make", document, f"en={tmp_path / 'gold.cupt'}", "--id", f"{slug}-2", status=2)
    assert "none.cupt: it cannot be read" in refused.stderr


@pytest.fixture(scope="module")
def tokens(organiser, tmp_path_factory):
    """The tokens of two teams that were made from a table, by team."""
    table = tmp_path_factory.mktemp("teams") / "teams.csv"
    table.write_text('id,name,contact\noslo,"Parsers, Oslo",parsers@example.org\nmetz,Metz,\n', encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(organiser.run("teams", organiser.slug, table).stdout)))
    assert [(row["id"], row["name"]) for row in rows] == [("oslo", "Parsers, Oslo"), ("metz", "Metz")]
    return {row["id"]: row["token"] for row in rows}


@pytest.fixture(scope="module")
def submission(organiser, tokens):
    """A scored submission without the second part."""
    with client_of(organiser, tokens["oslo"]) as client:
        sent = client.post(
            f"/v1/benchmarks/{organiser.slug}/submissions",
            json={"outputs": {"en": ONE_WRONG}},
            headers={"Prefer": "wait=60"},
        ).json()
    assert sent["state"] == "succeeded", sent
    return sent["id"]


def test_settings_come_from_a_file(organiser, tmp_path):
    file = tmp_path / "about.toml"
    file.write_text(
        'closes_at = 2099-11-01T23:59:59Z\n[about]\nlicence = "CC BY 4.0"\n[tracks]\nwestern = ["en"]\n',
        encoding="utf-8",
    )
    changed = organiser.json("settings", organiser.slug, file)
    assert changed["about"]["licence"] == "CC BY 4.0"
    assert changed["tracks"] == {"western": ["en"]}
    assert changed["closes_at"].startswith("2099-11-01T23:59:59")
    file = tmp_path / "about.json"
    file.write_text(
        '{"about": {"contact": "organisers@example.org"}, "notice": "Fixed.", "leaderboard": {"margin": 0.5}}',
        encoding="utf-8",
    )
    wide = organiser.run("settings", organiser.slug, file)
    assert "warning: /leaderboard/margin: The margin 0.5 is 50 points of percent" in wide.stderr
    printed = json.loads(organiser.run("settings", organiser.slug).stdout)
    assert (printed["about"]["licence"], printed["about"]["contact"]) == ("CC BY 4.0", "organisers@example.org")
    assert printed["notice"]["text"] == "Fixed."


@pytest.mark.parametrize(
    ("name", "text"), [("a.toml", "about = ["), ("a.json", "{"), ("a.json", "[]"), ("a.json", "\xff")]
)
def test_a_file_of_settings_that_cannot_be_read(organiser, tmp_path, name, text):
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    assert str(tmp_path / name) in organiser.run("settings", organiser.slug, tmp_path / name, status=2).stderr


def test_teams_are_listed_and_their_faults_name_lines(organiser, tokens):
    listed = organiser.run("teams", organiser.slug).stdout
    assert re.search(r"^oslo +Parsers, Oslo +parsers@example.org ", listed, re.MULTILINE)
    wrong = "id,name,contact\nbonn,Bonn,\noslo,Oslo again,\n"
    assert organiser.run("teams", organiser.slug, "-", given=wrong, status=3).stderr.startswith("3:1: ")
    assert "bonn" not in organiser.run("teams", organiser.slug).stdout
    for table, said in (("id,name\n", "0 teams"), ("id,name\na,b,c\n", "2:3: "), ("id,name\n\xff,x\n", "UTF-8")):
        done = organiser.run("teams", organiser.slug, "-", given=table.encode("latin-1"), status=2)
        assert said in done.stderr


def test_strangers_join_by_an_invite_until_it_is_withdrawn(organiser):
    made = organiser.run("invite", organiser.slug, "--until", "2099-12-31", "--teams", "2").stdout
    name, address = made.split()
    assert address.startswith(f"{organiser.served.address}/join/")
    with client_of(organiser, None) as client:
        team = {"invite": address.rpartition("/")[2], "id": "jena", "name": "Jena", "contact": "a@example.org"}
        assert client.post("/v1/join", json=team).status_code == 201
    assert re.search(rf"^{name} +2099-12-31\S+ +1 +2 ", organiser.run("invites", organiser.slug).stdout, re.MULTILINE)
    organiser.run("invites", organiser.slug, "--withdraw", name)
    with client_of(organiser, None) as client:
        assert client.post("/v1/join", json={**team, "id": "other"}).status_code == 410


def test_a_submission_is_named_chosen_and_linked(organiser, submission):
    before = organiser.json("change", submission)
    code = "https://example.org/code"
    links = ("--code", code, "--paper", "https://example.org/p")
    changed = organiser.json("change", submission, "--name", "second", "--notes", "two seeds", "--chosen", *links)
    asked = {"name": "second", "notes": "two seeds", "chosen": True, "code": code, "paper": "https://example.org/p"}
    assert changed == {**before, **asked}
    organiser.run("change", submission, "--paper", "", "--notes", "", "--not-chosen", "--name", before["name"])
    found = organiser.json("change", submission)
    assert found == {**before, "notes": "", "code": code}
    assert f"code    {code}\n" in organiser.run("change", submission).stdout


def test_boards_are_printed_with_what_is_missing(organiser, submission):
    board = organiser.run("board", organiser.slug).stdout
    assert submission in board
    assert "de" in next(csv.DictReader(io.StringIO(board)))["missing_parts"]
    assert organiser.run("matrix", organiser.slug, "--format", "tsv").stdout.startswith("rank\t")
    lines = [
        json.loads(line)
        for line in organiser.run("scores", organiser.slug, "--format", "ndjson").stdout.split("\n")
        if line
    ]
    assert {line["submission"] for line in lines} == {submission}
    assert organiser.run("board", organiser.slug, "--part", "nothing", status=2).stderr


def test_a_dry_run_shows_what_a_revision_would_change(organiser, submission, tmp_path):
    gold = tmp_path / "en.conllu"
    gold.write_text(ONE_WRONG, encoding="utf-8")
    printed = organiser.run("revise", organiser.slug, f"en={gold}", "--reason", "a wrong head", "--dry-run").stdout
    assert printed.startswith("Revision 1000001 against 1: ")
    assert "a dry run" in printed
    assert re.search(r"^en +changed ", printed, re.MULTILINE)
    assert organiser.run("difference", organiser.slug, "1000001").stdout == printed
    gold.write_text("1\tShe\n\n", encoding="utf-8")
    refused = organiser.run("revise", organiser.slug, f"en={gold}", "--reason", "none", "--dry-run", status=2)
    assert f"{gold}:1" in refused.stderr
    missing = organiser.run("revise", organiser.slug, "en=nowhere.conllu", "--reason", "none", status=2)
    assert missing.stderr == "No such file 'nowhere.conllu'.\n"


def test_numbers_of_teams(organiser, submission, tokens):
    with client_of(organiser, tokens["metz"]) as client:
        copy = {"outputs": {"en": ONE_WRONG}}
        sent = client.post(f"/v1/benchmarks/{organiser.slug}/submissions", json=copy).json()["id"]
        # what is deleted is on no board, and stays a copy
        assert client.delete(f"/v1/submissions/{sent}").status_code == 204
    printed = organiser.run("fitting", organiser.slug).stdout
    for team, other in (("oslo", "metz"), ("metz", "oslo")):
        assert re.search(rf"^{team} +1 +- +1 +{other} ", printed, re.MULTILINE), printed


def test_webhooks_are_added_tested_and_removed(organiser):
    name, _ = organiser.run(
        "webhooks", "add", "https://example.org/events", "--benchmark", organiser.slug, "--kind", "submission.scored"
    ).stdout.split()
    assert name in organiser.run("webhooks", "list").stdout
    delivery = organiser.run("webhooks", "test", name).stdout.split()[0]
    assert delivery in organiser.run("webhooks", "deliveries", name).stdout
    organiser.run("webhooks", "remove", name)
    assert "Unknown webhook" in organiser.run("webhooks", "deliveries", name, status=2).stderr


def test_a_submission_is_withdrawn_with_a_reason_and_put_back(organiser, submission):
    assert submission in organiser.run("submissions", organiser.slug, "--team", "oslo").stdout
    assert organiser.run("withdraw", submission, "--reason", "sent twice").stdout == f"{submission}  withdrawn\n"
    assert organiser.json("submission", submission)["withdrawn_reason"] == "sent twice"
    organiser.run("withdraw", submission, "--undo")
    assert organiser.json("submission", submission)["withdrawn_reason"] is None
    for command in ("cancel", "retry"):
        assert organiser.run(command, submission, status=3).stderr
    assert "if it has no submissions." in organiser.run("delete", "--help").stdout
    assert organiser.run("delete", organiser.slug, status=3).stderr


def test_tokens_are_made_listed_and_revoked_and_a_team_gets_a_new_one(organiser, tmp_path):
    name, secret = organiser.run("tokens", "add", "organise", "--benchmark", organiser.slug).stdout.split()
    assert name in organiser.run("tokens", "list", token=organiser.token).stdout
    assert organiser.run("teams", organiser.slug, token=secret).stdout
    assert organiser.run("tokens", "revoke", name).stdout == "Done.\n"
    organiser.run("teams", organiser.slug, token=secret, status=3)
    table = tmp_path / "teams.csv"
    table.write_text("id,name\nulm,Ulm\n", encoding="utf-8")
    [ulm] = csv.DictReader(io.StringIO(organiser.run("teams", organiser.slug, table).stdout))
    assert organiser.json("rotate", organiser.slug, "ulm")["token"] != ulm["token"]
    organiser.run("erase", organiser.slug, "ulm")
    assert organiser.run("erase", organiser.slug, "unknown", status=2).stderr


def test_who_may_not_organise_ends_with_3(organiser, tokens):
    assert "TREESCORE_TOKEN" in organiser.run("settings", organiser.slug, token="", status=3).stderr
    assert organiser.run("invites", organiser.slug, token=tokens["metz"], status=3).stderr
    assert organiser.run("fitting", organiser.slug, token="unknown", status=3).stderr  # noqa: S106


def test_a_service_that_is_away_ends_with_4(organiser):
    away = f"http://127.0.0.1:{free_port()}"
    assert organiser.run("invites", organiser.slug, "--url", away, "--timeout", "1", status=4).stderr


def test_columns_show_missing_values_and_lists():
    lines = columns([{"a": None, "b": ["x", "y"]}, {"a": 0.123456789, "b": 3}], ("a", "b"))
    assert lines == ["a         b", "-         x,y", "0.123457  3"]
