"""The page of a submission: what each caller and level sees, what may be changed, and the part that is live."""

from __future__ import annotations

import html
import json
import re
from unittest.mock import Mock

import pytest
from werkzeug.test import TestResponse

from service.errors import CODES, TooManyRequests
from service.pages import standing, submit
from service.pages.answers import fix_of
from service.pages.slices import MOST_TOGETHER, Sums
from service.usecases.submissions import submissions as use_cases
from tests.contract.checking import CheckedClient
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from tests.fixtures.form_pages import browser, field_of, token_of, words_of
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.tasks import UNLIMITED
from tests.service.pages.reading import Page

PARTS = {"en": {"gold": GOLD_CONLLU}, "de": {"gold": GOLD_CONLLU}}


@pytest.fixture
def stage(kept_stage: Stage) -> Stage:
    """The tests leave each other alone: each has benchmarks of its own."""
    return kept_stage


def page_of(address: str) -> str:
    return address.replace("/v1/submissions/", "/s/")


def change(client: CheckedClient, page: str, do: str, **fields: str) -> TestResponse:
    value = field_of(client.get("/submit" if do else page), "csrf")
    return client.post(page, data={"csrf": value, "do": do, **fields})


def cells_of(page: TestResponse, part: str) -> list[str]:
    row = re.search(rf"<th scope=\"row\"><bdi>{re.escape(part)}</bdi>.*?</tr>", page.text)
    assert row is not None, page.text
    return [html.unescape(cell) for cell in re.findall(r"<td[^>]*>([^<]*)</td>", row[0])]


def test_cells_are_the_scores_of_the_api(stage: Stage) -> None:
    task = SharedTask(stage, parts=PARTS, feedback="gold")
    team = task.team()
    address = task.submit(team, outputs={"en": ONE_WRONG})
    document = team.get(address).json
    page = browser(stage, token_of(team)).get(page_of(address))
    metric = document["scores"]["metrics"]["attachment"]
    names = ["las", "uas"]
    for label, scores in (
        ("mean of all parts", metric["macro"]), ("all sentences together", metric["scores"]),
        ("en", metric["parts"]["en"]["scores"]),
    ):  # fmt: skip
        cells = [cell for cell in cells_of(page, label) if "–" not in cell and cell]
        assert cells[:2] == [f"{100 * scores[name]:.2f}" for name in names]
    assert cells_of(page, "de")[0] == "–"
    assert "not sent" in words_of(page)


def test_who_sees_it(stage: Stage) -> None:
    task = SharedTask(stage)
    address = page_of(task.submit(task.team()))
    other = browser(stage, token_of(task.team("oslo")))
    for way in ("", "/live", "/delete", "/output"):
        assert other.get(f"{address}{way}").status_code == 404
        assert browser(stage, None).get(f"{address}{way}").status_code == 401
    assert "team lyon Parsing Group , sent" in words_of(browser(stage).get(address))
    assert ">lyon Parsing Group</h1>" in browser(stage).get(f"{address}/sentences").text
    assert change(other, address, "withdraw").status_code == 404
    assert other.get("/s/sub_unknown").status_code == 404
    assert other.get("/s/%00").status_code == 404


@pytest.mark.parametrize("level", ["items", "gold"])
def test_sentences_that_differ_from_another_of_the_team_are_found_beside_gold_only(stage: Stage, level: str) -> None:
    task = SharedTask(stage, feedback=level)
    client = task.team()
    first = task.submit(client, GOLD_CONLLU, name="first")
    second = task.submit(client, ONE_WRONG, name="second")
    task.submit(task.team("oslo"), ONE_WRONG, name="of another team")
    page = client.get(page_of(second)).text
    offered = re.findall(r'<option value="(sub_\w+)" selected>(.+?)</option>', page)
    assert offered == [(first.rpartition("/")[2], "first")]
    assert ("Show sentences that differ" in page) == (level == "gold")
    address = f"{page_of(second)}/sentences?a={first.rpartition('/')[2]}"
    assert client.get(address).status_code == (200 if level == "gold" else 403)


def test_what_is_offered_goes_by_the_level_of_the_moment_and_by_closing(stage: Stage) -> None:
    task = SharedTask(stage, feedback="items", feedback_after_closing="gold")
    client = task.team()
    address = f"{page_of(task.submit(client))}/sentences?wrong=any"
    assert '<option value="head">' not in client.get(address).text
    closed = {"opens_at": "2026-10-01T00:00:00Z", "closes_at": "2026-11-01T00:00:00Z"}
    patched = task.organiser.patch(task.address, json=closed, headers={"If-Match": "*"})
    assert patched.status_code == 200, patched.text
    assert '<option value="head">' in client.get(address).text
    asked = address.replace("/sentences?wrong=any", "/delete")
    refused = client.get(asked)
    assert (refused.status_code, "only organisers may delete" in words_of(refused)) == (403, True)
    assert "<h1>Delete" not in refused.text
    assert "<h1>Delete" in browser(stage).get(asked).text


def test_a_submission_stands_on_the_board_and_beside_the_one_before(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores")
    client = task.team()
    other = SharedTask(stage, feedback="scores")
    alone = other.team()
    only = other.submit(alone)
    first = task.submit(client, ONE_WRONG, name="first")
    task.submit(task.team("oslo"), ONE_WRONG)
    second = task.submit(client, GOLD_CONLLU, name="second")
    pages = browser(stage, token_of(client))
    words = words_of(pages.get(page_of(second)))
    assert "could be" not in words_of(browser(stage, token_of(alone)).get(page_of(only)))
    rows = client.get(f"{task.address}/leaderboard").json["rows"]
    low, high = rows[0]["rank_interval"]
    assert f"100.00 rank 1 of 2 (could be {low}–{high}) +16.67 on oslo Parsing Group , p " in words
    assert "+16.67 on first" in words
    assert "Compare it with every other row" in words
    before = words_of(pages.get(page_of(first)))
    assert "rank" not in before.partition("Scores")[0]  # it is no row of the board
    assert "+16.67" not in before
    page = pages.get("/submit")
    assert "100.00 +16.67 – " in words_of(page)
    assert '<svg class="trend"' in page.text
    assert pages.get(f"/b/{task.slug}").text.count('<tr class=" mine">') == 1


def test_of_many_submissions_the_earlier_ones_stand_beside_each(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    task = SharedTask(stage, feedback="scores")
    client = task.team()
    sent = [
        task.submit(client, text, name=name)
        for name, text in (("one", ONE_WRONG), ("two", GOLD_CONLLU), ("six", ONE_WRONG))
    ]
    pages = browser(stage, token_of(client))
    monkeypatch.setattr(submit, "LISTED", 1)
    monkeypatch.setattr(standing, "MOST_OTHERS", 1)
    second = pages.get("/submit").text
    address = re.search(r"/submit\?cursor=\w+", second)
    assert address is not None
    assert "100.00 +16.67" in words_of(pages.get(address[0]))
    assert "+16.67 on one" in words_of(pages.get(page_of(sent[1])))
    asked = sent[2].rpartition("/")[2]
    assert f'<option value="{asked}" selected>' in pages.get(f"{page_of(sent[1])}?a={asked}").text


def test_the_difference_of_two_own_submissions_is_tested_when_asked(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores", quota={**UNLIMITED, "comparisons_per_day": None})
    client = task.team()
    first, second = (task.submit(client, text, name="one") for text in (GOLD_CONLLU, ONE_WRONG))
    pages = browser(stage, token_of(client))
    other = first.rpartition("/")[2]
    address = f"{page_of(second)}?a={other}"
    asked = words_of(pages.get(address))
    assert ("Test the difference" in asked, "new comparisons a day" in asked) == (True, False)  # of any number
    sent = change(pages, page_of(second), "compare", a=other)
    assert sent.headers["Location"] == f"{address}#beside"
    [listed] = client.get(f"{task.address}/comparisons").json["items"]
    answer = client.get(f"/v1/comparisons/{listed['id']}").json
    pair = answer["pairs"][0]
    shown = words_of(pages.get(address))
    assert (
        f"-16.67 on one : not significant, p {pair['p_adjusted']:.2f}".replace("-", "−").replace(" 0.", " .") in shown
    )
    assert "Test the difference" not in shown
    assert "Gold marks no documents, so its sentences are taken as independent. Each system was trained once" in shown
    assert "Not significant does not mean equal." in shown
    assert "compare" not in words_of(pages.get("/submit")).partition("My submissions")[2]
    assert pages.get(f"{page_of(second)}?a={task.submit().rpartition('/')[2]}").status_code == 404


@pytest.mark.parametrize("level", ["none", "status", "rounded"])
def test_no_test_is_offered_below_scores(stage: Stage, level: str) -> None:
    task = SharedTask(stage, feedback=level)
    client = task.team()
    task.submit(client, GOLD_CONLLU, name="first")
    second = page_of(task.submit(client, ONE_WRONG, name="second"))
    pages = browser(stage, token_of(client))
    words = words_of(pages.get(second))
    assert ("−17 on first" in words) == (level == "rounded")
    assert "Test the difference" not in words
    assert change(pages, second, "compare", a="sub_1").status_code == 403
    assert ("83" in words_of(pages.get("/submit"))) == (level == "rounded")
    assert ">compare</a>" not in pages.get("/submit").text


def slices_of(page: TestResponse) -> dict[str, list[str]]:
    table = page.text.partition('class="board slices"')[2].partition("</table>")[0]
    found = {}
    for row in re.findall(r"<tr>(<th scope=\"row\".*?)</tr>", table):
        cells = [html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
        found[re.sub(r"<[^>]*>", "", row.partition("</th>")[0])] = [cell for cell in cells if cell]
    return found


def test_slices_are_summed_over_parts_beside_another_and_sorted(stage: Stage) -> None:
    task = SharedTask(stage, parts=PARTS, feedback="gold")
    client = task.team()
    first = task.submit(client, outputs={"en": GOLD_CONLLU, "de": ONE_WRONG}).rpartition("/")[2]
    outputs = {"en": ONE_WRONG.replace("\tnsubj\t", "\tdep\t"), "de": GOLD_CONLLU.replace("\tobj\t", "\tiobj\t")}
    second = task.submit(client, outputs=outputs)
    by_part = []
    for part in PARTS:
        answer = client.get(f"{second}/slices", query_string={"part": part, "by": "upos"})
        by_part.append({row["value"]: row for row in answer.json["slices"]})
    address = f"{page_of(second)}?by=upos"
    alone, whole = slices_of(client.get(f"{address}&part=en")), slices_of(client.get(address))
    assert alone.keys() == by_part[0].keys()
    for value, row in by_part[0].items():
        counts, scores = row["counts"], row["scores"]
        figures = [scores[name] for name in ("system_las", "las")]  # head and relation are right
        assert alone[value][:2] == [str(counts["gold"]), str(counts["system"])]
        assert alone[value][3:] == [f"{100 * each:.2f}" for each in figures]
        assert value != "PRON" or scores["las"] < scores["recall_with_head"]
        assert whole[value][0] == str(counts["gold"] + by_part[1][value]["counts"]["gold"])
    verbs = [each[2] for each in (alone["VERB"], whole["VERB"])]
    assert float(verbs[0]) <= float(verbs[1]) <= 100
    beside = client.get(f"{address}&part=en&a={first}&sort=-difference")
    differences = [float(cells[5].replace("−", "-")) for cells in slices_of(beside).values()]
    assert differences == sorted(differences, reverse=True)
    assert min(differences) < 0 == max(differences)
    more = client.get(f"{address}&columns=all")
    assert "in the part en" in words_of(more)
    assert "Precision with head" in words_of(more)
    labels = client.get(f"{page_of(second)}?by=deprel")
    looks = [html.unescape(each) for each in re.findall(r'href="(/s/[^"]*label=[^"]*)"', labels.text)]
    assert {"part=en&label=obj", "part=de&label=iobj"} <= {each.partition("?")[2] for each in looks}
    assert re.search(r'label=iobj" aria-label="Sentences with iobj in de">look in de</a>', labels.text)
    for each in looks:  # each leads to sentences, of a part that has the group
        assert "No sentence" not in words_of(client.get(each))


def test_slices_say_of_which_parts_they_are(stage: Stage) -> None:
    task = SharedTask(stage, parts={**PARTS, "fr": {"gold": GOLD_CONLLU}}, feedback="gold")
    client = task.team()
    page = client.get(f"{page_of(task.submit(client, outputs=dict.fromkeys(PARTS, ONE_WRONG)))}?by=upos")
    assert "attachment by UPOS in the 2 of 3 parts that were scored: how many" in words_of(page)


def test_many_parts_are_summed_where_that_is_asked_for(stage: Stage) -> None:
    names = [f"p{at:02}" for at in range(MOST_TOGETHER + 1)]
    task = SharedTask(stage, parts={name: {"gold": GOLD_CONLLU} for name in names}, feedback="gold")
    client = task.team()
    address = f"{page_of(task.submit(client, outputs=dict.fromkeys(names, ONE_WRONG)))}?by=upos"
    alone, every = words_of(client.get(address)), words_of(client.get(f"{address}&part=pooled"))
    assert "all 11 together, which takes longer" in alone
    assert ("in the part p00 :" in alone, "in all parts together:" in every) == (True, True)


def test_relations_are_grouped_as_the_metric_compares_them(stage: Stage) -> None:
    task = SharedTask(stage, metrics=["ud"], feedback="gold")
    client = task.team()
    address = page_of(task.submit(client, GOLD_CONLLU.replace("\tnsubj\t", "\tnsubj:pass\t")))
    assert f'hx-get="{address}?by=udeprel"' in client.get(address).text
    assert "UD by relation without subtype in the part en" in words_of(client.get(f"{address}?by=udeprel"))


def test_f1_is_a_dash_where_one_side_has_nothing() -> None:
    assert Sums(305, 0, 262, 0).shares == (None, None, 262 / 305)
    assert Sums(0, 4, 0, 0).shares == (0.0, 0.0, None)
    assert Sums(0, 0, 0, 0).shares == (None, None, None)


def test_words_that_gold_does_not_state_are_not_counted(stage: Stage) -> None:
    links = "0-0 1-1\n0-0\n"
    task = SharedTask(stage, format="pharaoh", metrics=["alignment"], parts={"en": {"gold": links}}, feedback="gold")
    client = task.team()
    page = client.get(page_of(task.submit(client, links)))
    heads, counts = (page.text.partition('class="board counts"')[2].split("<tr>")[at] for at in (1, 2))
    found = dict(zip(*(re.findall(r">([^<]+)</t[hd]>", row) for row in (heads, counts)), strict=True))
    assert (found["Source words"], found["Target words"], found["Aligned source words"]) == ("–", "–", "3")
    assert client.get(task.address).json["parts"]["en"]["words"] is None
    assert client.get(f"{task.address}/matrix").json["parts"][0]["words"] is None


def test_lengths_are_one_picture_with_the_figures_of_the_table(stage: Stage) -> None:
    relations = {at: "dep" if at > 1 else "root" for at in range(1, 15)}
    long = "".join(f"{at}\tw\tw\tX\t_\t_\t{at - 1}\t{relation}\t_\t_\n" for at, relation in relations.items())
    gold = GOLD_CONLLU + long + "\n"
    task = SharedTask(stage, parts={"en": {"gold": gold}}, feedback="gold")
    client = task.team()
    first = task.submit(client, gold).rpartition("/")[2]
    address = f"{page_of(task.submit(client, gold.replace('13	dep', '1	dep')))}?a={first}&by="
    page = client.get(f"{address}sentence_length")
    table, (picture,) = slices_of(page), re.findall('<svg[^>]*class="drawing".*?</svg>', page.text)
    assert "F1 of attachment by sentence length" in picture
    described = ", ".join(f"{group} {cells[2]}" for group, cells in table.items())
    assert f"F1 by group: {described}." in picture
    assert picture.count('class="pt"') == picture.count('class="pt ho"') == len(table) == 2
    assert "style" not in picture
    assert 'class="drawing"' in client.get(f"{address}distance").text
    assert 'class="drawing"' not in client.get(f"{address}deprel").text


def test_the_picture_of_lengths_below_gold_is_of_the_output(stage: Stage) -> None:
    task = SharedTask(stage, feedback="items")
    client = task.team()
    (picture,) = re.findall("<svg.*?</svg>", client.get(f"{page_of(task.submit(client))}?by=distance").text)
    assert "of attachment by distance" in picture, picture
    assert not re.search("F1|Recall", picture)


def test_slices_below_gold_are_those_of_the_output(stage: Stage) -> None:
    task = SharedTask(stage, parts=PARTS, feedback="items")
    client = task.team()
    page = client.get(f"{page_of(task.submit(client))}?by=deprel")
    assert "attachment by relation in the part en" in words_of(page)
    heads = words_of(page).partition("attachment by relation")[2].partition("nsubj")[0]
    assert ("System" in heads, "Gold" in heads, "Recall" in heads) == (True, False, False)
    assert "all together" not in words_of(page)


def test_a_fault_of_the_service_is_said_once(stage: Stage) -> None:
    task = SharedTask(stage)
    words = words_of(task.organiser.get(page_of(task.faulty(task.team()))))
    assert words.count("The service failed.") == 1
    assert "to try again costs nothing" in words


def test_what_pages_advise_is_no_call() -> None:
    assert [code for code in CODES if "request" in fix_of(code)] == []


def test_failures_have_part_line_and_fix(stage: Stage) -> None:
    task = SharedTask(stage, feedback="status")
    team = task.team()
    address = page_of(task.submit(team, GOLD_CONLLU.replace("stars\tstar\t", "stars\t")))
    words = words_of(browser(stage, token_of(team)).get(address))
    assert "Could not be scored." in words
    assert "part en, sentence 1, line 4" in words
    assert "use tabs instead of spaces" in words


def test_slices_by_relation_come_once_they_are_looked_at_unless_others_are_asked_for(stage: Stage) -> None:
    task = SharedTask(stage)
    team = task.team()
    client, address = browser(stage, token_of(team)), page_of(task.submit(team))
    loads = f'hx-get="{address}?by=deprel" hx-select="#slices" hx-trigger="revealed"'
    assert loads in client.get(address).text
    assert "hx-trigger" not in client.get(f"{address}?by=deprel").text
    assert "hx-trigger" not in client.get(f"{address}?part=&by=").text


def test_the_live_part_ends_when_it_is_scored(stage: Stage) -> None:
    task = SharedTask(stage)
    team = task.team()
    address = task.waiting(team)
    client = browser(stage, token_of(team))
    page = client.get(page_of(address))
    assert "Waiting." in words_of(page)
    assert "scored in about" in words_of(page)
    live = html.unescape(page.text.partition('hx-get="')[2].partition('"')[0])
    assert client.get(live).status_code == 204
    stage.queue.put(address.rpartition("/")[2], "live")
    done = client.get(live)
    assert done.status_code == 286
    assert "hx-get" not in done.text
    assert "Scored" in done.text
    outputs = done.text.partition('id="outputs" hx-swap-oob="true"')[2]
    assert "Sentences as pictures" in outputs
    assert " sentences</span>" in outputs


def test_withdraw_choose_rename_and_their_ways_back(stage: Stage) -> None:
    task = SharedTask(stage, leaderboard={"pick": "chosen"})
    team = task.team()
    address = task.submit(team)
    client, page = browser(stage, token_of(team)), page_of(address)
    assert change(client, page, "withdraw").headers["Location"] == page
    assert "Withdrawn" in words_of(client.get(page))
    assert team.get(address).json["withdrawn_at"] is not None
    assert change(client, page, "restore").status_code == 303
    assert change(client, page, "choose").status_code == 303
    assert team.get(address).json["chosen"] is True
    assert "chosen" in words_of(client.get(page))
    assert change(client, page, "unchoose").status_code == 303
    assert change(client, page, "edit", name="<i>neu</i>", notes="a\r\nb").status_code == 303
    document = team.get(address).json
    assert (document["name"], document["notes"], document["chosen"]) == ("<i>neu</i>", "a\nb", False)
    assert "&lt;i&gt;neu&lt;/i&gt;" in client.get(page).text
    assert change(client, page, "edit", name="neu", notes=" ").status_code == 303
    assert team.get(address).json["notes"] is None


def test_the_report_on_fitting_names_what_it_counts(stage: Stage) -> None:
    task = SharedTask(stage)
    own, other = (task.submit(task.team(name), GOLD_CONLLU).rpartition("/")[2] for name in ("lyon", "oslo"))
    page = browser(stage).get(f"/admin/{task.slug}")
    names = {each["id"]: each["name"] for each in task.organiser.get(f"{task.address}/teams").json["items"]}
    for one, another, team in ((own, other, "oslo"), (other, own, "lyon")):
        assert f'1: <a href="/s/{one}">en</a> as <a href="/s/{another}">{names[team]}</a>' in page.text
        assert f'<td><a href="/s/{one}">100.00</a></td>' in page.text
        assert f"/submit?benchmark={task.slug}&amp;team={team}" in page.text
    words = sum(part["words"] for part in task.organiser.get(task.address).json["parts"].values())
    assert f"One for each word of gold, {words} together" in words_of(page)
    jumps = set(re.findall('href="#([^"]*)"', page.text))
    assert {"gold", "group-1", "revisions-h", "climbing", "delete"} <= jumps <= set(Page(page.text).ids)


@pytest.mark.parametrize("pick", ["best", "chosen"])
def test_what_a_page_offers_and_says_is_so(stage: Stage, pick: str) -> None:
    task = SharedTask(stage, leaderboard={"pick": pick})
    team = task.team()
    address = team.post(f"{task.address}/submissions", json={"outputs": {"en": ONE_WRONG}}).headers["Location"]
    client, page = browser(stage, token_of(team)), page_of(address)
    assert team.patch(address, json={"chosen": True}).status_code == 200
    own, said = {"withdraw", "unchoose"} if pick == "chosen" else {"withdraw"}, "the team has chosen for the board"
    number = address.rpartition("/")[2]

    def offered(who: CheckedClient) -> set[str]:
        return set(re.findall(r'name="do" value="(\w+)"', who.get(page).text)) - {"edit"}

    shown = client.get(page)
    assert (offered(client), "Left:" in words_of(shown)) == (own, True)
    assert (said in words_of(shown)) == (", chosen" in words_of(client.get("/submit"))) == (pick == "chosen")
    assert '<h1 dir="auto">Submission of 20' in shown.text
    assert f">{number}<" not in client.get("/submit").text
    # before it opens and after it closes
    for times in (
        {"opens_at": "2027-10-01T00:00:00Z"}, {"opens_at": None, "closes_at": "2026-11-01T00:00:00Z"},
    ):  # fmt: skip
        assert task.organiser.patch(task.address, json=times, headers={"If-Match": "*"}).status_code == 200
        words = words_of(client.get(page))
        assert (offered(client), offered(browser(stage))) == ({"withdraw"}, own)
        assert [word for word in ("Withdraw", "Left:", "Delete") if word in words] == []
        assert "Take back for good" in words
        assert 'type="file"' not in client.get("/submit").text
    assert change(client, page, "withdraw").status_code == 303
    assert offered(client) == set()
    assert said not in words_of(client.get(page))
    assert task.organiser.delete(f"{task.address}/teams/lyon").status_code == 204
    assert "Unnamed submission" in words_of(browser(stage).get(page))


def test_organisers_withdraw_what_may_stand_on_a_board(stage: Stage) -> None:
    task = SharedTask(stage)
    task.submit(task.team(), "no tree")
    page = task.organiser.get(f"/admin/{task.slug}/submissions")
    assert ("failed" in words_of(page), 'value="withdraw"' in page.text) == (True, False)


def test_a_name_that_is_refused_is_kept_in_the_form(stage: Stage) -> None:
    task = SharedTask(stage)
    team = task.team()
    page = page_of(task.submit(team))
    answer = change(browser(stage, token_of(team)), page, "edit", name="", notes="kept")
    assert answer.status_code == 422
    assert "Not changed" in words_of(answer)
    assert ">kept</textarea>" in answer.text
    assert re.search('id="name"[^>]*aria-invalid', answer.text)
    code = change(browser(stage, token_of(team)), page, "edit", name="a", code="http://example.org")
    assert re.search('id="code"[^>]*aria-invalid', code.text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            use_cases, "patch_submission", Mock(side_effect=TooManyRequests("Later.", slug="too-many-changes"))
        )
        assert change(browser(stage, token_of(team)), page, "edit", name="c").status_code == 429
    saved = change(browser(stage, token_of(team)), page, "edit", name="b")
    assert "Saved." in browser(stage, token_of(team)).get(saved.headers["Location"]).text


def test_cancel_and_retry(stage: Stage) -> None:
    task = SharedTask(stage)
    team = task.team()
    client = browser(stage, token_of(team))
    waiting, faulty = task.waiting(team), task.faulty(team)
    assert change(client, page_of(waiting), "cancel").status_code == 303
    assert team.get(waiting).json["state"] == "cancelled"
    assert change(client, page_of(waiting), "cancel").status_code == 409
    assert "Try again" in words_of(client.get(page_of(faulty)))
    assert change(client, page_of(faulty), "retry").status_code == 303
    assert team.get(faulty).json["state"] == "succeeded"
    assert change(client, page_of(faulty), "retry").status_code == 409
    assert change(client, page_of(faulty), "vanish").status_code == 400


def test_delete_asks_once_more_and_says_so_afterwards(stage: Stage) -> None:
    task = SharedTask(stage)
    team = task.team()
    page = page_of(task.submit(team))
    client = browser(stage, token_of(team))
    asked = client.get(f"{page}/delete")
    assert "Delete" in words_of(asked)
    assert client.get(page).status_code == 200
    sent = client.post(f"{page}/delete", data={"csrf": field_of(asked, "csrf")})
    assert sent.headers["Location"] == "/submit"
    for way in ("", "/live?version=x", "/output"):
        assert client.get(f"{page}{way}").status_code == 410


def test_outputs_are_sent_byte_for_byte_as_files(stage: Stage) -> None:
    task = SharedTask(stage, parts=PARTS)
    team = task.team()
    page = page_of(task.submit(team, outputs={"en": ONE_WRONG, "de": GOLD_CONLLU}))
    client = browser(stage, token_of(team))
    answer = client.get(f"{page}/output?part=en")
    assert answer.text == ONE_WRONG
    assert answer.headers["Content-Disposition"] == 'attachment; filename="en.conllu"'
    assert answer.mimetype == "text/plain"
    assert client.get(f"{page}/output").status_code == 404
    assert client.get(f"{page}/output?part=fr").status_code == 404


def test_names_are_text(stage: Stage) -> None:
    task = SharedTask(stage)
    team = task.team()
    for name in ("<script>alert(1)</script>", "שלום", "x" * 200, "{{ 7 * 7 }}"):
        page = browser(stage, token_of(team)).get(page_of(task.submit(team, name=name)))
        assert "<script>alert" not in page.text
        assert f'<h1 dir="auto">{html.escape(name)}</h1>' in page.text
        assert ">49<" not in page.text


def test_a_sentence_has_the_heads_of_the_output_and_a_field_to_jump(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores")
    client = task.team()
    page = client.get(f"{page_of(task.submit(client, ONE_WRONG))}/sentences?n=1")
    heads = re.search(r'data-heads="([^"]*)"', page.text)
    assert heads is not None
    own = [line.split("\t") for line in ONE_WRONG.split("\n\n")[0].splitlines() if line[0].isdigit()]
    assert json.loads(html.unescape(heads[1])) == {columns[0]: columns[6] for columns in own}
    assert re.search(r'type="number" name="n"[^>]*> of 2<', page.text) is not None
    beyond = client.get(f"{page.request.path}?n=99")
    assert ">Sentence 2</a>" in beyond.text
