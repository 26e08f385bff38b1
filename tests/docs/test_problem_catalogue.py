"""The catalogue has an entry for each code that the program gives, and no other."""

from __future__ import annotations

import orjson
import pytest

from service.errors import CODES, FAILURES, OWN_CODES, TYPES, ServiceError, type_of_status
from tests.fixtures.problem_codes import CODE, Collected, collect, modules
from tools.plain_words import banned
from treescore.problem_catalogue import CATALOGUE

OF_STATUS = tuple({type_of_status(status) for status in range(400, 600)})
DYNAMIC = {
    "treescore/core/registry.py: f'unknown-{kind}'": ("unknown-format", "unknown-metric", "unknown-transform"),
    "treescore/formats/shared/bracket_reader.py: code": ("too-deep", "too-many-words", "too-many-sentences"),
    "treescore/formats/alignments.py: code": (),
    "treescore/formats/discbracket.py: code": (
        *("bracket-unclosed", "bracket-unopened", "text-outside-brackets", "node-without-words", "too-deep"),
        *("discbracket-leaf", "discbracket-repeated-index", "discbracket-index-gap"),
    ),
    "treescore/client/errors.py: error['code']": (),
    "service/contract/fields.py: code": (),
    "service/usecases/status.py: name": (),
    "service/pages/contract_reading.py: quoted": (),
    "service/pages/contract_reading.py: anchor": (),
    "service/pages/docs.py: name": (),
    "service/app.py: f'store-{ill}'": ("store-full", "store-damaged", "store-read-only"),
}
"""Codes of expressions that the collector cannot read. Those without codes pass on what is collected elsewhere."""


@pytest.fixture(scope="module")
def found() -> Collected:
    """What the program gives; reading all of it takes seconds."""
    return collect(modules(), DYNAMIC)


def test_every_expression_of_a_code_can_be_read(found):
    assert not found.unresolved, "write the code as a literal, or say in DYNAMIC which codes the expression takes"
    assert not found.unused


def test_every_code_has_an_entry(found):
    missing = {code: places for code, places in found.codes.items() if code not in CODES}
    assert not missing, "add entries to treescore/problem_catalogue.toml or service/problem_codes.toml"


def test_every_type_has_an_entry(found):
    assert not {slug: places for slug, places in found.slugs.items() if slug not in TYPES}


def test_every_entry_is_used(found):
    assert sorted(set(CODES) - set(found.codes)) == []
    assert sorted(set(TYPES) - set(found.slugs) - set(OF_STATUS) - set(FAILURES.values())) == []


def test_each_code_is_explained_once_and_where_it_is_given(found):
    of_library = {code for code, places in found.codes.items() if any(at.startswith("treescore/") for at in places)}
    assert sorted(set(CATALOGUE) ^ of_library) == []
    assert not set(OWN_CODES) & set(CATALOGUE)
    assert not set(TYPES) & set(CODES)  # both are looked up under one address


def test_each_entry_says_in_plain_words_what_to_do():
    expressions = [expression for expression, _ in banned()]
    for code, entry in (*CODES.items(), *TYPES.items()):
        assert CODE.fullmatch(code)
        assert entry.title, code
        assert entry.cause.endswith("."), code
        assert entry.fix.endswith("."), code
        assert not entry.title.endswith("."), code
        words = f"{entry.title} / {entry.cause} / {entry.fix} / {entry.example}"
        assert not [found for expression in expressions if (found := expression.search(words))], code
        if entry.example.startswith("{"):
            orjson.loads(entry.example)


def test_an_error_has_the_status_of_its_type():
    for kind in subclasses(ServiceError):
        assert TYPES[kind.slug].status == kind.status, kind
    for slug in FAILURES.values():
        assert slug in TYPES


def test_a_type_given_to_an_error_has_the_status_of_the_error(found):
    status_of = {kind.__name__: kind.status for kind in subclasses(ServiceError)}
    assert found.statuses
    for slug, error, at in found.statuses:
        assert TYPES[slug].status == status_of[error], at


def subclasses(kind):
    return {kind, *(below for each in kind.__subclasses__() for below in subclasses(each))}


def test_the_type_of_a_status_has_this_status_or_says_whose_fault_it_is():
    for status in range(400, 600):
        kind = TYPES[type_of_status(status)]
        assert kind.status == status or kind is TYPES["bad-request" if status < 500 else "service-fault"]
