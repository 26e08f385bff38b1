"""Hand-written bodies of every request component: what the contract and the schemas must take, and must refuse."""

from __future__ import annotations

from typing import Any, NamedTuple

from service.requests import SCOPES


class Bodies(NamedTuple):
    """Bodies of one component."""

    good: tuple[Any, ...]
    bad: tuple[Any, ...]


TEXTS = {"source": "a", "target": "b", "alignment": "1-1"}
TEAM = {"id": "lyon", "name": "Lyon"}
INVITE = {"expires_at": "2099-10-01T00:00:00Z", "teams_at_most": 1}
JOIN = {**TEAM, "invite": "secret", "contact": "a@example.org"}
SYSTEM = {"name": "A", "output": "text"}
JOB = {"format": "conllu", "gold": "text", "systems": [SYSTEM], "metrics": ["attachment"]}
BENCHMARK = {"id": "demo", "title": "Demo", "format": "conllu", "metrics": ["ud"], "parts": {"en": {"gold": "text"}}}
LONG = "x" * 201
ITEMS_GOOD = (
    {},
    {"lengths": [[7, 8], [0, 2147483647]], "blocks": ["a", ""]},
    {"attributes": {"genre": ["news", "web"]}},
)
ITEMS_BAD = (
    [],
    {"lengths": [[7]]},
    {"lengths": [[7, -1]]},
    {"lengths": [[7, 2147483648]]},
    {"blocks": [1]},
    {"attributes": {"genre": "news"}},
    {"attributes": {"": ["news"]}},
    {"colour": []},
)
BAD_ADDRESSES = (
    *("", "example.org", "http://example.org", "HTTPS://example.org", "javascript:alert(1)", "https://", "https:///x"),
    *("https://a b", "https://example.org/\u202e", "https://exämple.org", "https://user:pass@example.org"),
    *('https://example.org/"onclick=x', "https://example.org/<b>", "https://a.b/" + "x" * 489, 7, None),
)
CHANGES_GOOD = (
    {},
    {"title": "Demo", "series": None, "feedback": "gold", "feedback_after_closing": None},
    {"opens_at": "2026-10-01T00:00:00Z", "closes_at": "2027-11-01T23:59:59-12:00"},
    {"publish_input": True},
    {"tracks": {}},
    {"tracks": {"pud": ["en", "de"], "small": ["fr"]}},
    {"publish_input": "words", "rounding": 1, "quota": {"scored_per_day": None}},
    {"rounding": None, "leaderboard": {"pick": "best"}, "publish_input": "text"},
    {"about": {"links": None, "rules": None}},
)
ABOUT = {"description": "# A\n\n\tb", "rules": "", "citation": None, "licence": "CC BY", "contact": "é"}
LINK = {"label": "Call", "url": "https://example.org:443/call?a=%C3%A9#b"}
LINKS = {"paper": LINK["url"], "code": None}
ABOUT_BAD = (
    {"description": 7},
    {"rules": "x" * 20_001},
    {"links": [LINK] * 21},
    {"links": {}},
    {"links": [{**LINK, "url": "http://example.org"}]},
    {"link": LINK},
)
CHANGES_BAD = (
    "title",
    {"title": ""},
    {"title": None},
    {"series": "-demo"},
    {"feedback": "all"},
    {"feedback": None},
    {"feedback_after_closing": "all"},
    {"rounding": 0},
    {"rounding": 1.5},
    {"publish_input": "all"},
    {"tracks": None},
    {"tracks": ["en"]},
    {"tracks": {"pud": []}},
    {"tracks": {"pud": ["en", "en"]}},
    {"tracks": {"pud": "en"}},
    {"tracks": {"pud": [1]}},
    {"tracks": {f"t{number}": ["en"] for number in range(101)}},
    {"publish_input": 1},
    {"opens_at": "tomorrow"},
    {"closes_at": 1},
    {"quota": None},
    {"about": None},
    *({"about": about} for about in ABOUT_BAD),
    {"leaderboard": {"pick": "worst"}},
)

BODIES: dict[str, Bodies] = {
    "JobRequest": Bodies(
        good=(
            JOB,
            {**JOB, "gold": TEXTS, "format": {"name": "parallel", "trees": "conllu", "alignment": "talp"}},
            {**JOB, "significance": False, "transforms": ["black"], "items": {"seconds": {"A": [0.2, 0]}}},
            {
                **JOB,
                "significance": {"scores": ["attachment.las"]},
                "agreement": [["attachment.las", "attachment.uas"]],
            },
        ),
        bad=(
            {name: JOB[name] for name in JOB if name != "metrics"},
            {**JOB, "metrics": []},
            {**JOB, "metrics": ["ud"] * 51},
            {**JOB, "systems": []},
            {**JOB, "gold": 7},
            {**JOB, "gold": None},
            {**JOB, "significance": "yes"},
            {**JOB, "agreement": [["attachment.las"]]},
            {**JOB, "agreement": [["a", "b", "c"]]},
            {**JOB, "agreement": [["a", "b"]] * 51},
            {**JOB, "transforms": ["black"] * 51},
            {**JOB, "items": None},
            {**JOB, "sytems": []},
            [JOB],
        ),
    ),
    "Texts": Bodies(
        good=(TEXTS, {**TEXTS, "source": ""}, {**TEXTS, "alignment": "é\n"}),
        bad=({"source": "a", "target": "b"}, {**TEXTS, "source": None}, {**TEXTS, "more": "c"}, "text"),
    ),
    "FormatChoice": Bodies(
        good=({"name": "conllu"}, {"name": "bracketed", "layout": "lines"}, {"name": "x", "y": None}),
        bad=({}, {"layout": "lines"}, {"name": ""}, {"name": 1}, {"name": LONG}, "conllu"),
    ),
    "TransformEntry": Bodies(
        good=({"name": "black"}, {"name": "flatten", "on": "gold"}, {"name": "x", "params": {"y": [1]}, "on": "both"}),
        bad=({}, {"name": "black", "on": "left"}, {"name": "black", "params": []}, {"name": "black", "key": "b"}),
    ),
    "MetricEntry": Bodies(
        good=(
            {"name": "ud"},
            {"name": "attachment", "key": "attachment_nopunct", "params": {"punctuation": False}},
            {"name": "parseval", "transforms": ["black", {"name": "flatten"}]},
        ),
        bad=(
            {"key": "a"},
            {"name": "ud", "key": ""},
            {"name": "ud", "key": "a b"},
            {"name": "ud", "key": "é"},
            {"name": "ud", "key": "k" * 101},
            {"name": "ud", "params": None},
            {"name": "ud", "transforms": "black"},
            {"name": "ud", "transforms": ["black"] * 51},
        ),
    ),
    "SystemEntry": Bodies(
        good=(SYSTEM, {**SYSTEM, "format": "pharaoh"}, {**SYSTEM, "output": TEXTS, "run_of": "B"}),
        bad=(
            {"name": "A"},
            {"output": "text"},
            {**SYSTEM, "name": ""},
            {**SYSTEM, "output": []},
            {**SYSTEM, "run_of": 1},
            {**SYSTEM, "format": None},
        ),
    ),
    "Items": Bodies(
        good=(*ITEMS_GOOD, {"seconds": {"A": [0.2, 0]}}),
        bad=(*ITEMS_BAD, {"seconds": {"A": [-1]}}, {"seconds": {"A": ["1"]}}),
    ),
    "BenchmarkRequest": Bodies(
        good=(
            BENCHMARK,
            {**BENCHMARK, "transforms": ["black"], "main_score": "ud.las_f1", "parts": {}},
            *({**BENCHMARK, **changes} for changes in CHANGES_GOOD),
        ),
        bad=(
            {name: BENCHMARK[name] for name in BENCHMARK if name != "id"},
            {**BENCHMARK, "id": "a b"},
            {**BENCHMARK, "id": "x" * 61},
            {**BENCHMARK, "parts": {"en": None}},
            {**BENCHMARK, "parts": {"en": "text"}},
            {**BENCHMARK, "parts": []},
            {**BENCHMARK, "metrics": "ud"},
            *({**BENCHMARK, **changes} for changes in CHANGES_BAD if isinstance(changes, dict)),
        ),
    ),
    "BenchmarkChanges": Bodies(good=CHANGES_GOOD, bad=(*CHANGES_BAD, {"format": "conllu"}, {"parts": {}})),
    "PartGold": Bodies(
        good=({"gold": "text"}, {"gold": TEXTS}, {"gold": "", "items": {"blocks": ["a"]}}),
        bad=({}, {"gold": None}, {"gold": ["text"]}, {"gold": "text", "items": None}, {"gold": "text", "text": "x"}),
    ),
    "PartItems": Bodies(good=ITEMS_GOOD, bad=(*ITEMS_BAD, {"seconds": {"A": [1]}})),
    "Quota": Bodies(
        good=({}, {"scored_per_day": 5, "scored_total": None}, {"attempts_per_day": 0}, {"scored_total": 1_000_000}),
        bad=(
            {"scored_per_day": -1},
            {"scored_per_day": 1.5},
            {"scored_total": "5"},
            {"scored_total": True},
            {"attempts_per_day": 1_000_001},
            {"per_day": 5},
        ),
    ),
    "LeaderboardSettings": Bodies(
        good=({}, {"public": True, "anonymous": False}, {"pick": "chosen", "frozen_at": None}, {"split": None}),
        bad=(
            {"public": "true"},
            {"public": None},
            {"anonymous": 0},
            {"pick": None},
            {"frozen_at": "soon"},
            {"frozen": 1},
            {"split": 0.5},
        ),
    ),
    "About": Bodies(good=({}, ABOUT, {"links": [LINK] * 20}, {"links": None, "contact": None}), bad=ABOUT_BAD),
    "Link": Bodies(
        good=(LINK, {**LINK, "url": "https://example.org"}, {**LINK, "url": "https://a.b/" + "x" * 488}),
        bad=(
            {"label": "Call"},
            {**LINK, "label": ""},
            {**LINK, "label": None},
            *({**LINK, "url": url} for url in BAD_ADDRESSES),
            {**LINK, "title": "x"},
        ),
    ),
    "SplitSettings": Bodies(
        good=({"private": 0.5}, {"private": 0.01}, {"private": 0.99}),
        bad=(
            {},
            {"private": 0},
            {"private": 1},
            {"private": None},
            {"private": "0.5"},
            {"private": 0.5, "public": 0.5},
        ),
    ),
    "RevisionRequest": Bodies(
        good=(
            {},
            {"reason": None, "dry_run": True},
            {"reason": "x" * 10_000, "parts": {"en": {"gold": "text"}, "de": None}},
            {"metrics": ["ud"], "main_score": "ud.las_f1"},
        ),
        bad=(
            {"reason": "x" * 10_001},
            {"parts": None},
            {"parts": {"en": []}},
            {"dry_run": "yes"},
            {"metrics": []},
            {"id": "x"},
        ),
    ),
    "TeamRequest": Bodies(
        good=({"id": "lyon", "name": "Lyon"}, {"id": "7", "name": "é"}, {"id": "a_b-c.d", "name": "x" * 200}),
        bad=(
            {"id": "lyon"},
            {"id": "", "name": "Lyon"},
            {"id": ".a", "name": "x"},
            {"id": "a", "name": LONG},
            {"id": "lyon", "name": 7},
            {**TEAM, "contact": ""},
            {**TEAM, "contact": LONG},
        ),
    ),
    "TeamsRequest": Bodies(
        good=({"teams": [TEAM]}, {"teams": [{**TEAM, "contact": None}] * 2}, {"teams": [{**TEAM, "contact": "é@a.b"}]}),
        bad=(
            {},
            TEAM,
            {"teams": []},
            {"teams": None},
            {"teams": TEAM},
            {"teams": [{**TEAM, "id": "a b"}]},
            {"teams": [TEAM] * 1001},
            {"teams": [TEAM], "places": [[1, 1]]},
        ),
    ),
    "InviteRequest": Bodies(
        good=(INVITE, {**INVITE, "teams_at_most": 1000}, {**INVITE, "expires_at": "2026-10-01T00:00:00-12:00"}),
        bad=(
            {"teams_at_most": 1},
            {"expires_at": INVITE["expires_at"]},
            {**INVITE, "teams_at_most": 0},
            {**INVITE, "teams_at_most": 1001},
            {**INVITE, "teams_at_most": None},
            {**INVITE, "expires_at": None},
            {**INVITE, "expires_at": "soon"},
            {**INVITE, "secret": "x"},
        ),
    ),
    "JoinRequest": Bodies(
        good=(JOIN, {**JOIN, "invite": "x" * 200}, {**JOIN, "contact": "é"}),
        bad=(
            {**TEAM, "invite": "x"},
            {**JOIN, "invite": ""},
            {**JOIN, "invite": "x" * 201},
            {**JOIN, "invite": None},
            {**JOIN, "contact": None},
            {**JOIN, "id": "a b"},
            {**JOIN, "name": ""},
            {**JOIN, "benchmark": "demo"},
        ),
    ),
    "SubmissionLinks": Bodies(
        good=({}, LINKS, {"paper": None, "model": "https://a.b/" + "x" * 488}),
        bad=("https://example.org", {"video": LINK["url"]}, *({"code": each} for each in BAD_ADDRESSES if each)),
    ),
    "SubmissionRequest": Bodies(
        good=(
            {"outputs": {}},
            {"outputs": {"en": "text", "de": TEXTS}, "name": "biaffine-7", "notes": "commit 4f2a91c"},
            {"outputs": {"en": ""}, "name": None, "notes": None, "team": None, "role": "baseline"},
            {"outputs": {}, "links": LINKS},
            {"outputs": {}, "links": None},
        ),
        bad=(
            {},
            {"outputs": None},
            {"outputs": {"en": None}},
            {"outputs": {"en": "text"}, "links": {"code": "http://example.org"}},
            {"outputs": {"en": "text"}, "role": "winner"},
            {"outputs": {"en": "text"}, "role": None},
            {"outputs": {"en": "text"}, "name": ""},
            {"outputs": {"en": "text"}, "team": "a b"},
            {"outputs": {"en": "text"}, "chosen": True},
        ),
    ),
    "SubmissionChanges": Bodies(
        good=(
            {},
            {"name": "b", "notes": None},
            {"chosen": True, "withdrawn": False},
            {"links": LINKS},
            {"links": None},
        ),
        bad=({"name": None}, {"chosen": 1}, {"withdrawn": "true"}, {"outputs": {}}, {"notes": 7}),
    ),
    "ComparisonRequest": Bodies(
        good=(
            {"submissions": "leaderboard"},
            {"submissions": ["sub_1", "sub_2"], "score": "ud.las_f1", "test": "auto", "alpha": 0.05},
            {"submissions": ["sub_1"] * 100, "score": None, "part": None, "revision": 1, "pick": None},
        ),
        bad=(
            {},
            {"submissions": "board"},
            {"submissions": ["sub_1"]},
            {"submissions": ["sub_1"] * 101},
            {"submissions": [1, 2]},
            {"submissions": "leaderboard", "revision": 0},
            {"submissions": "leaderboard", "revision": 2**31},
            {"submissions": "leaderboard", "pick": "first"},
            {"submissions": "leaderboard", "metric": "ud"},
        ),
    ),
    "WebhookRequest": Bodies(
        good=(
            {"url": "https://example.org/hook"},
            {"url": "https://example.org/hook", "kinds": ["submission.scored"], "benchmark": "demo"},
            {"url": "x", "kinds": [], "benchmark": None},
        ),
        bad=(
            {},
            {"url": ""},
            {"url": "x" * 1001},
            {"url": "x", "kinds": ["all"]},
            {"url": "x", "kinds": ["submission.scored"] * 100},
            {"url": "x", "kinds": None},
            {"url": "x", "secret": "y"},
        ),
    ),
    "SuggestionRequest": Bodies(
        good=({"text": "0-0 1-2\n"}, {"text": " "}, {"text": "x" * 100_000}),
        bad=({}, {"text": ""}, {"text": 7}, {"text": None}, {"text": "x" * 100_001}, {"text": "x", "file": "x"}),
    ),
    "TokenRequest": Bodies(
        good=(
            {"scopes": ["read"]},
            {"scopes": ["organise", "submit", "score", "read"], "name": "all"},
            {"scopes": ["score"], "expires_at": "2099-01-01T00:00:00+02:00", "name": None},
            {"scopes": ["score"], "expires_at": None},
        ),
        bad=(
            {},
            {"scopes": []},
            {"scopes": ["admin"]},
            {"scopes": "read"},
            {"scopes": ["read"] * (len(SCOPES) + 1)},
            {"scopes": ["read"], "expires_at": "tomorrow"},
            {"scopes": ["read"], "name": LONG},
        ),
    ),
}
