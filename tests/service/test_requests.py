"""Requests are stored and read back as the same dataclasses."""

import orjson

from service.requests import JobRequest
from service.schemas import submissions as schemas
from service.schemas.base import load

SMALL = {"format": "conllu", "gold": "gold", "metrics": ["attachment"], "systems": [{"name": "a", "output": "a"}]}
FULL = {
    **SMALL,
    "format": {"name": "conllu"},
    "systems": [{"name": "a", "output": "a", "format": "conllx"}, {"name": "b", "output": "b", "run_of": "a"}],
    "transforms": [{"name": "lowercase"}],
    "significance": {"shuffles": 10},
    "agreement": [["attachment.las", "attachment.uas"]],
    "items": {"blocks": ["x"]},
}


def test_a_stored_job_request_is_read_back_without_its_texts():
    for document in (SMALL, FULL, {**SMALL, "significance": False}):
        request = load(schemas.JobRequest(), document, 20)
        stored = orjson.loads(orjson.dumps(request.without_texts()))
        again = JobRequest.stored(stored)
        assert again.without_texts() == stored
        assert again.significance == request.significance
        assert again.gold == ""
        assert [system.output for system in again.systems] == [""] * len(request.systems)
