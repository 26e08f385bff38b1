"""Read pages: their links, tables, forms, what they load and whatever the policy forbids in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin, urlsplit

from flask.testing import FlaskClient

VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "use": "href", "image": "href"}
LIVE = "hx-get"
TEXTS = ("value", "title", "alt", "placeholder", "aria-label")
"""Attributes that hold texts; the fields of forms that lead back to a page hold its address inside the service."""
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
LOADS = {("script", "src"), ("link", "href"), ("img", "src"), ("form", "action"), ("input", "data-index")}


@dataclass
class Form:
    """A form that is sent by GET: its address, and the values of each control."""

    action: str
    values: dict[str, list[str]] = field(default_factory=dict)

    def queries(self) -> Iterator[str]:
        """The address with each value of each control, the others at their first."""
        first = {name: values[0] for name, values in self.values.items() if values}
        for name, values in self.values.items():
            yield from (f"{self.action}?{urlencode({**first, name: value})}" for value in values)


class Page(HTMLParser):
    """A page, read once."""

    def __init__(self, text: str, address: str = "/") -> None:
        super().__init__()
        self.address = address
        self.text = text
        self.links: list[str] = []
        self.anchors: list[str] = []
        self.loads: list[str] = []
        self.current: list[str] = []
        self.nested: list[str] = []
        self.forms: list[Form] = []
        self.ids: list[str] = []
        self.forbidden: list[str] = []
        self.rooted: list[tuple[str, str]] = []
        self.headings: list[int] = []
        self.rows: list[list[str]] = []
        self.unnamed: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self._posted = False
        self._select: str | None = None
        self.feed(text)
        self.close()
        self.unclosed = list(self._open)

    def addresses(self) -> Iterator[str]:
        """The addresses of this service that the page leads to, by links, polls and forms."""
        for asked in (*self.links, *(query for form in self.forms for query in form.queries())):
            parts = urlsplit(urljoin(self.address, asked))
            if not parts.netloc and not parts.scheme:
                yield f"{parts.path}?{parts.query}" if parts.query else parts.path

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._note(tag, given)
        if tag == "a":
            self.anchors.append(given["href"])
            self.current += [given["href"]] * (given.get("aria-current") == "page")
            self.nested += [given["href"]] * ("a" in self._open)
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        elif tag == "tr":
            self.rows.append([])
        elif tag == "form":
            self._posted = given.get("method") == "post"
            if not self._posted:
                self.forms.append(Form(given.get("action", self.address)))
        elif tag in ("select", "input", "option") and self.forms and not self._posted:
            self._control(tag, given)
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.forbidden.append(f"</{tag}> closes nothing")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, {name: value or "" for name, value in attrs})

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self.rows and self.rows[-1] and ("td" in self._open or "th" in self._open):
            self.rows[-1][-1] += data
        if self._open and self._open[-1] == "script" and data.strip():
            self.forbidden.append("a script in the page")

    def _note(self, tag: str, given: dict[str, str]) -> None:
        if "id" in given:
            self.ids.append(given["id"])
        self.rooted += [each for each in given.items() if each[1].startswith("/") and each[0] not in TEXTS]
        self.loads += [value for name, value in given.items() if (tag, name) in LOADS]
        if tag == "style":
            self.forbidden.append("<style>")
        self.forbidden += [f"<{tag} {name}>" for name in given if name == "style" or name.startswith("on")]
        for name in (LINKS.get(tag, ""), LIVE, "action" if tag == "form" else ""):
            if given.get(name, "").strip().lower().startswith(("javascript:", "data:")):
                self.forbidden.append(f"<{tag} {name}={given[name]}>")
            elif name in given and name != "action":
                self.links.append(given[name])
        if tag in ("h1", "h2", "h3", "h4"):
            self.headings.append(int(tag[1]))

    def _control(self, tag: str, given: dict[str, str]) -> None:
        values = self.forms[-1].values
        if tag == "select":
            self._select = given["name"]
            values[self._select] = []
        elif tag == "input" and "name" in given:
            values.setdefault(given["name"], []).append(given.get("value", ""))
        elif tag == "option" and self._select is not None and "value" in given:
            values[self._select].append(given["value"])


def read(client: FlaskClient, address: str, status: int = 200) -> Page:
    """The page that a browser gets at an address."""
    answer = client.get(address, headers=BROWSER)
    assert answer.status_code == status, (address, answer.status)
    assert answer.mimetype == "text/html", address
    return Page(answer.text, address)
