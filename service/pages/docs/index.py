"""What the search looks through, and how it finds: the script of the page does the same with the same index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from service.pages.docs import schema_words
from service.pages.docs.contract_reading import (
    answer_headers,
    components,
    homes,
    operations,
    request_headers,
    schema_address,
)
from service.pages.docs.guides import guides
from service.problem_catalogue import CODES, TYPES

MOST_FOUND = 50


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that can be found.

    Attributes:
        name: what it is called.
        kind: what it is, in a word.
        detail: where it stands, or what it means.
        address: of the place.
    """

    name: str
    kind: str
    detail: str
    address: str

    @property
    def words(self) -> str:
        """What is searched."""
        return f"{self.name} {self.detail}".lower()


@cache
def entries() -> tuple[Entry, ...]:
    """Return all entries, those of operations first."""
    return (*_indexed_entries(), *_schemas(), *_problems(), *_guides())


def found(query: str) -> list[Entry]:
    """Return the entries that hold every word of a query, the best first, all of them."""
    words = query.lower().split()
    if not words:
        return []
    whole = " ".join(words)
    fitting = [(_rank(entry.name.lower(), whole, words), entry) for entry in entries() if _fits(entry, words)]
    return [entry for _, entry in sorted(fitting, key=lambda each: each[0])]


def _fits(entry: Entry, words: list[str]) -> bool:
    return all(word in entry.words for word in words)


def _rank(name: str, whole: str, words: list[str]) -> int:
    """Return 0 for the name itself, then its beginning, its end, what it holds, and last what only the detail holds."""
    if name == whole:
        return 0
    if name.startswith(whole):
        return 1
    if name.endswith(whole):
        return 2
    return 3 if all(word in name for word in words) else 4


def _indexed_entries() -> Iterator[Entry]:
    for operation in operations():
        detail = f"{operation.id}: {operation.document['summary']}"
        yield Entry(operation.title, "operation", detail, operation.address)
    for operation in operations():
        for parameter in operation.parameters:
            anchor = f"{operation.address}.{parameter['name']}"
            yield Entry(parameter["name"], "parameter", operation.title, anchor)
    for parameter in request_headers():
        yield Entry(parameter["name"], "header", "of requests", f"/docs/schemas#request-{parameter['name']}")
    for name in answer_headers():
        yield Entry(name, "header", "of answers", f"/docs/schemas#answer-{name}")


def _schemas() -> Iterator[Entry]:
    for name in components("schemas"):
        yield Entry(name, "schema", homes()[name] or "of several tags", schema_address(name))
    for name in components("schemas"):
        page = schema_address(name).partition("#")[0]
        for member in schema_words.members(name):
            yield Entry(member.path, "member", f"of {name}", f"{page}#{member.anchor}")


def _problems() -> Iterator[Entry]:
    for kind, table in (("problem", TYPES), ("code", CODES)):
        for name, entry in table.items():
            yield Entry(name, kind, entry.title, f"/problems/{name}")


def _guides() -> Iterator[Entry]:
    for guide in guides().values():
        yield Entry(guide.title, "guide", guide.section, guide.address)
        for heading in guide.headings[1:]:
            yield Entry(heading.text, "guide", f"in {guide.title}", f"{guide.address}#{heading.anchor}")
