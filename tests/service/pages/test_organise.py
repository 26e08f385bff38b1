"""Gold is revised in a browser: first tried, then made the revision."""

from __future__ import annotations

import html
import io
import re
from typing import Any
from urllib.parse import unquote

import pytest

from service.contract.common import PageQuery
from service.pages import organise
from service.store import runs
from service.usecases.benchmarks.benchmarks import RESERVED_IDS
from tests.contract.shared_task import BENCHMARK, SharedTask
from tests.contract.stage import Stage
from tests.fixtures.form_pages import browser, field_of, words_of
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG


@pytest.fixture
def task(kept_stage: Stage) -> SharedTask:
    return SharedTask(kept_stage)


def sent(task: SharedTask, do: str, gold: str | None = None, **fields: Any) -> Any:
    files = {} if gold is None else {"gold": (io.BytesIO(gold.encode()), "en.conllu")}
    slug = task.address.rpartition("/")[2]
    return task.organiser.post(
        f"/admin/{slug}/revisions", data={"do": do, **fields, **files}, content_type="multipart/form-data"
    )


def test_a_dry_run_shows_who_would_move_and_becomes_the_revision(task: SharedTask) -> None:
    tried = sent(task, "dry_run", ONE_WRONG, reason="a wrong head")
    assert (tried.status_code, tried.headers["Location"][-8:]) == (303, "/1000001")
    page = task.organiser.get(tried.headers["Location"]).text
    assert "Dry run 1000001 against revision 1" in page
    assert "Ready. A dry run: nothing changes until you press Revise." in page
    made = sent(task, "revise", from_dry_run="1000001", public_reason="A head was wrong")
    assert made.headers["Location"].endswith("/revisions/2")
    assert task.organiser.get(f"{task.address}/revisions/2").json["active"]


def test_a_dry_run_that_fails_names_the_line(task: SharedTask) -> None:
    page = task.organiser.get(sent(task, "dry_run", "1\tShe\n\n").headers["Location"]).text
    assert "Failed. A dry run: nothing changes." in page
    assert "line 1" in page
    assert "Which ranks move" not in page


def test_metrics_are_revised_by_what_is_typed(task: SharedTask) -> None:
    written = '{"metrics": [{"name": "attachment", "params": {"punctuation": false}}]}'
    assert sent(task, "revise", scoring=written, reason="punctuation").status_code == 303
    revised = task.organiser.get(task.address).json["metrics"]
    assert revised[0]["params"]["punctuation"] is False
    for wrong in ("{", "[]", '{"metrics": ["unheard"]}', '{"dry_run": false}'):
        refused = sent(task, "revise", scoring=wrong)
        assert (
            refused.status_code,
            f">{html.escape(wrong)}</textarea>" in refused.text.replace("&#34;", "&quot;"),
        ) == (422, True)


def test_an_organiser_has_a_board_tested_that_is_not_by_itself(kept_stage: Stage) -> None:
    task = SharedTask(kept_stage, metrics=["ud"], feedback="scores", leaderboard={"public": True})
    task.two()
    address = f"/b/{task.slug}/compare?score=ud.uas_f1"
    reader = task.team("metz")
    shown = reader.get(address).text
    assert "The differences on this board were not tested." in shown
    assert "POST" not in shown
    assert "Test the differences" not in shown
    assert "Test the differences" in task.organiser.get(address).text
    asked = task.organiser.post(f"/b/{task.slug}/compare", data={"score": "ud.uas_f1", "part": ""})
    assert (asked.status_code, asked.headers["Location"]) == (303, address)
    assert 'aria-label="Differences"' in reader.get(address).text


def test_files_are_needed_and_what_was_typed_stays(task: SharedTask) -> None:
    refused = sent(task, "revise", reason="typed already")
    assert (refused.status_code, "typed already" in refused.text) == (422, True)
    assert "Choose the files" in refused.text
    both = sent(task, "revise", GOLD_CONLLU)
    assert both.status_code == 303


def test_a_token_of_one_benchmark_is_made_shown_once_listed_and_revoked(task: SharedTask) -> None:
    slug = task.address.rpartition("/")[2]
    page = task.organiser.post("/admin/tokens", data={"scopes": "organise", "benchmark": slug, "name": "A host"}).text
    token = page.partition('<code id="token">')[2].partition("<")[0]
    listed = task.organiser.get("/admin/tokens").text
    assert ("A host" in listed, token in listed, token[:3]) == (True, False, "ts_")
    host = browser(task.stage, token)
    assert (
        "/admin/new" in host.get(f"/admin/{slug}").text,
        "/admin/new" in task.organiser.get(f"/admin/{slug}").text,
    ) == (False, True)
    refused = words_of(host.get("/admin/tokens"))
    assert f"yours may organise the benchmark '{slug}' only." in refused
    assert re.search(r'scope="row">tok_\w+</th><td class="name" dir="auto">A host</td>', listed)
    made = task.organiser.get("/v1/tokens").json["items"][0]
    assert (made["benchmark"], made["scopes"]) == (slug, ["organise"])
    assert task.organiser.post(f"/admin/tokens/{made['id']}").status_code == 303
    assert task.organiser.get("/v1/tokens").json["items"][0]["revoked_at"] is not None


def test_a_webhook_of_chosen_kinds(task: SharedTask) -> None:
    kinds = ["submission.scored", "revision.active"]
    page = task.organiser.post("/admin/webhooks", data={"url": "https://example.org/hook", "kinds": kinds}).text
    assert "shown only now" in page
    assert 'title="team.token_rotated"' in page
    assert '<span class="vh">team </span>token rotated</label>' in page
    assert task.organiser.get("/v1/webhooks").json["items"][0]["kinds"] == kinds
    for wrong in ({"url": "ftp://example.org"}, {"url": "https://example.org/kept", "benchmark": "unknown"}):
        refused = task.organiser.post("/admin/webhooks", data={**wrong, "kinds": kinds[:1]})
        assert refused.status_code in (404, 422)
        assert f'value="{wrong["url"]}"' in refused.text
        assert refused.text.count(" checked") == 1
        assert re.search('aria-invalid="true" aria-describedby="fault-(url|benchmark)" autofocus', refused.text)


def test_a_team_is_erased_where_its_id_is_typed_again_and_contacts_are_written_to(
    task: SharedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = task.address.rpartition("/")[2]
    contact = "Ann Lee <parsers@example.org>; bo@example.org,cy@example.org d@example.org, room 3"
    team = {"id": "metz", "name": "Metz", "contact": contact}
    assert task.organiser.post(f"{task.address}/teams", json=team).status_code == 201
    written = re.search(r'href="mailto:\?bcc=([^"]*)"', task.organiser.get(f"/admin/{slug}/teams").text)
    assert written is not None
    known = ["parsers@example.org", "bo@example.org", "cy@example.org", "d@example.org"]
    assert unquote(written[1]).split(",") == known
    many = {"id": "many", "name": "Many", "contact": " ".join(f"{at}@x.org" for at in range(20))}
    assert task.organiser.post(f"{task.address}/teams", json=many).status_code == 201
    monkeypatch.setattr(organise, "MOST_OF_A_LINK", 100)
    letters = re.findall(r'mailto:\?bcc=([^"]*)">([^<]*)', task.organiser.get(f"/admin/{slug}/teams").text)
    assert max(len(addresses) for addresses, _ in letters) <= 100
    assert unquote(",".join(addresses for addresses, _ in letters)).split(",") == many["contact"].split() + known
    assert letters[1][1] == f"Write to contacts, letter 2 of {len(letters)}"
    for typed, status in (("lyon", 422), ("metz", 303)):
        assert task.organiser.post(f"/admin/{slug}/teams/metz/erase", data={"id": typed}).status_code == status
    assert "metz" not in {each["id"] for each in task.organiser.get(f"{task.address}/teams").json["items"]}


def test_teams_are_shown_in_pages_and_written_to_all_at_once(task: SharedTask, monkeypatch: pytest.MonkeyPatch) -> None:
    slug = task.address.rpartition("/")[2]
    rows = "".join(f"team{at},Team {at},a{at}@example.org\n" for at in range(5))
    task.organiser.post(f"/admin/{slug}/teams", data={"table": f"id,name,contact\n{rows}"})
    monkeypatch.setattr(organise, "MANY_INVITES", PageQuery(limit=2))  # so few are read at once
    page = f"/admin/{slug}/teams?limit=3"
    first = task.organiser.get(page).text
    assert re.findall(r'<tr><th scope="row">(team\d)', first) == ["team0", "team1", "team2"]
    assert first.count("%40example.org") == 5
    assert len(task.organiser.get(f"/admin/{slug}/teams/contacts.csv").text.splitlines()) == 6
    assert task.organiser.get(f"{page}&cursor=team4").text.count("No further team.") == 1
    rest = f"/admin/{slug}/teams?cursor=team2"
    assert re.findall(r'<tr><th scope="row">(team\d)', task.organiser.get(rest).text) == ["team3", "team4"]
    erase = re.search(r'action="(\S*/team3/erase\?cursor=team2)"', task.organiser.get(rest).text)
    assert erase is not None
    assert '"erase-team3"' not in task.organiser.post(erase[1], data={"id": "other"}).text
    assert task.organiser.post(erase[1], data={"id": "team3"}).headers["Location"] == rest


def test_the_whole_address_of_an_invite_is_shown(task: SharedTask) -> None:
    slug = task.address.rpartition("/")[2]
    given = {"expires_at": "2099-12-31T00:00", "teams_at_most": "3"}
    assert "http://localhost/join/" in task.organiser.post(f"/admin/{slug}/teams/invites", data=given).text


def test_a_submission_is_withdrawn_with_a_reason_that_its_team_reads_and_only_organisers_bring_back(
    task: SharedTask,
) -> None:
    slug = task.address.rpartition("/")[2]
    lyon = task.team()
    address = task.submit(lyon)
    own = address.rpartition("/")[2]
    page = f"/admin/{slug}/submissions"
    assert f"/s/{own}" in task.organiser.get(page, query_string={"team": "lyon"}).text
    assert "No submission matches." in task.organiser.get(page, query_string={"state": "failed"}).text
    asked = {"do": "withdraw", "reason": "sent twice", "team": "lyon"}
    assert task.organiser.post(f"{page}/{own}", data=asked).headers["Location"] == f"{page}?team=lyon"
    assert lyon.get(address).json["withdrawn_reason"] == "sent twice"
    withdrawn = task.organiser.get(page, query_string={"state": "withdrawn"}).text
    assert (f"/s/{own}" in withdrawn, "<option selected>withdrawn</option>" in withdrawn) == (True, True)
    for refused in ({"withdrawn": False}, {"withdrawn": True, "reason": "mine"}):
        assert lyon.patch(address, json=refused).status_code == 403
    assert task.organiser.post(f"/s/{own}", data={"do": "withdraw", "reason": "twice"}).status_code == 303
    assert task.organiser.get(address).json["withdrawn_reason"] == "twice"
    assert task.organiser.patch(address, json={"reason": "alone"}).status_code == 422
    assert task.organiser.post(f"{page}/{own}", data={"do": "restore"}).status_code == 303
    assert f"/s/{own}" not in task.organiser.get(page, query_string={"state": "withdrawn"}).text
    shown = lyon.get(address).json
    assert (shown["withdrawn_at"], shown["withdrawn_reason"]) == (None, None)
    assert task.organiser.post(f"{page}/{own}", data={"do": "retry"}).status_code == 409


def test_what_is_being_scored_is_listed_as_running_and_not_as_queued(stage: Stage) -> None:
    task = SharedTask(stage)
    own = task.waiting().rpartition("/")[2]
    with stage.context.store.write() as db:
        assert runs.claim_next(db, "live", stage.context.now()) is not None
    for state, listed in (("queued", False), ("running", True)):
        found = task.organiser.get(f"/admin/{task.slug}/submissions", query_string={"state": state}).text
        assert (f"/s/{own}" in found) is listed, state


def test_what_the_service_failed_is_retried_and_what_waits_is_cancelled(task: SharedTask) -> None:
    lyon, page = task.team(), f"/admin/{task.slug}/submissions"
    faulty, waiting = task.faulty(lyon), task.waiting(lyon)
    shown = task.organiser.get(page).text
    assert (shown.count('value="retry"'), shown.count('value="cancel"')) == (1, 1)
    for address, do, state in ((waiting, "cancel", "cancelled"), (faulty, "retry", "succeeded")):
        assert task.organiser.post(f"{page}/{address.rpartition('/')[2]}", data={"do": do}).status_code == 303
        assert lyon.get(address).json["state"] == state
    assert "succeeded" in task.organiser.get(f"{page}/live").text


def test_a_team_is_made_of_fields_and_all_faults_of_a_table_are_told_at_once(task: SharedTask) -> None:
    page = f"/admin/{task.slug}/teams"
    made = task.organiser.post(page, data={"id": "metz", "name": "Metz", "contact": ""})
    assert 'download="' in made.text
    assert made.text.count("data-copy") == 1
    taken = task.organiser.post(page, data={"id": "metz", "name": "Other", "contact": ""})
    assert (taken.status_code, 'value="Other"' in taken.text) == (409, True)
    assert taken.text.count("autofocus") == 1  # the fault, which may be far down
    table = "id,name,contact\na b,A,\nmetz,M,\ngent,Gent,\ngent,\u202e,\n"
    told = task.organiser.post(page, data={"table": table})
    assert told.status_code == 422
    for where, code in ((2, "bad-id"), (3, "taken-id"), (5, "bad-name"), (5, "repeated-id")):
        assert f"line {where}, column" in told.text
        assert code in told.text
    assert "gent,Gent" in told.text
    contacts = task.organiser.get(f"{page}/contacts.csv")
    assert contacts.text.splitlines() == ["id,name,contact", "metz,Metz,"]


def test_faults_stand_beside_what_was_typed(task: SharedTask) -> None:
    task.team("metz")
    wrong = task.organiser.post(f"/admin/{task.slug}/teams/metz/erase", data={"id": "lyon"}).text
    assert "Nothing was erased" in wrong.partition("</form></td></tr>")[0]
    token = task.organiser.post("/admin/tokens", data={"scopes": "organise", "benchmark": "nowhere", "name": "Kept"})
    assert (token.status_code, 'id="fault-benchmark"' in token.text, 'value="Kept"' in token.text) == (422, True, True)
    scopes = task.organiser.post("/admin/tokens", data={"name": "Kept"}).text
    assert re.search('name="scopes"[^>]* aria-describedby="fault-scopes" autofocus', scopes)
    assert 'id="fault-scopes" role="alert"' in scopes
    assert "Choose at least one of what the token may do." in scopes
    past = {"expires_at": "2001-01-01T00:00", "teams_at_most": "3"}
    told = task.organiser.post(f"/admin/{task.slug}/teams/invites", data=past).text
    assert "The time is past." in told.partition('id="fault-expires_at"')[2].partition("</div>")[0]
    unnamed = {"id": "oslo", "name": "  ", "contact": ""}
    told = task.organiser.post(f"/admin/{task.slug}/teams", data=unnamed).text
    assert "printable characters" in told.partition('id="fault-name"')[2].partition("</div>")[0]


def test_an_invite_names_who_joined_by_it(task: SharedTask) -> None:
    given = {"expires_at": "2099-12-31T00:00:00Z", "teams_at_most": 3}
    made = task.organiser.post(f"{task.address}/invites", json=given).json
    team = {"invite": made["secret"], "id": "metz", "name": "Metz Parsers", "contact": "a@example.org"}
    assert task.organiser.post("/v1/join", json=team).status_code == 201
    page = f"/admin/{task.slug}/teams"
    assert task.organiser.get(f"{task.address}/invites").json["items"][0]["joined"] == ["Metz Parsers"]
    assert "<bdi>Metz Parsers</bdi>" in task.organiser.get(page).text
    assert task.organiser.post(f"{page}/metz/erase", data={"id": "metz"}).headers["Location"] == page
    assert task.organiser.get(f"{task.address}/invites").json["items"][0]["joined"] == []


def test_a_benchmark_without_submissions_is_deleted_where_its_id_is_typed(task: SharedTask) -> None:
    page = f"/admin/{task.slug}"
    wrong = task.organiser.post(f"{page}/delete", data={"id": "other"})
    assert (wrong.status_code, 'id="undeleted"' in wrong.text, "Nothing was saved" in wrong.text) == (422, True, False)
    sent = task.submit()
    refused = task.organiser.post(f"{page}/delete", data={"id": task.slug})
    assert (refused.status_code, "has 1 submission" in refused.text) == (409, True)
    assert task.organiser.delete(sent).status_code == 204
    assert task.organiser.post(f"{page}/delete", data={"id": task.slug}).headers["Location"] == "/admin"
    assert task.organiser.get(task.address).status_code == 410
    other = SharedTask(task.stage)
    token = task.organiser.post("/v1/tokens", json={"scopes": ["organise"], "benchmark": other.slug}).json["token"]
    of_one = browser(task.stage, token)
    csrf = field_of(of_one.get(f"/admin/{other.slug}"), "csrf")
    gone = of_one.post(f"/admin/{other.slug}/delete", data={"id": other.slug, "csrf": csrf})
    assert of_one.get(gone.headers["Location"]).status_code == 200


def test_no_benchmark_has_the_address_of_a_page(task: SharedTask) -> None:
    for slug in RESERVED_IDS:
        made = task.organiser.post("/v1/benchmarks", json={**BENCHMARK, "id": slug})
        assert (made.status_code, made.json["errors"][0]["code"]) == (422, "reserved-name")
    rules = [rule.rule for rule in task.stage.app.url_map.iter_rules()]
    below = {rule.split("/")[2] for rule in rules if rule.startswith("/admin/")}
    assert below == {"<benchmark>", *RESERVED_IDS}


def test_the_form_with_a_reason_has_one_button_and_an_unknown_change_is_refused(task: SharedTask) -> None:
    """Enter in the reason presses the first button of its form."""
    name = task.waiting(task.team()).rpartition("/")[2]
    page = f"/admin/{task.slug}/submissions"
    forms = re.findall("<form.*?</form>", task.organiser.get(page).text, re.DOTALL)
    found = [re.findall('name="do" value="([a-z]+)"', form) for form in forms if f"{page}/{name}" in form]
    assert found == [["cancel"], ["withdraw"]]
    assert task.organiser.post(f"{page}/{name}", data={"do": "withdraw"}).status_code == 303
    for do in ({}, {"do": "bogus"}):
        assert task.organiser.post(f"{page}/{name}", data=do).status_code == 400
    assert task.organiser.get(f"/v1/submissions/{name}").json["withdrawn_at"] is not None


def test_a_revision_is_shown_beside_the_last_one_that_came_into_force(task: SharedTask) -> None:
    parts = {name: {"gold": GOLD_CONLLU} for name in ("en", "de")}
    task = SharedTask(task.stage, parts=parts, feedback="scores")
    for part, gold in (("en", "1\tbroken\n\n"), ("de", ONE_WRONG)):
        made = {"parts": {part: {"gold": gold}}, "reason": "why"}
        assert task.organiser.post(f"{task.address}/revisions", json=made).status_code == 201
    for _ in range(3):
        tried = {"parts": {"de": {"gold": GOLD_CONLLU}}, "dry_run": True}
        assert task.organiser.post(f"{task.address}/revisions", json=tried).status_code == 201
    page = words_of(task.organiser.get(f"/b/{task.slug}/revisions?limit=3"))
    assert page.index("Revision 3") < page.index("new gold: de") < page.index("Revision 2")
    assert "new gold: en, de" not in page


def test_compare_says_that_its_comparison_was_deleted(task: SharedTask) -> None:
    task = SharedTask(task.stage, feedback="scores")
    task.two()
    asked = task.organiser.post(f"{task.address}/comparisons", json={"submissions": "leaderboard"}).headers["Location"]
    readers = (task.organiser, task.stage.client(None))
    for status in (204, 410):
        assert task.organiser.delete(asked).status_code == status
        for reader in readers:
            page = reader.get(f"/b/{task.slug}/compare")
            assert (page.status_code, "was deleted by an organiser" in words_of(page)) == (200, True)
