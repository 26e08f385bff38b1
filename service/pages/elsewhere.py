"""What other sites and programs show of a board: the table in a frame, and a feed of what is new.

Both show what all callers may see, of public benchmarks alone, to each of them the same.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from flask import Response, request
from markupsafe import escape

from service import render
from service.api import calls
from service.contract.benchmarks import Benchmark
from service.contract.common import PageQuery
from service.contract.leaderboards import Leaderboard
from service.lru import LruCache
from service.pages import answers, visitors
from service.pages.board import board_values, board_view, heading, row_name, whole_name
from service.pages.figures import ScoreNames, heading_now
from service.pages.markdown import strangers_html
from service.requests import Query
from service.usecases.benchmarks import benchmarks, revisions
from service.usecases.runs import Shown
from treescore.core.wording import one_line

embed_blueprint = answers.pages("embed", "/embed/b/<benchmark>")


@embed_blueprint.get("")
def show_embedded(benchmark: str) -> Response:
    """Show the table of a board for a frame on another site: no session, form or script, and one link."""
    visitors.anyone()
    view, sort = board_view(benchmark)

    def values() -> dict[str, object]:
        return {**board_values(benchmark, view, sort), "framed": True, "live": False}

    now = heading_now(benchmark, view)
    response = answers.known_page("embed.html", (view.etag, sort, now), values)
    if not (view.final and now[0] == "closed"):
        response.headers["Refresh"] = str(FRAME_SECONDS)
    response.headers["Content-Security-Policy"] = answers.FRAMED
    return response


feed_blueprint = answers.pages("feed", "/feeds")
ATOM = "application/atom+xml; charset=utf-8"
MOST_ENTRIES = 100
FRAME_SECONDS = 60
"""After which a frame asks again, by a header: it has no script. What has not changed is an empty 304."""
_FEEDS = LruCache[tuple[bytes, str]](2**22, lambda made: len(made[0]))
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Entry(NamedTuple):
    """An entry of a feed.

    Attributes:
        at: when it was last news, as documents have times, which sort as they follow each other.
        id: what it is, within the benchmark: it stays where ranks, scores and names change.
        title: in one line.
        content: more about it, in HTML.
        author: whose it is; empty where it is the organisers'.
        page: of the benchmark, that shows it.
    """

    at: str
    id: str
    title: str
    content: str
    author: str = ""
    page: str = ""


@feed_blueprint.get("/<benchmark>.atom")
def get_feed(benchmark: str) -> Response:
    """Send the newest entries of a board, its revisions and the notice as an Atom feed (RFC 4287).

    Its time is that of the newest entry, or when the last row came onto the board: who asks by time alone learns of
    what is new, not of what changed.
    """
    caller = visitors.anyone().caller
    answers.query(Query)
    view, board = benchmarks.view_benchmark(calls.context(), caller, benchmark), board_view(benchmark)[0]
    tag = answers.tag_of((view.etag, board.etag, answers.root()), request.path)
    body, updated = _FEEDS.get_or_make(tag, lambda: _news(view.document, board.document))
    response = answers.sent(Shown(None, body, content_type=ATOM))
    response.last_modified = datetime.fromisoformat(updated).replace(microsecond=0)
    known = request.if_modified_since
    if request.headers.get("If-None-Match") is None and known is not None and response.last_modified <= known:
        response.status_code = 304
    return response


def _news(document: Benchmark, board: Leaderboard) -> tuple[bytes, str]:
    """Return a feed, and the time of its newest entry or of the last row."""
    entries = [*_rows(document, board), *_revisions(document["id"])]
    if board["frozen"]:
        entries = [each for each in entries if each.at <= (document["leaderboard"]["frozen_at"] or "")]
    entries = sorted([*entries, *_notices(document)], reverse=True)[:MOST_ENTRIES]
    updated = max([document["created_at"], board["as_of"] or "", *(each.at for each in entries)])
    feed = _feed(document, heading(document, board)["host"], updated, entries)
    return tostring(feed, "utf-8", xml_declaration=True), updated


def _rows(document: Benchmark, board: Leaderboard) -> Iterator[Entry]:
    """Yield an entry for each row that the board has for all callers, with the score that ranks as it stands there."""
    score = ScoreNames(document, board["rounding"], rounded=not render.exact(board))(board["score"])
    for row in render.lettered(board)["rows"]:
        value = escape(f"{score.label} {score.figures.value(row['score'])}")
        yield Entry(row["created_at"], row["submission"], whole_name(row), value, one_line(row_name(row)))


def _revisions(benchmark: str) -> Iterator[Entry]:
    """Yield an entry for each revision that became active; no figure changed by another."""
    listed = revisions.list_revisions(calls.context(), visitors.visitor().caller, benchmark, PageQuery())
    for each in listed.items:
        if each["activated_at"] is not None:
            number, reason = each["number"], strangers_html(str(each["public_reason"] or ""))
            yield Entry(
                str(each["activated_at"]),
                f"revision-{number}",
                f"Revision {number}",
                reason,
                page=f"/revisions#r{number}",
            )


def _notices(document: Benchmark) -> Iterator[Entry]:
    notice = document["notice"]
    if notice is not None:
        at, words = notice["at"], strangers_html(notice["text"])
        yield Entry(at, f"notice-{at}", "Notice of the organisers", words)


def _feed(document: Benchmark, host: str, updated: str, entries: list[Entry]) -> Element:
    """Return the feed. Its ids hold when the benchmark was made: another one may get the id of one that was deleted."""
    name, board = f"urn:treescore:{document['id']}:{document['created_at']}", f"{answers.root()}/b/{document['id']}"
    address = f"{answers.root()}{request.path}"
    feed = Element("feed", xmlns="http://www.w3.org/2005/Atom")
    title = one_line(document["title"])
    _add(feed, id=name, title=title, updated=updated)
    _add(SubElement(feed, "author"), name=host or title)
    SubElement(feed, "link", rel="self", type="application/atom+xml", href=address)
    SubElement(feed, "link", rel="alternate", type="text/html", href=board)
    for each in entries:
        entry = SubElement(feed, "entry")
        _add(entry, id=f"{name}:{each.id}", title=each.title, updated=each.at)
        if each.author:
            _add(SubElement(entry, "author"), name=each.author)
        SubElement(entry, "link", rel="alternate", type="text/html", href=board + each.page)
        SubElement(entry, "content", type="html").text = _NO_XML.sub("", each.content)
    return feed


def _add(parent: Element, **texts: str) -> None:
    for name, text in texts.items():
        SubElement(parent, name).text = _NO_XML.sub("", text)
