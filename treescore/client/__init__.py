"""Clients of the service: they send, repeat where that does no harm, wait, and say what is wrong.

    with Client("https://scores.example.org", token) as client:
        submission = client.benchmark("demo").submit({"en": "en.conllu"}, name="v7", wait=True)

`AsyncClient` has the same methods, to be awaited.
"""

from __future__ import annotations

from treescore.client.answers import (
    Answer,
    ClientError,
    Document,
    RateLimit,
    RefusedError,
    RequestError,
    UnavailableError,
    problem_lines,
)
from treescore.client.clients import AsyncClient, Client
from treescore.client.requests import OPERATIONS, Operation, Progress
from treescore.client.session import UNFINISHED, Backoff

__all__ = [
    "OPERATIONS",
    "UNFINISHED",
    "Answer",
    "AsyncClient",
    "Backoff",
    "Client",
    "ClientError",
    "Document",
    "Operation",
    "Progress",
    "RateLimit",
    "RefusedError",
    "RequestError",
    "UnavailableError",
    "problem_lines",
]
