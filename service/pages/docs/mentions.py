"""Find out which guides tell of an operation: those that call it in an example, or name it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from markdown_it.token import Token

from service.pages.docs import addresses
from service.pages.docs.contract_reading import METHODS, Operation, operations
from service.pages.docs.guides import Guide, guides, tokens
from service.pages.docs.markdown import plain_text

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
        operation = addresses.called(name, path[1])
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
        operation = addresses.called(call[1], call[2]) if call else None
        if operation is not None:
            yield operation
