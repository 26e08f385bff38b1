"""The guides of this checkout, by their addresses: which there are, and what each tells of.

A guide tells of the operations that it calls in an example, or names.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it.token import Token
from markupsafe import Markup

from service.pages import markdown
from service.pages.docs import contract_reading
from service.pages.docs.contract_reading import METHODS, Operation, operations
from service.pages.markdown import Heading, Links, plain_text

FOLDER = Path(__file__).parents[3] / "docs"
PREFIX = "/docs/guides/"
SECTIONS = (
    ("Tutorials", "tutorials"),
    ("Guides", "guide"),
    ("Metrics", "metrics"),
    ("Catalogue", "reference"),
    ("Explanation", ""),
    ("Operation", "operate"),
)
"""Headings over the guides, and the folders that these stand in."""
ELSEWHERE: Mapping[str, str] = {
    "index.md": "/docs",
    "reference/index.md": "/docs",
    "reference/operations.md": "/docs",
    "reference/problems.md": "/problems",
    "../openapi.yaml": "/openapi.yaml",
}
"""Pages of the site that another page of the service stands for."""
NOT_SHOWN = ("reference/python.md", "reference/command_line.md")
"""What Sphinx makes of docstrings."""
_MAIN = "guide/"
_TUTORIAL = "Tutorial: "
_WRITTEN_BY = re.compile(r"\A<!--.*?-->\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Guide:
    """A guide.

    Attributes:
        name: last part of its address.
        path: below the folder of guides.
        section: the heading under which it is listed.
        text: in Markdown.
        headings: of the text, its title first.
    """

    name: str
    path: str
    section: str
    text: str
    headings: tuple[Heading, ...]

    @property
    def title(self) -> str:
        """Its first heading."""
        return self.headings[0].text

    @property
    def sections(self) -> list[Heading]:
        """Its headings below the title."""
        return [heading for heading in self.headings if heading.level == 2]

    @property
    def label(self) -> str:
        """Its title under the heading of its section."""
        label = self.title.removeprefix(_TUTORIAL)
        return self.title if label == self.title else label[:1].upper() + label[1:]

    @property
    def address(self) -> str:
        """Where it is shown."""
        return PREFIX + self.name


@cache
def guides() -> Mapping[str, Guide]:
    """Return the guides by their names; none where the folder is not beside the service."""
    return {guide.name: guide for section, folder in SECTIONS for guide in _section(section, folder)}


def listed() -> list[tuple[str, list[Guide]]]:
    """Return the headings of sections, each with its guides."""
    sections = ((section, [each for each in guides().values() if each.section == section]) for section, _ in SECTIONS)
    return [(section, found) for section, found in sections if found]


@cache
def version() -> str:
    """Return what names these texts together."""
    texts = "\0".join(guide.path + guide.text for guide in guides().values())
    return hashlib.blake2b(texts.encode(), digest_size=8).hexdigest()


def shown(guide: Guide) -> Markup:
    """Return a guide as HTML."""
    links = Links(lambda target: target_address(guide.path, target), code_address)
    return markdown.render(tokens(guide), links)


def tokens(guide: Guide) -> list[Token]:
    """Return the parsed text of a guide."""
    return markdown.parse(guide.text)


def prose(text: str) -> Markup:
    """Return a description of the contract as paragraphs."""
    return markdown.render(markdown.parse(text), _LINKS)


def line(text: str) -> Markup:
    """Return a description of the contract for a cell: one paragraph stands without its element."""
    return markdown.line(text, _LINKS)


def code_address(quoted: str) -> str | None:
    """Return the address of what a piece of code names: an operation, a problem, a guide."""
    if quoted.startswith("docs/") and quoted.endswith(".md"):
        return _addresses().get(quoted.removeprefix("docs/"))
    return contract_reading.of_code(quoted)


def target_address(path: str, target: str) -> str | None:
    """Return the address of a link's target; None where no page of the service shows it.

    Args:
        path: of the guide that has the link.
        target: as the link has it.
    """
    if "://" in target or target.startswith("mailto:"):
        return target
    file, _, anchor = target.partition("#")
    if not file:
        return f"#{anchor}"
    at = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
    if at in ELSEWHERE:
        return contract_reading.in_reference(ELSEWHERE[at], anchor)
    address = _addresses().get(at)
    return None if address is None else address + (f"#{anchor}" if anchor else "")


def _addresses() -> dict[str, str]:
    return {guide.path: guide.address for guide in guides().values()}


def _section(section: str, folder: str) -> list[Guide]:
    found = [_guide(path, section) for path in sorted((FOLDER / folder).glob("*.md"))]
    kept = [guide for guide in found if guide.path not in ELSEWHERE and guide.path not in NOT_SHOWN]
    return sorted(kept, key=lambda guide: (not guide.name.endswith("index"), guide.title.lower()))


def _guide(path: Path, section: str) -> Guide:
    text = _WRITTEN_BY.sub("", path.read_text("utf-8"))
    below = path.relative_to(FOLDER).as_posix()
    name = below.removesuffix(".md").removeprefix(_MAIN).lower()
    return Guide(name, below, section, text, tuple(markdown.headings(markdown.parse(text))))


_LINKS = Links(lambda target: target_address("", target), code_address)


CATALOGUE = "reference/"
"""Written by a program from the same contract: it tells of every operation, so it leads to none."""
_CURL = re.compile(r"\bcurl\b")
_PATH = re.compile(r"(?:http://[\w.:]+|\$URL|\$\{URL\})?(/v1(?:/[^/\s\"'?\\]+)+)")
_NAMED = re.compile(rf"({'|'.join(METHODS).upper()}) ((?:/v1/|…/)[^\s?`]+)(?:\?\S*)?")
_PYTHON = re.compile(r"\bclient\.(\w+)\(")
_METHOD = re.compile(r"-X ([A-Z]+)")
_SENDS = re.compile(r"\s(?:-d|-F|--data\S*)\s")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place of a guide that tells of an operation."""

    guide: Guide
    anchor: str
    heading: str

    @property
    def address(self) -> str:
        """Where the section begins."""
        return f"{self.guide.address}#{self.anchor}"


@cache
def mentions() -> Mapping[str, list[Mention]]:
    """Return, for each operationId that guides tell of, the first place of each guide."""
    found: dict[str, dict[str, Mention]] = defaultdict(dict)
    for guide in guides().values():
        if guide.path.startswith(CATALOGUE):
            continue
        for operation, anchor, heading in _places(guide):
            found[operation.id].setdefault(guide.name, Mention(guide, anchor, heading))
    return {name: list(places.values()) for name, places in found.items()}


def calls_in(example: str) -> Iterator[Operation]:
    """Yield the operations that an example calls, with `curl` or with the client of the library."""
    for method in _PYTHON.findall(example):
        yield from (operation for operation in operations() if operation.id == method)
    for command in _CURL.split(example)[1:]:
        path = _PATH.search(command)
        if path is None:
            continue
        given = _METHOD.search(command)
        name = given[1] if given else ("POST" if _SENDS.search(command) else "GET")
        operation = contract_reading.called(name, path[1])
        if operation is not None:
            yield operation


def _places(guide: Guide) -> Iterator[tuple[Operation, str, str]]:
    anchor, heading = guide.headings[0].anchor, guide.title
    parsed = tokens(guide)
    for before, token in zip([None, *parsed], parsed, strict=False):
        if before is not None and before.type == "heading_open":
            anchor, heading = str(before.attrGet("id")), plain_text(token)
        for operation in _named_by(token):
            yield operation, anchor, heading


def _named_by(token: Token) -> Iterator[Operation]:
    if token.type == "fence":
        yield from calls_in(token.content)
    for child in token.children or ():
        call = _NAMED.fullmatch(child.content) if child.type == "code_inline" else None
        operation = contract_reading.called(call[1], call[2]) if call else None
        if operation is not None:
            yield operation
