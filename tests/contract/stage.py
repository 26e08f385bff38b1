"""A service on real parts in this process: what is put into the queue is done at once, or never."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flask import Flask
from werkzeug.routing import Rule

from service.app import create_app
from service.config import load_config
from service.context import Context
from service.queue import Queue
from tests.contract.checking import CheckedClient
from tests.fixtures.contexts import MakingQueue, empty_context, making_views, steady_clock
from tests.fixtures.requests import TREES
from workers.entry import do

ADMIN = "ts_organise-token-of-the-tests"
JOB: dict[str, Any] = {**TREES, "metrics": ["parseval"]}


_compile_builder = Rule._compile_builder


def _compile_when_asked(rule: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:  # noqa: FBT001, FBT002
    """Stand for what writes the addresses of a route. Few tests ask, and compiling it is half of making an app."""
    compiled: list[Callable[..., tuple[str, str]]] = []

    def build(rule: Rule, **values: Any) -> tuple[str, str]:
        if not compiled:
            compiled.append(_compile_builder(rule, append_unknown))
        return compiled[0](rule, **values)

    return build


Rule._compile_builder = _compile_when_asked  # type: ignore[method-assign]


class QueueAtOnce(MakingQueue):
    """Does what is put into it before it says that it has it; while `asleep`, nobody works."""

    context: Context
    asleep = False

    def put(self, run_id: str, queue: str) -> bool:
        """Work, or let it lie."""
        if not self.asleep:
            do(self.context, run_id)
        return not self.asleep or super().put(run_id, queue)


@dataclass
class Stage:
    """The app, its parts, and the clients of several callers."""

    app: Flask
    context: Context
    queue: QueueAtOnce

    def client(self, token: str | None = ADMIN) -> CheckedClient:
        """A client with a token, or without one."""
        client = self.app.test_client()
        assert isinstance(client, CheckedClient)
        if token is not None:
            client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {token}"
        return client

    def token(self, *scopes: str) -> str:
        """A fresh token's text."""
        made = self.client().post("/v1/tokens", json={"scopes": list(scopes)})
        return str(made.json["token"])

    def job(self, **changes: Any) -> str:
        """The address of a job that has been worked on."""
        return self._post({**JOB, **changes})

    def waiting_job(self) -> str:
        """The address of a job that nobody works on."""
        with self.asleep():
            return self._post(JOB)

    @contextmanager
    def asleep(self) -> Iterator[None]:
        """Nobody works on what is put into the queue meanwhile."""
        self.queue.asleep = True
        try:
            yield
        finally:
            self.queue.asleep = False

    def deleted_job(self) -> str:
        """The address of a job that is gone."""
        address = self.job()
        assert self.client().delete(address).status_code == 204
        return address

    def _post(self, document: dict[str, Any]) -> str:
        return str(self.client().post("/v1/jobs", json=document).headers["Location"])


def open_stage(folder: Path, redis_url: str, **environment: str) -> Stage:
    """A stage with an empty store in this folder."""
    given = {"TREESCORE_DATA_DIR": str(folder), "TREESCORE_REDIS_URL": redis_url, "TREESCORE_ADMIN_TOKEN": ADMIN}
    config = load_config({**given, **environment})
    queue = QueueAtOnce(redis_url)
    context = making_views(replace(empty_context(config), now=steady_clock()), queue)
    queue.context = context
    forget_failures(queue)
    app = create_app(config, context)
    app.test_client_class = CheckedClient
    return Stage(app, context, queue)


def forget_failures(queue: Queue) -> None:
    """Forget the failed authentications of other stages on the same queue, whose clocks show the same minute."""
    for key in queue.redis.scan_iter("treescore:failed:*"):
        queue.redis.delete(key)


def close_stage(stage: Stage) -> None:
    """Let go of its connections."""
    stage.context.store.close()
    stage.queue.redis.close()
