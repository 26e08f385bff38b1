"""Read pages as a browser does: ids, links, what they load."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from flask.testing import FlaskClient

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
LOADS = {("script", "src"), ("link", "href"), ("img", "src"), ("form", "action"), ("input", "data-index")}
VOID = {"meta", "link", "input", "br", "hr", "wbr", "img"}


@dataclass
class Read(HTMLParser):
    """What a page holds."""

    text: str
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    current: list[str] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    nested: list[str] = field(default_factory=list)
    inline: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.feed(self.text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the element is."""
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "a" in self.open:
            self.nested.append(given["href"])
        if tag not in VOID:
            self.open.append(tag)
        if tag == "a":
            self.links.append(given["href"])
            self.current += [given["href"]] * (given.get("aria-current") == "page")
        self.ids += [given["id"]] if "id" in given else []
        self.loads += [value for name, value in given.items() if (tag, name) in LOADS]
        self.inline += [name for name in given if name == "style" or name.startswith("on")]
        if tag[0] == "h" and tag[1:].isdigit():
            self.headings.append(int(tag[1:]))

    def handle_endtag(self, tag: str) -> None:
        """Close what was opened last: anything else is wrong."""
        assert self.open, tag
        assert self.open.pop() == tag, (tag, self.getpos())


def read(client: FlaskClient, address: str, status: int = 200) -> Read:
    """The page at an address."""
    answer = client.get(address, headers=BROWSER)
    assert answer.status_code == status, (address, answer.status)
    assert answer.mimetype == "text/html", address
    return Read(answer.text)
