"""Who waits for a run misses nothing, and reads the store no more often than that takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import orjson
import pytest

from service.context import Context
from service.queue import Queue
from service.store.packing import pack
from service.usecases.runs import Shown, wait_for
from tests.fixtures.service_process import free_port

WAITING, DONE = Shown(None, b"{}", "waiting", final=False), Shown(None, b"{1}", "done")


class Heard:
    """A queue whose wake-ups come as soon as somebody waits for them; notes what happens."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    @contextmanager
    def listen(self, _run_id: str) -> Iterator[Heard]:
        """Listen."""
        self.notes.append("listen")
        yield self

    def wait(self, _seconds: float) -> bool:
        """Wake at once."""
        self.notes.append("wait")
        return True


@pytest.mark.parametrize(
    ("views", "seconds", "expected"),
    [
        ([WAITING, DONE], 9, ["listen", "look", "wait", "look"]),
        ([DONE], 9, ["listen", "look"]),
        ([WAITING], 0, ["look"]),
    ],
    ids=["later", "before anybody listened", "no wait"],
)
def test_the_store_is_read_after_listening_and_after_each_wake_up(
    context: Context, views: list[Shown[object]], seconds: float, expected: list[str]
) -> None:
    heard, left = Heard(), iter(views)

    def look() -> Shown[object]:
        heard.notes.append("look")
        return next(left)

    waiting = replace(context, queue=heard)  # type: ignore[arg-type]
    assert wait_for(waiting, "job_1", look, seconds, None) == views[-1]
    assert heard.notes == expected


def test_without_redis_the_answer_is_what_the_store_has_now(context: Context) -> None:
    away = replace(context, queue=Queue(f"redis://127.0.0.1:{free_port()}/0"))
    assert wait_for(away, "job_1", lambda: WAITING, 9, None) == WAITING


def test_a_document_is_dumped_once_and_stored_bytes_are_parsed_for_each_who_reads_them() -> None:
    document = {"id": "job_1", "state": "succeeded"}
    made = Shown(document)
    assert made.document is document
    assert made.content == orjson.dumps(document)
    assert made.content is made.content
    kept = Shown(None, pack(made.content), made.etag, packed=True)
    assert (kept.document, kept.body, kept.size) == (document, made.body, made.size)
    assert kept.document is not kept.document
    assert Shown(None, made.content).etag == made.etag
