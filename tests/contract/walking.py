"""Asks everything that openapi.yaml offers, in every form and with every known query: for the tests of the gate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any
from urllib.parse import urlencode

from tests.contract.checking import operations, resolved

ORDER = ("GET", "POST", "PATCH", "DELETE")
"""What changes nothing first, what ends things last."""
MOST_ADDRESSES, MOST_VARIED = 12, 2
"""Places of an operation that are asked, and of these how many with each query."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request without its sender; `varied` has a query that the operation does not require."""

    operation: str
    method: str
    path: str
    accept: str | None
    body: Any
    varied: bool = False

    @property
    def name(self) -> str:
        """For messages of tests."""
        return f"{self.operation}: {self.method} {self.path} {self.accept or ''}"


@dataclass(frozen=True, slots=True)
class Known:
    """What there is to ask for.

    Attributes:
        places: parameter of a path -> the values there are.
        queries: parameter of a query -> values worth trying.
        bodies: operation -> bodies worth sending; an empty object where there is none.
    """

    places: Mapping[str, Sequence[str]]
    queries: Mapping[str, Sequence[str]]
    bodies: Mapping[str, Sequence[Any]]


def requests(known: Known) -> Iterator[Request]:
    """Every operation of the contract, with every known place, query, body and form."""
    listed = sorted(operations(), key=lambda operation: ORDER.index(operation[0]))
    for method, path, operation in listed:
        for number, place in enumerate(_places(path, known)):
            queries = _queries(operation, known)
            for at, query in enumerate(queries if number < MOST_VARIED else queries[:1]):
                address = f"{place}?{urlencode(query)}" if query else place
                # with a query the form is asked for by `format`
                for accept in [None] if query else _forms(operation):
                    for body in _bodies(method, operation, known):
                        yield Request(operation["operationId"], method, address, accept, body, varied=at > 0)


def _places(path: str, known: Known) -> Iterator[str]:
    names = re.findall(r"\{(\w+)\}", path)
    values = [known.places.get(name, ["unknown"]) for name in names]
    for _, chosen in zip(range(MOST_ADDRESSES), product(*values), strict=False):
        yield path.format(**dict(zip(names, chosen, strict=True)))


def _queries(operation: Mapping[str, Any], known: Known) -> list[dict[str, str]]:
    """The required parameters alone, then each other one with each of its values."""
    asked = [parameter for parameter in operation["parameters"] if parameter["in"] == "query"]
    base = {parameter["name"]: _values(parameter, known)[0] for parameter in asked if parameter.get("required")}
    further = ({**base, parameter["name"]: value} for parameter in asked for value in _values(parameter, known))
    return [base, *(query for query in further if query != base)]


def _values(parameter: Mapping[str, Any], known: Known) -> Sequence[str]:
    listed = resolved(parameter["schema"]).get("enum", ())
    return [*known.queries.get(parameter["name"], ()), *map(str, listed)] or ["unknown"]


def _bodies(method: str, operation: Mapping[str, Any], known: Known) -> Sequence[Any]:
    if method not in ("POST", "PATCH"):
        return [None]
    return known.bodies.get(operation["operationId"], [{}])


def _forms(operation: Mapping[str, Any]) -> list[str | None]:
    """Each media type of the operation's success; the first is what comes unasked."""
    found = resolved(operation["responses"].get("200", {})).get("content", {})
    return [None, *list(found)[1:]]
