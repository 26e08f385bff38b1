"""Hand-written bodies of every request component: what the contract and the schemas must take, and must refuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from service.requests import SCOPES


class Bodies(NamedTuple):
    """Bodies of one component."""

    good: tuple[Any, ...]
    bad: tuple[Any, ...]


def each(base: Mapping[str, Any], **values: Sequence[Any]) -> list[dict[str, Any]]:
    """A body with each of these values of each member, the others as in the base."""
    return [{**base, name: value} for name, listed in values.items() for value in listed]


def lacking(base: Mapping[str, Any], *names: str) -> list[dict[str, Any]]:
    """A body without each of these members."""
    return [{name: base[name] for name in base if name != lost} for lost in names]


TEXTS = {"source": "a", "target": "b", "alignment": "1-1"}
TEAM = {"id": "lyon", "name": "Lyon"}
INVITE = {"expires_at": "2099-10-01T00:00:00Z", "teams_at_most": 1}
JOIN = {**TEAM, "invite": "secret", "contact": "a@example.org"}
SYSTEM = {"name": "A", "output": "text"}
JOB = {"format": "conllu", "gold": "text", "systems": [SYSTEM], "metrics": ["attachment"]}
BENCHMARK = {"id": "demo", "title": "Demo", "format": "conllu", "metrics": ["ud"], "parts": {"en": {"gold": "text"}}}
BOARD, OUTPUT = {"submissions": "leaderboard"}, {"outputs": {"en": "text"}}
LONG = "x" * 201
SCORES = ["attachment.las", "attachment.uas"]
ITEMS_GOOD = (
    {}, {"lengths": [[7, 8], [0, 2147483647]], "blocks": ["a", ""]}, {"attributes": {"genre": ["news", "web"]}},
)  # fmt: skip
ITEMS_BAD = (
    [],
    *each({}, lengths=([[7]], [[7, -1]], [[7, 2147483648]]), blocks=([1],), colour=([],)),
    *each({}, attributes=({"genre": "news"}, {"": ["news"]})),
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
    *each({}, publish_input=(True,), tracks=({}, {"pud": ["en", "de"], "small": ["fr"]})),
    {"publish_input": "words", "rounding": 1, "quota": {"scored_per_day": None}},
    {"rounding": None, "leaderboard": {"pick": "best"}, "publish_input": "text"},
    {"about": {"links": None, "rules": None}},
    {"about": {"dates": [{"at": "2027-11-01T23:59:59-12:00", "what": "Test phase ends"}]}, "notice": "*Mended.*"},
    {"about": {"dates": None}, "notice": None},
)
ABOUT = {"description": "# A\n\n\tb", "rules": "", "citation": None, "licence": "CC BY", "contact": "é"}
LINK = {"label": "Call", "url": "https://example.org:443/call?a=%C3%A9#b"}
DATE = {"at": "2027-11-01T12:00:00Z", "what": "Test phase ends"}
LINKS = {"paper": LINK["url"], "code": None}
ABOUT_BAD = (
    *each({}, description=(7,), rules=("x" * 20_001,), link=(LINK,)),
    *each({}, links=([LINK] * 21, {}, [{**LINK, "url": "http://example.org"}])),
    *each({}, dates=([DATE] * 51, {}, [{**DATE, "at": "2027-11-01"}])),
)
TRACKS_BAD = (["en"], {"pud": []}, {"pud": ["en", "en"]}, {"pud": "en"}, {"pud": [1]})
CHANGES_BAD = (
    "title",
    *each({}, title=("", None), series=("-demo",), feedback=("all", None), feedback_after_closing=("all",)),
    *each({}, rounding=(0, 1.5), publish_input=("all", 1), opens_at=("tomorrow",), closes_at=(1,), quota=(None,)),
    *each({}, tracks=(None, *TRACKS_BAD, {f"t{number}": ["en"] for number in range(101)})),
    *each({}, about=(None, *ABOUT_BAD), leaderboard=({"pick": "worst"},), notice=(7, "x" * 2_001)),
)

BODIES: dict[str, Bodies] = {
    "JobRequest": Bodies(
        good=(
            JOB,
            {**JOB, "gold": TEXTS, "format": {"name": "parallel", "trees": "conllu", "alignment": "talp"}},
            {**JOB, "significance": False, "transforms": ["black"], "items": {"seconds": {"A": [0.2, 0]}}},
            {**JOB, "significance": {"scores": ["attachment.las"]}, "agreement": [SCORES]},
        ),
        bad=(
            *lacking(JOB, "metrics"),
            *each(JOB, metrics=([], ["ud"] * 51), systems=([],), gold=(7, None), significance=("yes",)),
            *each(JOB, agreement=([SCORES[:1]], [[*SCORES, "c"]], [SCORES] * 51), transforms=(["black"] * 51,)),
            *each(JOB, items=(None,), sytems=([],)),
            [JOB],
        ),
    ),
    "Texts": Bodies(
        good=(TEXTS, {**TEXTS, "source": ""}, {**TEXTS, "alignment": "é\n"}),
        bad=(*lacking(TEXTS, "alignment"), {**TEXTS, "source": None}, {**TEXTS, "more": "c"}, "text"),
    ),
    "FormatChoice": Bodies(
        good=({"name": "conllu"}, {"name": "bracketed", "layout": "lines"}, {"name": "x", "y": None}),
        bad=({}, {"layout": "lines"}, *each({}, name=("", 1, LONG)), "conllu"),
    ),
    "TransformEntry": Bodies(
        good=({"name": "black"}, {"name": "flatten", "on": "gold"}, {"name": "x", "params": {"y": [1]}, "on": "both"}),
        bad=({}, *each({"name": "black"}, on=("left",), params=([],), key=("b",))),
    ),
    "MetricEntry": Bodies(
        good=(
            {"name": "ud"},
            {"name": "attachment", "key": "attachment_nopunct", "params": {"punctuation": False}},
            {"name": "parseval", "transforms": ["black", {"name": "flatten"}]},
        ),
        bad=(
            {"key": "a"},
            *each(
                {"name": "ud"}, key=("", "a b", "é", "k" * 101), params=(None,), transforms=("black", ["black"] * 51)
            ),
        ),
    ),
    "SystemEntry": Bodies(
        good=(SYSTEM, {**SYSTEM, "format": "pharaoh"}, {**SYSTEM, "output": TEXTS, "run_of": "B"}),
        bad=(*lacking(SYSTEM, "name", "output"), *each(SYSTEM, name=("",), output=([],), run_of=(1,), format=(None,))),
    ),
    "Items": Bodies(
        good=(*ITEMS_GOOD, {"seconds": {"A": [0.2, 0]}}),
        bad=(*ITEMS_BAD, *each({}, seconds=({"A": [-1]}, {"A": ["1"]}))),
    ),
    "BenchmarkRequest": Bodies(
        good=(
            BENCHMARK,
            {**BENCHMARK, "transforms": ["black"], "main_score": "ud.las_f1", "parts": {}},
            *({**BENCHMARK, **changes} for changes in CHANGES_GOOD),
        ),
        bad=(
            *lacking(BENCHMARK, "id"),
            *each(BENCHMARK, id=("a b", "x" * 61), parts=({"en": None}, {"en": "text"}, []), metrics=("ud",)),
            *({**BENCHMARK, **changes} for changes in CHANGES_BAD if isinstance(changes, dict)),
        ),
    ),
    "BenchmarkChanges": Bodies(good=CHANGES_GOOD, bad=(*CHANGES_BAD, {"format": "conllu"}, {"parts": {}})),
    "PartGold": Bodies(
        good=({"gold": "text"}, {"gold": TEXTS}, {"gold": "", "items": {"blocks": ["a"]}}),
        bad=({}, *each({}, gold=(None, ["text"])), *each({"gold": "text"}, items=(None,), text=("x",))),
    ),
    "PartItems": Bodies(good=ITEMS_GOOD, bad=(*ITEMS_BAD, {"seconds": {"A": [1]}})),
    "Quota": Bodies(
        good=({}, {"scored_per_day": 5, "scored_total": None}, {"attempts_per_day": 0}, {"scored_total": 1_000_000}),
        bad=(
            *each({}, scored_per_day=(-1, 1.5), scored_total=("5", True), attempts_per_day=(1_000_001,), per_day=(5,)),
        ),
    ),
    "LeaderboardSettings": Bodies(
        good=({}, {"public": True, "anonymous": False}, {"pick": "chosen", "frozen_at": None}, {"split": None}),
        bad=(
            *each({}, public=("true", None), anonymous=(0,), pick=(None,), frozen_at=("soon",), frozen=(1,)),
            {"split": 0.5},
        ),
    ),
    "About": Bodies(good=({}, ABOUT, {"links": [LINK] * 20}, {"links": None, "contact": None}), bad=ABOUT_BAD),
    "AboutDate": Bodies(
        good=(DATE, {**DATE, "at": "2027-11-01T23:59:59-12:00"}, {**DATE, "what": "é"}),
        bad=(
            *lacking(DATE, "at"),
            *lacking(DATE, "what"),
            *each(DATE, at=("2027-11-01", 7), what=("", None), zone=("",)),
        ),
    ),
    "Link": Bodies(
        good=(LINK, {**LINK, "url": "https://example.org"}, {**LINK, "url": "https://a.b/" + "x" * 488}),
        bad=(*lacking(LINK, "url"), *each(LINK, label=("", None), url=BAD_ADDRESSES, title=("x",))),
    ),
    "SplitSettings": Bodies(
        good=({"private": 0.5}, {"private": 0.01}, {"private": 0.99}),
        bad=({}, *each({}, private=(0, 1, None, "0.5")), {"private": 0.5, "public": 0.5}),
    ),
    "RevisionRequest": Bodies(
        good=(
            {},
            {"reason": None, "dry_run": True},
            {"reason": "x" * 10_000, "parts": {"en": {"gold": "text"}, "de": None}},
            {"metrics": ["ud"], "main_score": "ud.las_f1"},
        ),
        bad=(*each({}, reason=("x" * 10_001,), parts=(None, {"en": []}), dry_run=("yes",), metrics=([],), id=("x",)),),
    ),
    "TeamRequest": Bodies(
        good=(TEAM, {"id": "7", "name": "é"}, {"id": "a_b-c.d", "name": "x" * 200}),
        bad=(*lacking(TEAM, "name"), *each(TEAM, id=("", ".a"), name=(LONG, 7), contact=("", LONG))),
    ),
    "TeamsRequest": Bodies(
        good=({"teams": [TEAM]}, {"teams": [{**TEAM, "contact": None}] * 2}, {"teams": [{**TEAM, "contact": "é@a.b"}]}),
        bad=(
            *({}, TEAM, {"teams": [TEAM], "places": [[1, 1]]}),
            *each({}, teams=([], None, TEAM, [{**TEAM, "id": "a b"}], [TEAM] * 1001)),
        ),
    ),
    "InviteRequest": Bodies(
        good=(INVITE, {**INVITE, "teams_at_most": 1000}, {**INVITE, "expires_at": "2026-10-01T00:00:00-12:00"}),
        bad=(
            *lacking(INVITE, "expires_at", "teams_at_most"),
            *each(INVITE, teams_at_most=(0, 1001, None), expires_at=(None, "soon"), secret=("x",)),
        ),
    ),
    "JoinRequest": Bodies(
        good=(JOIN, {**JOIN, "invite": "x" * 200}, {**JOIN, "contact": "é"}),
        bad=(
            *lacking(JOIN, "contact"),
            *each(JOIN, invite=("", LONG, None), contact=(None,), id=("a b",), name=("",), benchmark=("demo",)),
        ),
    ),
    "SubmissionLinks": Bodies(
        good=({}, LINKS, {"paper": None, "model": "https://a.b/" + "x" * 488}),
        bad=("https://example.org", {"video": LINK["url"]}, *each({}, code=[url for url in BAD_ADDRESSES if url])),
    ),
    "SubmissionRequest": Bodies(
        good=(
            {"outputs": {"en": "text", "de": TEXTS}, "name": "biaffine-7", "notes": "commit 4f2a91c"},
            {"outputs": {"en": ""}, "name": None, "notes": None, "team": None, "role": "baseline"},
            *({"outputs": {}}, *each({"outputs": {}}, links=(LINKS, None))),
        ),
        bad=(
            *({}, *each({}, outputs=(None, {"en": None}))),
            *each(OUTPUT, links=({"code": "http://example.org"},), role=("winner", None), name=("",), team=("a b",)),
            {**OUTPUT, "chosen": True},
        ),
    ),
    "SubmissionChanges": Bodies(
        good=(
            {},
            {"name": "b", "notes": None},
            {"chosen": True, "withdrawn": False},
            {"withdrawn": True, "reason": "b"},
            *each({}, links=(LINKS, None)),
        ),
        bad=({"name": None}, {"chosen": 1}, {"withdrawn": "true"}, {"outputs": {}}, {"notes": 7}, {"reason": None}),
    ),
    "ComparisonRequest": Bodies(
        good=(
            BOARD,
            {"submissions": ["sub_1", "sub_2"], "score": "ud.las_f1", "test": "auto", "alpha": 0.05},
            {"submissions": ["sub_1"] * 100, "score": None, "part": None, "revision": 1, "pick": None},
        ),
        bad=(
            *({}, *each({}, submissions=("board", ["sub_1"], ["sub_1"] * 101, [1, 2]))),
            *each(BOARD, revision=(0, 2**31), pick=("first",), metric=("ud",)),
        ),
    ),
    "WebhookRequest": Bodies(
        good=(
            {"url": "https://example.org/hook"},
            {"url": "https://example.org/hook", "kinds": ["submission.scored"], "benchmark": "demo"},
            {"url": "x", "kinds": [], "benchmark": None},
        ),
        bad=(
            *({}, *each({}, url=("", "x" * 1001))),
            *each({"url": "x"}, kinds=(["all"], ["submission.scored"] * 100, None), secret=("y",)),
        ),
    ),
    "TokenRequest": Bodies(
        good=(
            {"scopes": ["read"]},
            {"scopes": ["organise", "submit", "score", "read"], "name": "all"},
            *each({"scopes": ["score"], "name": None}, expires_at=("2099-01-01T00:00:00+02:00", None)),
        ),
        bad=(
            *({}, *each({}, scopes=([], ["admin"], "read", ["read"] * (len(SCOPES) + 1)))),
            *each({"scopes": ["read"]}, expires_at=("tomorrow",), name=(LONG,)),
        ),
    ),
}
