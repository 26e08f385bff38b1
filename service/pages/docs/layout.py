"""What all pages of the documentation have in common: contents at the left, a search field, one version."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import orjson
from flask import Blueprint, Response

from service.api import contract
from service.api.answers import Kind
from service.pages import answers, visitors
from service.pages.docs import contract_reading, guides, schema_words
from service.schemas.base import Strict
from service.usecases.status import problems


@dataclass(frozen=True, slots=True)
class NoQuery:
    """A query without parameters."""


class NoParameters(Strict[NoQuery]):
    """Refuses every parameter."""

    into = NoQuery


def docs_pages(name: str, prefix: str = "/docs") -> Blueprint:
    """Return a blueprint of pages that are the same for everyone."""
    blueprint = answers.pages(name, prefix)
    blueprint.before_request(look)
    return blueprint


def look() -> None:
    """Find out who reads, before anything can go wrong."""
    visitors.reader()


def docs_page(
    template: str, version: object, values: Callable[[], Mapping[str, object]], kind: Kind = Kind.PAGE
) -> Response:
    """Return a page, which each process renders once for all readers who are not signed in.

    Args:
        template: its name, of one that extends docs.html.
        version: what the content depends on, beside contract, guides and catalogue of problems.
        values: of the template.
        kind: whether its address has other forms than the page.
    """
    return answers.known_page(template, (content_version(), version), lambda: {**contents(), **values()}, kind)


def contents() -> dict[str, object]:
    """Return what the frame of each page shows, and what its macros call."""
    return {
        "tags": contract_reading.tags(), "sections": guides.listed(), "operations_of": contract_reading.of_tag,
        "prose": guides.prose, "line": guides.line, "kind": schema_words.kind, "members": schema_words.members,
        "pretty": schema_words.pretty, "resolve": contract_reading.resolve,
        "problem_types": contract_reading.problem_types, "q": "",
    }  # fmt: skip


@cache
def content_version() -> str:
    """Return what names contract, guides and catalogue of problems together."""
    catalogue = orjson.dumps(problems.problem_documents())
    return hashlib.blake2b(contract.written() + guides.version().encode() + catalogue, digest_size=8).hexdigest()
